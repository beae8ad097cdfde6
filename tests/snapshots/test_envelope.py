"""The envelope: recorded OpenAI bodies read into the uniform fields, read-only."""

from __future__ import annotations

from typing import Any

import pytest

from snapshots import dialects
from snapshots.envelope import Envelope
from snapshots.errors import UnreadableSnapshot


def envelope(message: dict[str, Any], finish: str | None = "stop", **body: Any) -> Envelope:
    """Read a chat completion with one choice."""
    response = {"status": 200, "body": {"choices": [{"index": 0, "message": message, "finish_reason": finish}], **body}}
    return Envelope(dialects.read("openai-chat", response), response, 812.0)


def call(name: str, arguments: Any) -> dict[str, Any]:
    """Return a tool call as the API spells it."""
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ('{"order_id": null}', {"name": "f", "arguments": {"order_id": None}}),
        ("{}", {"name": "f", "arguments": {}}),
        ("", {"name": "f", "arguments": {}}),
        (None, {"name": "f", "arguments": {}}),
        ({"a": 1}, {"name": "f", "arguments": {"a": 1}}),
        ('{"order_id": ', {"name": "f", "arguments": {}, "arguments_text": '{"order_id": '}),
        ("[1]", {"name": "f", "arguments": {}, "arguments_text": "[1]"}),
        ('{"a": 1, "a": 2}', {"name": "f", "arguments": {}, "arguments_text": '{"a": 1, "a": 2}'}),
        ('{"n": 9007199254740993}', {"name": "f", "arguments": {"n": 9007199254740993}}),
    ],
)
def test_arguments_are_a_mapping_or_stand_as_text(arguments: Any, read: dict[str, Any]) -> None:
    """What parses to an object is a mapping; what does not stands in arguments_text; nothing raises."""
    assert [read] == envelope({"content": None, "tool_calls": [call("f", arguments)]})["tool_calls"]


@pytest.mark.parametrize(
    ("message", "finish", "expected"),
    [
        ({"content": "hi"}, "stop", ("hi", False, "")),
        ({"content": None}, "stop", ("", False, "")),
        ({}, "stop", ("", False, "")),
        ({"content": None, "refusal": "No."}, "stop", ("", True, "No.")),
        ({"content": "", "refusal": ""}, "stop", ("", False, "")),
        ({"content": ""}, "content_filter", ("", True, "")),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "stop", ("ab", False, "")),
        ({"content": [{"type": "refusal", "refusal": "No."}]}, "stop", ("", True, "No.")),
    ],
)
def test_text_and_refusal(message: dict[str, Any], finish: str, expected: tuple[str, bool, str]) -> None:
    """Text is always text, refusal always a truth value."""
    read = envelope(message, finish)

    assert expected == (read.text, read.refusal, read.refusal_text)


def test_usage_model_latency_and_reasoning() -> None:
    """What the provider reports beside the answer; what it does not is None."""
    read = envelope(
        {"content": "a", "reasoning_content": "because"},
        model="m1-0613",
        usage={"prompt_tokens": 3, "completion_tokens": 2},
    )

    assert ("because", "m1-0613", {"input_tokens": 3, "output_tokens": 2}, 812.0) == (
        read.reasoning,
        read.model,
        read.usage,
        read.latency_ms,
    )
    assert {"input_tokens": None, "output_tokens": None} == envelope({"content": "a"}).usage


def test_a_content_filter_error_reads_as_a_refusal() -> None:
    """A refusal that the provider sends as status 400 is an answer, and it is a refusal."""
    request = {"url": "https://x.example.com/openai/v1/chat/completions?api-version=1"}
    response = {"status": 400, "body": {"error": {"code": "content_filter", "message": "Filtered."}}}

    read = Envelope(dialects.read(dialects.reader_for(request, response)[0], response), response, None)

    assert (True, "Filtered.", "content_filter") == (read.refusal, read.refusal_text, read.finish_reason)


def test_all_choices_are_there() -> None:
    """The first choice is the answer; the others stand in choices."""
    response = {
        "status": 200,
        "body": {"choices": [{"message": {"content": t}, "finish_reason": "stop"} for t in ("a", "b")]},
    }

    assert ["a", "b"] == [c["text"] for c in Envelope(dialects.read("openai-chat", response), response, None).choices]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"choices": []}, "/body/choices"),
        ({"choices": [{"message": {"content": 7}}]}, "/body/choices/0/message/content"),
        (
            {"choices": [{"message": {"tool_calls": [{"function": {}}]}}]},
            "/body/choices/0/message/tool_calls/0/function",
        ),
        ({"choices": [{"message": {"content": "a"}, "finish_reason": 1}]}, "/body/choices/0/finish_reason"),
        ({"error": {"message": "overloaded"}}, "/body/error"),
    ],
)
def test_what_the_reader_does_not_know_is_named_by_pointer(body: dict[str, Any], pointer: str) -> None:
    """A sound file with an unknown body is unreadable at a place, never a crash."""
    with pytest.raises(UnreadableSnapshot) as error:
        dialects.read("openai-chat", {"status": 200, "body": body})

    assert ("openai-chat", pointer) == (error.value.reader, error.value.pointer)


@pytest.mark.parametrize(
    ("message", "finish", "empty"),
    [
        ({"content": ""}, "stop", True),
        ({"content": None}, None, True),
        ({"content": ""}, "length", False),
        ({"content": ""}, "content_filter", False),
        ({"content": None, "refusal": "No."}, "stop", False),
        ({"content": None, "tool_calls": [call("f", "{}")]}, "tool_calls", False),
        ({"content": "", "reasoning_content": "hm"}, "stop", False),
    ],
)
def test_only_an_unexplained_nothing_is_an_empty_answer(
    message: dict[str, Any], finish: str | None, empty: bool
) -> None:
    """Text, reasoning, tool calls, refusals, and the reasons length and content_filter explain an answer."""
    response = {"status": 200, "body": {"choices": [{"message": message, "finish_reason": finish}]}}

    assert empty == dialects.read("openai-chat", response).is_unexplained_empty


def test_an_unknown_body_reads_as_raw_and_is_not_called_empty() -> None:
    """What no reader recognises says so by its reader's name; its body is there."""
    response = {"status": 200, "body": {"answer": "30 days"}}
    name, _ = dialects.reader_for({}, response)
    reading = dialects.read(name, response)

    assert ("raw", False, {"answer": "30 days"}) == (
        name,
        reading.is_unexplained_empty,
        Envelope(reading, response, None).raw,
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda e: e["tool_calls"].append(1),
        lambda e: e["tool_calls"][0].update(name="g"),
        lambda e: e["tool_calls"][0]["arguments"].clear(),
        lambda e: e.raw["choices"].pop(),
        lambda e: setattr(e, "text", "x"),
        lambda e: e["usage"].__setitem__("input_tokens", 1),
    ],
)
def test_an_envelope_cannot_be_changed(change: Any) -> None:
    """Every way to write into it raises TypeError."""
    with pytest.raises(TypeError):
        change(envelope({"content": "a", "tool_calls": [call("f", '{"a": 1}')]}))


def test_an_envelope_is_a_mapping_with_dicts_and_lists_in_it() -> None:
    """Code written against a plain mapping works unchanged."""
    read = envelope({"content": None, "tool_calls": [call("f", '{"a": 1}')]})

    assert (True, True, None, True) == (
        isinstance(read.get("tool_calls"), list),
        isinstance(read["tool_calls"][0], dict),
        read.get("nothing"),
        "text" in read,
    )


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('{"choices":[{"message":{"content":"a"},"logprobs":{"x":NaN},"finish_reason":"stop"}]}', "a"),
        ('{"choices":[{"message":{"content":"\\ud83d"},"finish_reason":"stop"}]}', "\ud83d"),
        ('{"choices":[{"message":{"content":"a"},"seed":18446744073709551616,"finish_reason":"stop"}]}', "a"),
    ],
)
def test_a_whole_answer_that_strict_json_cannot_hold_is_still_read(text: str, read: str) -> None:
    """It is kept as text, hashed whole, and graders see the same envelope as of any other."""
    response = {"status": 200, "text": text}

    assert ("whole/1", "openai-chat", read) == (
        dialects.rule_for({}, response),
        dialects.reader_for({}, response)[0],
        Envelope(dialects.read("openai-chat", response), response, None).text,
    )


@pytest.mark.parametrize(
    ("details", "cached"), [({"cached_tokens": 1024}, 1024), ({"cached_tokens": None}, None), (None, None), (7, None)]
)
def test_cached_tokens_of_a_chat_are_part_of_its_input(details: Any, cached: int | None) -> None:
    """They are counted in already; what is no number is not known."""
    usage = {"prompt_tokens": 1144, "completion_tokens": 2, "prompt_tokens_details": details}
    reading = dialects.read("openai-chat", {"body": {"choices": [{"message": {"content": "a"}}], "usage": usage}})

    assert (1144, cached) == (reading.input_tokens, reading.cached_tokens)
