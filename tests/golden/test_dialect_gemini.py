"""Chat bodies as bodies of Gemini's generateContent; documents written by hand from the reference of that API."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.rendering import CALL, FORMAT, HI, PIXEL, SCHEMA, TOOL, asked, made, refused

KIND = "gemini"
CONTENTS = [{"role": "user", "parts": [{"text": "hi"}]}]


def test_a_conversation_with_tools_becomes_contents() -> None:
    """System out of the messages, calls without ids, their answers folded and named."""
    second = {"id": "call_2", "type": "function", "function": {"name": "get_price", "arguments": ""}}
    rendered = made(
        KIND,
        {
            "request": {
                "messages": [
                    {"role": "system", "content": "You are terse."},
                    {"role": "developer", "content": "Be kind."},
                    {"role": "user", "content": "Where is A-17?"},
                    {"role": "assistant", "content": "One moment.", "tool_calls": [CALL, second]},
                    {"role": "tool", "tool_call_id": "call_2", "content": "3"},
                    {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": '{"a": 1}'}]},
                    {"role": "assistant", "content": "It is on its way."},
                ],
                "tools": [TOOL],
                "tool_choice": {"type": "function", "function": {"name": "get_order"}},
                "max_tokens": 80,
            }
        },
        model="gemini-x",
        params={"temperature": 0},
        api_key="{{ env.K }}",
    )

    assert {
        "transport": "http",
        "method": "POST",
        "url": "https://api.example.com/v1beta/models/gemini-x:generateContent",
        "body": {
            "generationConfig": {"temperature": 0, "maxOutputTokens": 80},
            "systemInstruction": {"parts": [{"text": "You are terse."}, {"text": "Be kind."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "Where is A-17?"}]},
                {
                    "role": "model",
                    "parts": [
                        {"text": "One moment."},
                        {"functionCall": {"name": "get_order", "args": {"order_id": "A-17"}}},
                        {"functionCall": {"name": "get_price", "args": {}}},
                    ],
                },
                {
                    "role": "user",
                    "parts": [
                        {"functionResponse": {"name": "get_price", "response": {"output": "3"}}},
                        {"functionResponse": {"name": "get_order", "response": {"output": '{"a": 1}'}}},
                    ],
                },
                {"role": "model", "parts": [{"text": "It is on its way."}]},
            ],
            "tools": [
                {
                    "functionDeclarations": [
                        {
                            "name": "get_order",
                            "description": "Look up an order.",
                            "parametersJsonSchema": TOOL["function"]["parameters"],
                        }
                    ]
                }
            ],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["get_order"]}},
        },
    } == rendered.document
    assert {"x-goog-api-key": "sk-test-key", "content-type": "application/json"} == rendered.wire(
        {"K": "sk-test-key"}
    ).headers  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("model", "segment"),
    [("a/b c", "a%2Fb%20c"), ("../x?y#z", "..%2Fx%3Fy%23z"), ("m:1", "m%3A1"), ("{{ env.M }}", "${env:M}")],
)
def test_the_model_is_one_segment_of_the_path(model: str, segment: str) -> None:
    """Whatever it holds; what is read at call time is keyed by name."""
    url = made(KIND, {"prompt": "hi"}, model=model).document["url"]

    assert f"https://api.example.com/v1beta/models/{segment}:generateContent" == url


def test_the_model_of_the_case_wins() -> None:
    """As in every dialect."""
    request = {"messages": HI, "model": "m2"}

    assert made(KIND, {"request": request}, model="m1").document["url"].endswith("/models/m2:generateContent")


def test_a_stream_is_asked_for_in_the_path() -> None:
    """By server-sent events, unless the target says otherwise; the body is the same."""
    plain = made(KIND, {"prompt": "hi"}, model="m1").document
    stream = made(KIND, {"request": {"messages": HI, "stream": True}}, model="m1").document
    other = made(KIND, {"prompt": "hi"}, model="m1", params={"stream": True}, query={"alt": "json", "b": "c"}).document

    assert "https://api.example.com/v1beta/models/m1:streamGenerateContent?alt=sse" == stream["url"]
    assert "https://api.example.com/v1beta/models/m1:streamGenerateContent?alt=json&b=c" == other["url"]
    assert {"contents": CONTENTS} == plain["body"] == stream["body"] == other["body"]


def test_data_is_put_inline() -> None:
    """Images, files and sounds."""
    content = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": PIXEL}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERg=="}},
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
    ]

    assert [
        {"text": "look"},
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
        {"inlineData": {"mimeType": "application/pdf", "data": "JVBERg=="}},
        {"inlineData": {"mimeType": "audio/wav", "data": "UklGRg=="}},
    ] == asked(KIND, [{"role": "user", "content": content}])["contents"][0]["parts"]


def config(**members: Any) -> dict[str, Any]:
    return {"generationConfig": members}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"temperature": 0.5}, config(temperature=0.5)),
        ({"top_p": 0.1}, config(topP=0.1)),
        ({"max_tokens": 9}, config(maxOutputTokens=9)),
        ({"max_completion_tokens": 9}, config(maxOutputTokens=9)),
        ({"stop": "x"}, config(stopSequences=["x"])),
        ({"stop": ["x", "y"]}, config(stopSequences=["x", "y"])),
        ({"seed": 7}, config(seed=7)),
        ({"presence_penalty": 0.1}, config(presencePenalty=0.1)),
        ({"frequency_penalty": 0.1}, config(frequencyPenalty=0.1)),
        ({"n": 2}, config(candidateCount=2)),
        ({"logprobs": True, "top_logprobs": 3}, config(responseLogprobs=True, logprobs=3)),
        ({"response_format": {"type": "text"}}, config(responseMimeType="text/plain")),
        ({"response_format": {"type": "json_object"}}, config(responseMimeType="application/json")),
        ({"response_format": FORMAT}, config(responseMimeType="application/json", responseJsonSchema=SCHEMA)),
        ({"temperature": None, "stop": None}, config(temperature=None, stopSequences=None)),
        ({"parallel_tool_calls": True, "user": None, "stream": False}, {}),
        ({"stream_options": {"include_usage": True}}, {}),
        ({"tool_choice": "auto"}, {"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}}),
        ({"tool_choice": "none"}, {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}),
        ({"tool_choice": "required"}, {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}),
    ],
)
def test_members_have_a_place(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """Renamed, moved or as they are; null is sent where the dialect has the member; in params as in the case."""
    assert {**expected, "contents": CONTENTS} == asked(KIND, HI, **given)
    assert {**expected, "contents": CONTENTS} == asked(KIND, HI, params=given)


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        *(
            ({name: value}, f"/request/{name}")
            for name, value in {
                "logit_bias": {"1": 2}, "audio": {}, "modalities": ["text"], "prediction": {}, "web_search_options": {},
                "functions": [], "function_call": "auto", "metadata": {"a": "b"}, "store": False, "service_tier": "auto",
                "verbosity": "low", "reasoning_effort": "low", "user": "u", "parallel_tool_calls": False, "top_k": 5,
                "generationConfig": {}, "stream": "yes", "tool_choice": "any",
            }.items()
        ),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "strict": True}}]},
            "/request/tools/0/function/strict",
        ),
        ({"messages": [*HI, {"role": "system", "content": "x"}]}, "/request/messages/1/role"),
        ({"messages": [{"role": "function", "content": "x"}]}, "/request/messages/0/role"),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}],
                    }
                ]
            },
            "/request/messages/0/content/0/image_url/url",
        ),
        (
            {
                "messages": [
                    {
                        "role": "assistant",
                        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "1"}}],
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
    assert error.message.endswith(f" cannot be expressed in a request of type gemini at {pointer}")
    assert "write the case's body in that dialect, or leave it to targets of type openai" == error.hint


def test_an_answer_to_no_call_is_an_error() -> None:
    """The dialect names the function, and nothing says which it was."""
    error = refused(KIND, {"messages": [{"role": "tool", "tool_call_id": "x", "content": "y"}]})

    assert "a.yaml:1: no tool call before it has the id 'x' at /request/messages/0/tool_call_id" == error.message


def test_params_may_be_in_the_words_of_the_dialect() -> None:
    """What is translated stands above them, whatever the order."""
    params: dict[str, Any] = {
        "temperature": 0,
        "generationConfig": {"temperature": 1, "topK": 5, "thinkingConfig": {"thinkingBudget": 0}},
        "safetySettings": [],
        "tools": [{"googleSearch": {}}],
    }

    assert {
        "generationConfig": {"temperature": 0, "topK": 5, "thinkingConfig": {"thinkingBudget": 0}, "seed": 3},
        "safetySettings": [],
        "tools": [{"googleSearch": {}}],
        "contents": CONTENTS,
    } == asked(KIND, HI, params=params, seed=3)


def test_the_order_of_a_schema_is_kept() -> None:
    """A function's schema and a format's are looked at where they stand in the dialect."""
    tool = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}
    request = {"messages": HI, "tools": [tool], "response_format": FORMAT}

    assert {
        "/body/tools/0/functionDeclarations/0/parametersJsonSchema/properties": ["b", "a"],
        "/body/generationConfig/responseJsonSchema/properties": ["b", "a"],
    } == made(KIND, {"request": request}, model="m1").document["order"]


def test_a_body_is_sent_without_the_model() -> None:
    """It stands in the path."""
    document = made(KIND, {"body": {"contents": []}}, model="m1", params={"temperature": 0}).document

    assert ({"contents": []}, "https://api.example.com/v1beta/models/m1:generateContent") == (
        document["body"],
        document["url"],
    )
