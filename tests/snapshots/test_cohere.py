"""Cohere's chat in both versions, by bodies and events that its API reference describes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapshots import dialects
from snapshots.errors import UnreadableSnapshot
from snapshots.reading import Reading

OLD = {"transport": "http", "method": "POST", "url": "https://api.example.com/v1/chat"}
NEW = {"transport": "http", "method": "POST", "url": "https://api.example.com/v2/chat"}


def call(arguments: str = '{"id": "A-17"}', name: str = "1") -> dict[str, Any]:
    """Return a tool call of version 2."""
    return {"id": name, "type": "function", "function": {"name": "get_order", "arguments": arguments}}


def new(*content: dict[str, Any], reason: str | None = "COMPLETE", answer: str = "1", **message: Any) -> dict[str, Any]:
    """Return a whole answer of version 2."""
    said = {"role": "assistant", **({"content": list(content)} if content else {}), **message}
    usage = {
        "billed_units": {"input_tokens": 4},
        "tokens": {"input_tokens": 40, "output_tokens": 5},
        "cached_tokens": 16,
    }
    return {"status": 200, "body": {"id": answer, "message": said, "finish_reason": reason, "usage": usage}}


def old(text: str, reason: str | None = "COMPLETE", **members: Any) -> dict[str, Any]:
    """Return a whole answer of version 1."""
    meta = {"tokens": {"input_tokens": 40, "output_tokens": 5}}
    body = {"text": text, "generation_id": "g", "response_id": "r", "finish_reason": reason, "meta": meta, **members}
    return {"status": 200, "body": body}


def part(text: str) -> dict[str, Any]:
    """Return a part of text."""
    return {"type": "text", "text": text}


def read(request: dict[str, Any], response: dict[str, Any]) -> Reading:
    """Read a response by the reader that is its own."""
    return dialects.read(dialects.reader_for(request, response)[0], response)


def digest(request: dict[str, Any], response: dict[str, Any]) -> tuple[str, str]:
    """Return the rule and the answer hash of a response."""
    rule = dialects.rule_for(request, response)
    return rule, dialects.answer_hash(rule, response)


def told(kind: str, index: int | None = None, **message: Any) -> dict[str, Any]:
    """Return an event of version 2."""
    place = {} if index is None else {"index": index}
    return {"type": kind, **place, "delta": {"message": message}}


def stream(*events: dict[str, Any]) -> dict[str, Any]:
    """Return a response with events of version 2."""
    return {"status": 200, "text": "".join(f"event: {e.get('type')}\ndata: {json.dumps(e)}\n\n" for e in events)}


START = {
    "type": "message-start", "id": "1",
    "delta": {"message": {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}},
}  # fmt: skip


def end(reason: str, **members: Any) -> dict[str, Any]:
    """Return the last event of version 2."""
    return {"type": "message-end", "delta": {"finish_reason": reason, **members}}


def test_version_2_is_read_into_the_envelope() -> None:
    """Texts are joined; plan and thinking are reasoning; cached tokens are among those of the prompt."""
    reading = read(NEW, new({"type": "thinking", "thinking": "Hm."}, part("A"), part("B"), tool_plan="Ask.", tool_calls=[call()], reason="TOOL_CALL"))  # fmt: skip
    first = reading.first

    assert ("AB", "Ask.\n\nHm.", "TOOL_CALL", 40, 5, 16) == (
        first.text, first.reasoning, first.finish_reason, reading.input_tokens, reading.output_tokens, reading.cached_tokens,
    )  # fmt: skip
    assert [{"name": "get_order", "arguments": {"id": "A-17"}}] == [made.as_dict() for made in first.tool_calls]


def test_version_1_is_read_into_the_envelope() -> None:
    """Arguments are an object there, and tokens stand in meta."""
    reading = read(OLD, old("A", tool_calls=[{"name": "get_order", "parameters": {"id": 1}}]))

    assert ("A", "COMPLETE", 40, 5, {"id": 1}) == (
        reading.first.text, reading.first.finish_reason, reading.input_tokens, reading.output_tokens,
        reading.first.tool_calls[0].arguments,
    )  # fmt: skip


def test_a_stream_of_version_2_spells_the_same_answer_as_a_body() -> None:
    """Plan, text and arguments grow; calls and citations are listed by index."""
    citation = {"start": 0, "end": 1, "text": "A", "sources": []}
    events = [
        START,
        told("tool-plan-delta", tool_plan="As"),
        told("tool-plan-delta", tool_plan="k."),
        told("content-start", 0, content={"type": "text", "text": ""}),
        told("content-delta", 0, content={"text": "A\u2028"}),
        told("content-delta", 0, content={"text": "B"}),
        {"type": "content-end", "index": 0},
        told(
            "tool-call-start",
            0,
            tool_calls={"id": "1", "type": "function", "function": {"name": "get_order", "arguments": ""}},
        ),
        told("tool-call-delta", 0, tool_calls={"function": {"arguments": '{"id": '}}),
        told("tool-call-delta", 0, tool_calls={"function": {"arguments": '"A-17"}'}}),
        {"type": "tool-call-end", "index": 0},
        told("citation-start", 0, citations=citation),
        end("TOOL_CALL"),
    ]
    whole = new(part("A\u2028B"), tool_plan="Ask.", tool_calls=[call()], citations=[citation], reason="TOOL_CALL")

    assert digest(NEW, whole) == digest(NEW, stream(*events))
    assert dialects.is_complete(NEW, stream(*events))


def lines(*events: dict[str, Any]) -> dict[str, Any]:
    """Return a response with events of version 1."""
    return {"status": 200, "text": "".join(json.dumps(event) + "\n" for event in events)}


GENERATED = [
    {"is_finished": False, "event_type": "stream-start", "generation_id": "g"},
    {"is_finished": False, "event_type": "text-generation", "text": "A"},
    {"is_finished": False, "event_type": "text-generation", "text": "B"},
]
ENDED = {"is_finished": True, "event_type": "stream-end", "response": old("AB")["body"], "finish_reason": "COMPLETE"}


def test_a_stream_of_version_1_ends_with_the_whole_answer() -> None:
    """One that does not is read as far as it came and is incomplete."""
    assert digest(OLD, old("AB")) == digest(OLD, lines(*GENERATED, ENDED))
    assert ("AB", False) == (read(OLD, lines(*GENERATED)).first.text, dialects.is_complete(OLD, lines(*GENERATED)))


@pytest.mark.parametrize(
    ("request_", "response", "complete"),
    [
        (NEW, new(part("A")), True),
        (NEW, new(part("A"), reason=None), False),
        (NEW, new(part("A"), reason="ERROR"), False),
        (NEW, new(part("A"), reason="TIMEOUT"), False),
        (NEW, new(reason="MAX_TOKENS"), True),
        (NEW, stream(START, told("content-start", 0, content=part("A"))), False),
        (OLD, old("A", "ERROR_TOXIC"), True),
        (OLD, old("A", "USER_CANCEL"), False),
    ],
)
def test_only_what_came_to_its_end_is_complete(
    request_: dict[str, Any], response: dict[str, Any], complete: bool
) -> None:
    """A failure is told by the finish reason; a filter's is an answer."""
    assert complete == dialects.is_complete(request_, response)


@pytest.mark.parametrize(
    "other",
    [new(part("A"), tool_calls=[call(name="2")], answer="2"), new(part("A"), tool_calls=[call()]) | {"status": 200}],
)
def test_the_same_answer_has_the_same_hash(other: dict[str, Any]) -> None:
    """Ids and usage leave no trace."""
    other["body"]["usage"] = {}

    assert digest(NEW, new(part("A"), tool_calls=[call()])) == digest(NEW, other)


@pytest.mark.parametrize(
    "other",
    [new(part("B")), new(part("A"), reason="MAX_TOKENS"), new(part("A"), citations=[]), new(part("A"), tool_plan="x")],
)
def test_another_answer_has_another_hash(other: dict[str, Any]) -> None:
    """Text, finish reason, citations and plan count."""
    assert digest(NEW, new(part("A"))) != digest(NEW, other)


@pytest.mark.parametrize(
    ("response", "pointer"),
    [
        (new(part("A"), tool_calls=[{"function": {}}]), "/body/message/tool_calls/0/function/name"),
        (new(part("A"), tool_calls=7), "/body/message/tool_calls"),
        (new(part("A"), content="A"), "/body/message/content"),
        (old("A", tool_calls=[{"name": "f", "parameters": 7}]), "/body/tool_calls/0/arguments"),
        ({"status": 200, "body": [1]}, "/body"),
        ({"status": 200, "text": "[1]\n"}, "/text"),
        ({"status": 200, "body": {}}, "/body/text"),
    ],
)
def test_what_the_reader_does_not_know_is_named_by_pointer(response: dict[str, Any], pointer: str) -> None:
    """A sound file with an unknown body is unreadable at a place, never a crash."""
    with pytest.raises(UnreadableSnapshot) as error:
        dialects.read("cohere", response)

    assert ("cohere", pointer) == (error.value.reader, error.value.pointer)
