"""Chat bodies as bodies of Anthropic's Messages API; documents written by hand from the reference of that API."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.rendering import CALL, FORMAT, HI, PIXEL, SCHEMA, TOOL, asked, made, refused

KIND = "anthropic"


def test_a_conversation_with_tools_becomes_blocks() -> None:
    """System out of the messages, tool calls as blocks, their answers folded into one message of the user."""
    second = {"id": "call_2", "type": "function", "function": {"name": "get_order", "arguments": ""}}
    rendered = made(
        KIND,
        {
            "request": {
                "messages": [
                    {"role": "system", "content": "You are terse."},
                    {"role": "user", "content": "Where is A-17?"},
                    {"role": "assistant", "content": "One moment.", "tool_calls": [CALL, second]},
                    {"role": "tool", "tool_call_id": "call_1", "content": "shipped"},
                    {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "lost"}]},
                    {"role": "assistant", "content": "It is on its way."},
                    {"role": "user", "content": "Thanks."},
                ],
                "tools": [TOOL],
                "tool_choice": "required",
                "temperature": 0.5,
            }
        },
        model="m1",
        api_key="{{ env.K }}",
    )

    assert {
        "transport": "http",
        "method": "POST",
        "url": "https://api.example.com/v1/messages",
        "headers": {"anthropic-version": "2023-06-01"},
        "body": {
            "model": "m1",
            "max_tokens": 4096,
            "system": "You are terse.",
            "messages": [
                {"role": "user", "content": "Where is A-17?"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "One moment."},
                        {"type": "tool_use", "id": "call_1", "name": "get_order", "input": {"order_id": "A-17"}},
                        {"type": "tool_use", "id": "call_2", "name": "get_order", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "call_1", "content": "shipped"},
                        {
                            "type": "tool_result",
                            "tool_use_id": "call_2",
                            "content": [{"type": "text", "text": "lost"}],
                        },
                    ],
                },
                {"role": "assistant", "content": "It is on its way."},
                {"role": "user", "content": "Thanks."},
            ],
            "tools": [
                {
                    "name": "get_order",
                    "description": "Look up an order.",
                    "input_schema": TOOL["function"]["parameters"],
                }
            ],
            "tool_choice": {"type": "any"},
            "temperature": 0.5,
        },
    } == rendered.document


def test_the_key_goes_in_its_own_header() -> None:
    """Beside the version, which a target may declare itself."""
    wire = made(KIND, {"prompt": "hi"}, model="m1", api_key="{{ env.K }}").wire({"K": "sk-test-key"})
    declared = made(KIND, {"prompt": "hi"}, headers={"Anthropic-Version": "2024-01-01"})

    assert {
        "x-api-key": "sk-test-key",
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
    } == wire.headers  # type: ignore[union-attr]
    assert {"anthropic-version": "2024-01-01"} == declared.document["headers"]


def test_several_system_messages_are_blocks() -> None:
    """One with parts is blocks too."""
    leading = [{"role": "system", "content": "a"}, {"role": "developer", "content": [{"type": "text", "text": "b"}]}]

    assert [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}] == asked(KIND, [*leading, *HI])["system"]
    assert [{"type": "text", "text": "b"}] == asked(KIND, [*leading[1:], *HI])["system"]


def test_images_and_files_get_their_sources() -> None:
    """Data as base64, anything else by URL."""
    content = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": PIXEL, "detail": "auto"}},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERg==", "filename": "a.pdf"}},
    ]

    assert [
        {"type": "text", "text": "look"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="},
            "title": "a.pdf",
        },
    ] == asked(KIND, [{"role": "user", "content": content}])["messages"][0]["content"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"max_tokens": 9}, {"max_tokens": 9}),
        ({"max_completion_tokens": 9}, {"max_tokens": 9}),
        ({"max_tokens": None}, {"max_tokens": None}),
        ({"stop": "x"}, {"stop_sequences": ["x"]}),
        ({"stop": ["x", "y"]}, {"stop_sequences": ["x", "y"]}),
        ({"stop": None}, {"stop_sequences": None}),
        ({"user": "u"}, {"metadata": {"user_id": "u"}}),
        ({"top_p": 0.1, "stream": True}, {"top_p": 0.1, "stream": True}),
        ({"tool_choice": "auto"}, {"tool_choice": {"type": "auto"}}),
        ({"tool_choice": "none", "parallel_tool_calls": False}, {"tool_choice": {"type": "none"}}),
        (
            {"tool_choice": {"type": "function", "function": {"name": "f"}}},
            {"tool_choice": {"type": "tool", "name": "f"}},
        ),
        (
            {"parallel_tool_calls": False, "tool_choice": "required"},
            {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
        ),
        ({"parallel_tool_calls": False}, {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}),
        ({"parallel_tool_calls": True, "n": 1, "logprobs": False, "seed": None}, {}),
        ({"parallel_tool_calls": None, "stream_options": None}, {}),
        ({"stream_options": {"include_usage": True}}, {}),
        ({"response_format": {"type": "text"}}, {}),
        ({"response_format": FORMAT}, {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "strict": True}}]},
            {"tools": [{"name": "f", "strict": True, "input_schema": {"type": "object", "properties": {}}}]},
        ),
    ],
)
def test_members_have_a_place(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """Renamed, moved or as they are; null is sent where the dialect has the member; in params as in the case."""
    plain = {"model": "m1", "max_tokens": 4096, "messages": HI}

    assert {**plain, **expected} == asked(KIND, HI, **given)
    assert {**plain, **expected} == asked(KIND, HI, params=given)


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        *(
            ({name: value}, f"/request/{name}")
            for name, value in {
                "seed": 1, "n": 2, "presence_penalty": 0.1, "frequency_penalty": 0.1, "logit_bias": {"1": 2}, "logprobs": True,
                "top_logprobs": 2, "audio": {}, "modalities": ["text"], "prediction": {}, "web_search_options": {}, "functions": [],
                "function_call": "auto", "metadata": {"a": "b"}, "store": False, "service_tier": "auto", "verbosity": "low",
                "reasoning_effort": "low", "prompt_cache_key": "k", "safety_identifier": "s", "top_k": 5, "thinking": {},
            }.items()
        ),
        ({"parallel_tool_calls": 0}, "/request/parallel_tool_calls"),
        ({"stream_options": {"include_obfuscation": True}}, "/request/stream_options/include_obfuscation"),
        ({"tool_choice": "any"}, "/request/tool_choice"),
        ({"tool_choice": {"type": "allowed_tools"}}, "/request/tool_choice"),
        ({"response_format": {"type": "json_object"}}, "/request/response_format"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "r", "description": "d", "schema": {}}}},
            "/request/response_format/json_schema/description",
        ),
        ({"messages": [*HI, {"role": "system", "content": "x"}]}, "/request/messages/1/role"),
        ({"messages": [{"role": "critic", "content": "x"}]}, "/request/messages/0/role"),
        ({"messages": [{"role": "assistant", "content": "x", "refusal": "y"}]}, "/request/messages/0/refusal"),
        (
            {"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}]},
            "/request/messages/0/content/0",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {}}]}]},
            "/request/messages/0/content/0/cache_control",
        ),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [{"type": "image_url", "image_url": {"url": PIXEL, "detail": "high"}}],
                    }
                ]
            },
            "/request/messages/0/content/0/image_url/detail",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///a"}}]}]},
            "/request/messages/0/content/0/image_url/url",
        ),
        (
            {
                "messages": [
                    {
                        "role": "assistant",
                        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "[1]"}}],
                    }
                ]
            },
            "/request/messages/0/tool_calls/0/function/arguments",
        ),
        (
            {
                "messages": [
                    {
                        "role": "assistant",
                        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{a"}}],
                    }
                ]
            },
            "/request/messages/0/tool_calls/0/function/arguments",
        ),
    ],
)  # fmt: skip
def test_what_has_no_place_is_named(members: dict[str, Any], pointer: str) -> None:
    """With the case, the pointer, the dialect and what to do."""
    error = refused(KIND, {"messages": HI, **members})

    assert error.message.startswith("a.yaml:1: ")
    assert error.message.endswith(f" cannot be expressed in a request of type anthropic at {pointer}")
    assert "write the case's body in that dialect, or leave it to targets of type openai" == error.hint


def test_a_prompt_that_has_no_place_is_named_where_it_stands() -> None:
    """Messages of a prompt are no member of a request."""
    from snapshots.errors import ConfigError

    with pytest.raises(ConfigError) as caught:
        made(KIND, {"prompt": [*HI, {"role": "system", "content": "x"}]})

    assert caught.value.message.endswith("at /prompt/1/role")


def test_params_may_be_in_the_words_of_the_dialect() -> None:
    """Where both languages have a name for different things, params speak the dialect's."""
    params: dict[str, Any] = {
        "metadata": {"user_id": "team"},
        "service_tier": "standard_only",
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "tools": [{"type": "web_search_20250305", "name": "web_search"}, TOOL],
        "tool_choice": {"type": "any"},
        "top_k": 5,
        "output_config": {"effort": "low"},
    }
    body = asked(KIND, HI, params=params, response_format=FORMAT, parallel_tool_calls=False)

    assert {
        "model": "m1",
        "max_tokens": 4096,
        "messages": HI,
        "metadata": {"user_id": "team"},
        "service_tier": "standard_only",
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "tools": [
            {"name": "get_order", "description": "Look up an order.", "input_schema": TOOL["function"]["parameters"]},
            {"type": "web_search_20250305", "name": "web_search"},
        ],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
        "top_k": 5,
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
    } == body


def test_the_order_of_a_schema_is_kept() -> None:
    """A tool's schema and a format's are looked at where they stand in the dialect."""
    tool = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}
    document = made(KIND, {"request": {"messages": HI, "tools": [tool], "response_format": FORMAT}}).document

    assert {
        "/body/tools/0/input_schema/properties": ["b", "a"],
        "/body/output_config/format/schema/properties": ["b", "a"],
    } == document["order"]


def test_a_body_gets_nothing_that_it_does_not_say() -> None:
    """No limit of tokens either; the version is a header."""
    document = made(KIND, {"body": {"model": "m2"}}, model="m1").document

    assert ({"model": "m2"}, {"anthropic-version": "2023-06-01"}) == (document["body"], document["headers"])
