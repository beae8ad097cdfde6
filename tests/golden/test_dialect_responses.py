"""Chat bodies as bodies of the Responses API; documents written by hand from the reference of that API."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.rendering import CALL, FORMAT, HI, PIXEL, SCHEMA, TOOL, asked, made, refused

KIND = "openai-responses"


def test_a_conversation_with_tools_becomes_items_in_its_order() -> None:
    """Every role, a tool call and its answer; a function is not strict unless it says so, as in chat completions."""
    rendered = made(
        KIND,
        {
            "request": {
                "messages": [
                    {"role": "system", "content": "You are terse."},
                    {"role": "user", "content": "Where is A-17?"},
                    {"role": "assistant", "content": None, "tool_calls": [CALL]},
                    {"role": "tool", "tool_call_id": "call_1", "content": "shipped"},
                    {"role": "developer", "content": "Answer in English."},
                ],
                "tools": [TOOL],
                "tool_choice": "auto",
                "max_tokens": 80,
            }
        },
        base_url="https://api.example.com/v1",
        model="m1",
        params={"temperature": 0},
    )

    assert {
        "transport": "http",
        "method": "POST",
        "url": "https://api.example.com/v1/responses",
        "body": {
            "model": "m1",
            "temperature": 0,
            "tools": [
                {
                    "type": "function",
                    "name": "get_order",
                    "description": "Look up an order.",
                    "parameters": TOOL["function"]["parameters"],
                    "strict": False,
                }
            ],
            "tool_choice": "auto",
            "max_output_tokens": 80,
            "input": [
                {"role": "system", "content": "You are terse."},
                {"role": "user", "content": "Where is A-17?"},
                {
                    "type": "function_call",
                    "call_id": "call_1",
                    "name": "get_order",
                    "arguments": '{"order_id": "A-17"}',
                },
                {"type": "function_call_output", "call_id": "call_1", "output": "shipped"},
                {"role": "developer", "content": "Answer in English."},
            ],
        },
    } == rendered.document


def test_parts_get_their_names() -> None:
    """Input and output parts are called differently; an image has the detail auto, as in chat completions."""
    body = asked(
        KIND,
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look"},
                    {"type": "image_url", "image_url": {"url": PIXEL}},
                    {"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "low"}},
                    {"type": "file", "file": {"file_id": "file-1"}},
                ],
            },
            {"role": "assistant", "content": [{"type": "text", "text": "no"}, {"type": "refusal", "refusal": "sorry"}]},
            {"role": "assistant", "content": "well", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "shipped"}]},
        ],
    )

    assert [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "look"},
                {"type": "input_image", "image_url": PIXEL, "detail": "auto"},
                {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "low"},
                {"type": "input_file", "file_id": "file-1"},
            ],
        },
        {
            "role": "assistant",
            "content": [{"type": "output_text", "text": "no"}, {"type": "refusal", "refusal": "sorry"}],
        },
        {"role": "assistant", "content": "well"},
        {"type": "function_call", "call_id": "call_1", "name": "get_order", "arguments": '{"order_id": "A-17"}'},
        {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "shipped"}]},
    ] == body["input"]


def test_a_refusal_of_the_assistant_is_a_part() -> None:
    """Beside what it said."""
    body = asked(KIND, [*HI, {"role": "assistant", "content": None, "refusal": "I cannot."}])

    assert {"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot."}]} == body["input"][1]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"max_completion_tokens": 9}, {"max_output_tokens": 9}),
        ({"reasoning_effort": "low"}, {"reasoning": {"effort": "low"}}),
        ({"verbosity": "low"}, {"text": {"verbosity": "low"}}),
        (
            {"verbosity": "low", "response_format": {"type": "json_object"}},
            {"text": {"verbosity": "low", "format": {"type": "json_object"}}},
        ),
        ({"response_format": {"type": "text"}}, {"text": {"format": {"type": "text"}}}),
        (
            {"response_format": FORMAT},
            {"text": {"format": {"type": "json_schema", "name": "reply", "schema": SCHEMA, "strict": True}}},
        ),
        (
            {"tool_choice": {"type": "function", "function": {"name": "f"}}},
            {"tool_choice": {"type": "function", "name": "f"}},
        ),
        (
            {
                "tool_choice": {
                    "type": "allowed_tools",
                    "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]},
                }
            },
            {
                "tool_choice": {
                    "type": "allowed_tools",
                    "mode": "auto",
                    "tools": [{"type": "function", "name": "f"}],
                }
            },
        ),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "strict": True}}]},
            {
                "tools": [
                    {"type": "function", "name": "f", "strict": True, "parameters": {"type": "object", "properties": {}}}
                ]
            },
        ),
        ({"logprobs": True, "top_logprobs": 2}, {"include": ["message.output_text.logprobs"], "top_logprobs": 2}),
        ({"stream": True, "stream_options": {"include_usage": True}}, {"stream": True}),
        ({"n": 1, "logprobs": False, "seed": None, "stop": None}, {}),
        ({"temperature": None, "max_tokens": None}, {"temperature": None, "max_output_tokens": None}),
        *(
            ({name: value}, {name: value})
            for name, value in {
                "temperature": 0.5, "top_p": 0.1, "user": "u", "metadata": {"a": "b"}, "store": False, "service_tier": "flex",
                "stream": False, "parallel_tool_calls": False, "prompt_cache_key": "k", "safety_identifier": "s",
            }.items()
        ),
    ],
)  # fmt: skip
def test_members_have_a_place(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """Renamed, moved or as they are; null is sent where the dialect has the member; in params as in the case."""
    assert {"model": "m1", **expected, "input": HI} == asked(KIND, HI, **given)
    assert {"model": "m1", **expected, "input": HI} == asked(KIND, HI, params=given)


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"seed": 1}, "/request/seed"),
        ({"stop": ["x"]}, "/request/stop"),
        ({"n": 2}, "/request/n"),
        ({"presence_penalty": 0.1}, "/request/presence_penalty"),
        ({"frequency_penalty": 0.1}, "/request/frequency_penalty"),
        ({"logit_bias": {"1": 2}}, "/request/logit_bias"),
        ({"audio": {"voice": "a"}}, "/request/audio"),
        ({"modalities": ["text"]}, "/request/modalities"),
        ({"prediction": {"type": "content"}}, "/request/prediction"),
        ({"web_search_options": {}}, "/request/web_search_options"),
        ({"functions": []}, "/request/functions"),
        ({"function_call": "auto"}, "/request/function_call"),
        ({"top_k": 5}, "/request/top_k"),
        ({"a/b": 5}, "/request/a~1b"),
        ({"tools": [{"type": "custom", "custom": {"name": "f"}}]}, "/request/tools/0/type"),
        ({"tool_choice": {"type": "custom", "custom": {"name": "f"}}}, "/request/tool_choice"),
        ({"response_format": {"type": "json_object", "x": 1}}, "/request/response_format/x"),
        ({"messages": [{"role": "function", "name": "f", "content": "x"}]}, "/request/messages/0/role"),
        ({"messages": [{"role": "user", "content": "x", "name": "bob"}]}, "/request/messages/0/name"),
        (
            {"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}]},
            "/request/messages/0/content/0",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"id": "1", "type": "custom", "custom": {}}]}]},
            "/request/messages/0/tool_calls/0/type",
        ),
        ({"messages": [{"role": "assistant", "audio": {"id": "x"}}]}, "/request/messages/0/audio"),
    ],
)
def test_what_has_no_place_is_named(members: dict[str, Any], pointer: str) -> None:
    """With the case, the pointer, the dialect and what to do."""
    error = refused(KIND, {"messages": HI, **members})

    assert error.message.startswith("a.yaml:1: ")
    assert error.message.endswith(f" cannot be expressed in a request of type openai-responses at {pointer}")
    assert "write the case's body in that dialect, or leave it to targets of type openai" == error.hint


def test_a_target_that_says_what_its_dialect_cannot_is_named() -> None:
    """The case is not at fault."""
    error = refused(KIND, {"messages": HI}, {"seed": 7})

    assert "target t: 'seed' cannot be expressed in a request of type openai-responses at /params/seed" == error.message


def test_params_may_be_in_the_words_of_the_dialect() -> None:
    """They go as they are; what the case says in words of chat completions stands above them."""
    params = {
        "reasoning": {"effort": "high", "summary": "auto"},
        "tools": [{"type": "web_search"}],
        "truncation": "auto",
    }

    assert {
        "model": "m1",
        "reasoning": {"effort": "low", "summary": "auto"},
        "tools": [{"type": "web_search"}],
        "truncation": "auto",
        "input": HI,
    } == asked(KIND, HI, params=params, reasoning_effort="low")
    assert asked(KIND, HI, params={"reasoning_effort": "low", **params}) == asked(
        KIND, HI, params={**params, "reasoning_effort": "low"}
    )


def test_a_member_of_the_case_replaces_the_whole_member_of_params() -> None:
    """Before anything is translated; two names of one limit are one member."""
    params = {"max_tokens": 5, "metadata": {"a": "1"}, "response_format": FORMAT}

    assert {
        "model": "m1",
        "metadata": {"b": "2"},
        "text": {"format": {"type": "text"}},
        "max_output_tokens": 9,
        "input": HI,
    } == asked(KIND, HI, params=params, max_completion_tokens=9, metadata={"b": "2"}, response_format={"type": "text"})


def test_two_limits_in_one_place_are_an_error() -> None:
    """Unless they agree."""
    error = refused(KIND, {"messages": HI, "max_tokens": 1, "max_completion_tokens": 2})

    assert (
        "a.yaml:1: max_tokens and max_completion_tokens are two limits at /request/max_completion_tokens"
        == error.message
    )
    assert 1 == asked(KIND, HI, max_tokens=1, max_completion_tokens=1)["max_output_tokens"]


def test_the_order_of_a_schema_is_kept() -> None:
    """A function's schema and a format's are looked at where they stand in the dialect."""
    tool = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}
    document = made(KIND, {"request": {"messages": HI, "tools": [tool], "response_format": FORMAT}}).document

    assert {
        "/body/tools/0/parameters/properties": ["b", "a"],
        "/body/text/format/schema/properties": ["b", "a"],
    } == document["order"]


def test_a_body_is_sent_as_it_is() -> None:
    """Neither model nor params of the target are merged."""
    assert {"input": "hi"} == made(KIND, {"body": {"input": "hi"}}, model="m1", params={"a": 1}).document["body"]
