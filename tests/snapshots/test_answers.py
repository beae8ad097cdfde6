"""Answer hashes: the published vectors, and what two identical answers may differ in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from snapshots import canonical, dialects, generic, openai_chat

FILES = Path(__file__).parent.parent / "vectors"
VECTORS = [
    vector
    for name in ("answers.json", "dialect_answers.json")
    for vector in json.loads((FILES / name).read_text("utf-8"))["answers"]
]
PREIMAGES = {
    **{dialect.RULE: dialect.answer for dialect in dialects.DIALECTS.values()},
    "http/1": generic.answer,
    "whole/1": lambda response: response,
}


def response_of(vector: dict[str, Any]) -> dict[str, Any]:
    """Return the response member of a vector."""
    return {name: vector[name] for name in ("status", "body", "text", "base64", "volatile") if name in vector}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_a_vector_has_its_published_hash(vector: dict[str, Any]) -> None:
    """Rule, preimage and digest are the published ones."""
    response = response_of(vector)

    assert vector["answer_rule"] == dialects.rule_for(vector.get("request", {}), response)
    assert vector["preimage"].encode() == canonical.encode(PREIMAGES[vector["answer_rule"]](response))
    assert vector["answer_hash"] == dialects.answer_hash(vector["answer_rule"], response)


def stream(*chunks: dict[str, Any], done: bool = True) -> dict[str, Any]:
    """Return a response that holds an event stream."""
    text = "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + ("data: [DONE]\n\n" if done else "")
    return {"status": 200, "text": text}


def part(delta: dict[str, Any], finish: str | None = None, index: int = 0) -> dict[str, Any]:
    """Return one chunk."""
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m1",
        "choices": [{"index": index, "delta": delta, "finish_reason": finish}],
    }


def test_a_stream_is_assembled_before_it_is_hashed() -> None:
    """Text, tool calls and finish reason are joined; ids, time and usage leave no trace."""
    response = stream(
        part({"role": "assistant", "content": ""}),
        part({"content": "Hel"}),
        part({"content": "lo"}),
        part(
            {
                "tool_calls": [
                    {"index": 0, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": ""}}
                ]
            }
        ),
        part({"tool_calls": [{"index": 0, "function": {"arguments": '{"a":'}}]}),
        part({"tool_calls": [{"index": 0, "function": {"arguments": " 1}"}}]}, "tool_calls"),
        {
            "id": "c1",
            "object": "chat.completion.chunk",
            "choices": [],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2},
        },
    )

    assert {
        "status": 200,
        "body": {
            "object": "chat.completion",
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": "Hello",
                        "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
                    },
                    "finish_reason": "tool_calls",
                }
            ],
        },
    } == openai_chat.answer(response)


def test_halves_of_a_surrogate_pair_in_two_chunks_are_joined() -> None:
    """An emoji that two chunks split arrives whole."""
    text = 'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\ndata: {"choices":[{"delta":{"content":"\\ude00"},"finish_reason":"stop"}]}\n\n'

    assert "😀" == openai_chat.assemble(text)["choices"][0]["message"]["content"]


@pytest.mark.parametrize("character", ["\u2028", "\u0085", "\u000b", "\u001c"])
def test_only_line_feeds_and_carriage_returns_end_a_line(character: str) -> None:
    """Other characters that Unicode calls line ends stay in the text."""
    event = json.dumps(
        {"choices": [{"delta": {"content": f"a{character}b"}, "finish_reason": "stop"}]}, ensure_ascii=False
    )

    assert f"a{character}b" == openai_chat.assemble(f"data: {event}\r\n\r\n")["choices"][0]["message"]["content"]


@pytest.mark.parametrize(
    ("response", "complete"),
    [
        pytest.param(stream(part({"content": "a"}), part({}, "stop")), True, id="whole"),
        pytest.param(stream(part({"content": "a"}), done=False), False, id="neither finish reason nor [DONE]"),
        pytest.param(stream(part({"content": "a"})), False, id="[DONE] without a finish reason"),
        pytest.param({"status": 200, "text": 'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"error":{"message":"x"}}\n\n'}, False, id="error event"),
        pytest.param({"status": 200, "body": {"choices": []}}, False, id="no choice"),
        pytest.param({"status": 200, "body": {"choices": [{"message": {"content": "a"}}]}}, True, id="body"),
    ],
)  # fmt: skip
def test_a_stream_that_ends_early_is_no_answer(response: dict[str, Any], complete: bool) -> None:
    """A status of 200 and some text do not make an answer."""
    assert complete == openai_chat.is_complete({}, response)


USAGE = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}


@pytest.mark.parametrize(
    ("asked", "chunks", "done", "complete"),
    [
        ({"n": 2}, [part({"content": "a"}, "stop")], False, False),
        ({"n": 2}, [part({"content": "a"}, "stop"), part({"content": "b"}, index=1)], False, False),
        ({"n": 2}, [part({"content": "a"}, "stop"), part({"content": "b"}, index=1)], True, False),
        ({"n": 2}, [part({"content": "a"}, "stop"), part({"content": "b"}, "stop", index=1)], False, True),
        ({"n": 2}, [part({"content": "a"}, "stop")], True, True),
        ({"n": 1}, [part({"content": "a"}, "stop")], False, True),
        ({"n": None}, [part({"content": "a"}, "stop")], False, True),
        ({"n": True}, [part({"content": "a"}, "stop")], False, True),
        ({"stream_options": {"include_usage": True}}, [part({"content": "a"}, "stop")], False, False),
        ({"stream_options": {"include_usage": True}}, [part({"content": "a"}, "stop"), USAGE], False, True),
        ({"stream_options": {"include_usage": True}}, [part({"content": "a"}, "stop")], True, True),
        ({"moderation": {"model": "m"}}, [part({"content": "a"}, "stop")], False, False),
        ({"moderation": {"model": "m"}}, [part({"content": "a"}, "stop"), {"choices": [], "moderation": {"output": {}}}], False, True),
    ],
)  # fmt: skip
def test_a_stream_holds_what_was_asked_for_or_says_that_it_is_done(
    asked: dict[str, Any], chunks: list[dict[str, Any]], done: bool, complete: bool
) -> None:
    """With two choices in the request, the end of the first is not the end."""
    assert complete == openai_chat.is_complete({"body": asked}, stream(*chunks, done=done))


def test_members_of_one_call_leave_no_trace() -> None:
    """Servers of this dialect have more of them than its author: ids, times, seeds, signatures, padding."""

    def answered(mark: str, number: int) -> dict[str, Any]:
        message = {
            "content": "A", "audio": {"id": mark, "data": "QUJD", "expires_at": number}, "thought_signature": mark,
            "extra_content": {"google": {"thought": True, "thought_signature": mark}},
            "tool_calls": [{"id": mark, "function": {"name": "f"}, "extra_content": {"google": {"thought_signature": mark}}}],
            "reasoning_details": [{"type": "reasoning.encrypted", "id": mark, "data": mark, "signature": mark}],
        }  # fmt: skip
        members = {
            "x_groq": {"id": mark},
            "time_info": {"total_time": number},
            "request_id": mark,
            "usage_breakdown": {"x": number},
        }
        return {"status": 200, "body": {"choices": [{"message": message, "seed": number}], **members}}

    assert {
        "status": 200,
        "body": {
            "choices": [
                {
                    "message": {
                        "content": "A",
                        "audio": {"data": "QUJD"},
                        "extra_content": {"google": {"thought": True}},
                        "tool_calls": [{"function": {"name": "f"}, "extra_content": {"google": {}}}],
                        "reasoning_details": [{"type": "reasoning.encrypted"}],
                    }
                }
            ]
        },
    } == openai_chat.answer(answered("x", 1))
    assert openai_chat.answer(answered("x", 1)) == openai_chat.answer(answered("y", 2))


def test_the_padding_of_chunks_is_no_part_of_the_answer() -> None:
    """It is as long as it takes to hide how long a text is, and stands in no whole body."""

    def padded(text: str) -> dict[str, Any]:
        return stream({**part({"content": "a"}), "obfuscation": text}, {**part({}, "stop"), "obfuscation": text[::-1]})

    assert "obfuscation" not in dialects.assembled({}, padded("xyz"))
    assert openai_chat.answer(padded("xyz")) == openai_chat.answer(padded(""))


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param([{"tool_calls": 7}], id="tool calls that are a number"),
        pytest.param([{"tool_calls": [{"function": "f"}]}], id="a function that is text"),
        pytest.param([{"content": ["a"]}, {"content": "b"}], id="content that changes its kind"),
        pytest.param([{"x": json.loads("[" * 900 + "]" * 900)}], id="deep nesting"),
    ],
)
def test_a_stream_that_makes_no_sense_is_no_answer(deltas: list[dict[str, Any]]) -> None:
    """Whatever a server sends, reading it ends with an answer or without one, never in a crash."""
    response = stream(*(part(d) for d in deltas), part({}, "stop"))

    assert (False, "whole/1") == (openai_chat.is_complete({}, response), dialects.rule_for({}, response))


def test_tool_calls_that_begin_with_null_are_read() -> None:
    """Some servers send null before the list."""
    response = stream(
        part({"tool_calls": None}),
        part({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]}, "tool_calls"),
    )

    assert ["f"] == [c.name for c in dialects.read("openai-chat", response).first.tool_calls]


def test_legacy_function_calls_grow_over_chunks() -> None:
    """An object in a delta is merged and not overwritten: another argument is another answer."""

    def called(order: str) -> dict[str, Any]:
        return stream(
            part({"role": "assistant", "content": None, "function_call": {"name": "get_order", "arguments": ""}}),
            part({"function_call": {"arguments": '{"id":'}}),
            part({"function_call": {"arguments": f'"{order}"}}'}}, "function_call"),
        )  # fmt: skip

    message = openai_chat.answer(called("A-17"))["body"]["choices"][0]["message"]

    assert {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "get_order", "arguments": '{"id":"A-17"}'},
    } == message
    assert dialects.answer_hash("openai-chat/1", called("A-17")) != dialects.answer_hash(
        "openai-chat/1", called("B-99")
    )


def test_whatever_a_delta_holds_is_kept() -> None:
    """Lists grow, custom tool calls and unknown members survive, and so do members of choices and chunks."""
    response = stream(
        {**part({"content": [{"type": "text", "text": "A"}], "reasoning_details": [{"index": 0, "text": "be"}]}), "provider": "p"},
        part({"content": [{"type": "text", "text": "B"}], "reasoning_details": [{"index": 0, "text": "cause"}]}),
        part({"tool_calls": [{"index": 0, "id": "c1", "type": "custom", "custom": {"name": "run", "input": "x"}, "extra": {"a": 1}}]}),
        {**part({"tool_calls": [{"index": 0, "custom": {"input": "y"}}]}, "tool_calls"), "choices": [
            {"index": 0, "delta": {"tool_calls": [{"index": 0, "custom": {"input": "y"}}]}, "finish_reason": "tool_calls", "stop_reason": 7}]},
    )  # fmt: skip

    assert {
        "object": "chat.completion",
        "provider": "p",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}],
                    "reasoning_details": [{"index": 0, "text": "because"}],
                    "tool_calls": [{"type": "custom", "custom": {"name": "run", "input": "xy"}, "extra": {"a": 1}}],
                },
                "finish_reason": "tool_calls",
                "stop_reason": 7,
            }
        ],
    } == openai_chat.answer(response)["body"]


def test_tool_calls_without_an_index_are_told_apart_by_their_names() -> None:
    """A call that names itself is a new one; one that does not goes on with the last."""
    response = stream(
        part({"tool_calls": [{"id": "1", "function": {"name": "f", "arguments": '{"x":'}}]}),
        part({"tool_calls": [{"function": {"arguments": "1}"}}]}),
        part({"tool_calls": [{"id": "2", "function": {"name": "g", "arguments": "{}"}}]}, "tool_calls"),
    )

    assert [("f", {"x": 1}), ("g", {})] == [
        (c.name, c.arguments) for c in dialects.read("openai-chat", response).first.tool_calls
    ]
