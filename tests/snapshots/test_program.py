"""Answers of programs (protocol 1): what is one, what its hash leaves out, and what graders read in it."""

from __future__ import annotations

from typing import Any

import pytest

from snapshots import dialects, program
from snapshots.envelope import Envelope
from snapshots.errors import UnreadableSnapshot

REQUEST = {"transport": "exec", "command": ["python", "answer.py"], "stdin": {}}


def response(status: int = 0, **body: Any) -> dict[str, Any]:
    """Return the response of a program that printed an object."""
    return {"status": status, "body": body, "program": {"answer.py": "sha256:00"}}


def read(answer: dict[str, Any]) -> Envelope:
    """Read a response by the reader that is its own."""
    reader, _ = dialects.reader_for(REQUEST, answer)
    return Envelope(dialects.read(reader, answer), answer, None)


def digest(answer: dict[str, Any]) -> tuple[str, str]:
    """Return the rule and the answer hash of a response."""
    rule = dialects.rule_for(REQUEST, answer)
    return rule, dialects.answer_hash(rule, answer)


@pytest.mark.parametrize(
    ("output", "text"),
    [("30 days", "30 days"), ({"days": 30, "é": None}, '{"days":30,"é":null}'), ([1.5], "[1.5]"), (None, ""), (True, "true")],
)  # fmt: skip
def test_an_output_is_text_or_compact_json(output: Any, text: str) -> None:
    """A text stands as it is; null is no text."""
    assert text == read(response(output=output)).text


def test_everything_a_program_may_tell_is_read() -> None:
    """Counters of caches stand beside the input in this protocol: 10 + 20 + 3 + 4 go in."""
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_tokens": 20, "cache_write_tokens": 3, "cache_write_1h_tokens": 4}  # fmt: skip
    answer = response(
        output="A", usage=usage, cost_usd=0.25, stop_reason="end", reasoning="Hm.", model="m-1", empty_reason="",
        tool_calls=[{"id": "1", "name": "f", "arguments": {"a": 1}}, {"name": "g"}, {"name": "h", "arguments": [1]}],
    )  # fmt: skip
    reading = program.read(answer)
    envelope = read(answer)

    assert (37, 5, 20, 7, 0.25) == (
        reading.input_tokens, reading.output_tokens, reading.cached_tokens, reading.cache_write_tokens, reading.cost_usd,
    )  # fmt: skip
    assert ("A", "end", "Hm.", "m-1") == (
        envelope.text,
        envelope.finish_reason,
        envelope.reasoning,
        envelope.model,
    )
    assert [
        {"name": "f", "arguments": {"a": 1}},
        {"name": "g", "arguments": {}},
        {"name": "h", "arguments": {}, "arguments_text": "[1]"},
    ] == envelope.tool_calls


def test_what_a_program_does_not_tell_is_not_known() -> None:
    """None, and not zero."""
    reading = program.read(response(output="A", cost_usd=-1))

    assert (None,) * 5 == (
        reading.input_tokens, reading.output_tokens, reading.cached_tokens, reading.cache_write_tokens, reading.cost_usd,
    )  # fmt: skip


@pytest.mark.parametrize(("reason", "empty"), [("no matching document", False), ("", True), (None, True)])
def test_a_program_can_say_why_it_has_no_answer(reason: str | None, empty: bool) -> None:
    """An empty reason is none."""
    assert empty == program.read(response(output="", empty_reason=reason)).is_unexplained_empty


def test_a_verdict_is_its_own_text() -> None:
    """What a judging program printed is compact JSON."""
    assert '{"pass":false,"score":0.5}' == read(response(**{"pass": False, "score": 0.5})).text


@pytest.mark.parametrize(
    ("answer", "complete"),
    [
        (response(output="A"), True),
        (response(output=""), True),
        (response(output=None, error=None), True),
        (response(**{"pass": True}), True),
        (response(1, output="A"), False),
        (response(output="A", error={"message": "no"}), False),
        (response(error={"message": "no"}), False),
        ({"status": 0, "text": "A"}, False),
        ({"status": 0, "body": ["A"]}, False),
    ],
)
def test_only_exit_code_0_without_an_error_is_an_answer(answer: dict[str, Any], complete: bool) -> None:
    """What a program prints when it fails is never stored."""
    assert complete == dialects.is_complete(REQUEST, answer)


def test_the_same_answer_has_the_same_hash() -> None:
    """Usage, cost, metadata, the reported model, ids of calls and the program's own digest leave no trace."""
    calls = [{"id": "1", "name": "f", "arguments": {}}]
    other = response(output="A", usage={"input_tokens": 1}, cost_usd=1, metadata={"took": 3}, model="m",
                     tool_calls=[{"id": "2", "name": "f", "arguments": {}}])  # fmt: skip
    other["program"] = {"answer.py": "sha256:11"}

    assert digest(response(output="A", tool_calls=calls)) == digest(other)


@pytest.mark.parametrize(
    "other",
    [
        response(output="B"),
        response(output="A", reasoning="x"),
        response(output="A", new=1),
        response(1, output="A"),
    ],
)
def test_another_answer_has_another_hash(other: dict[str, Any]) -> None:
    """Output, reasoning, unknown members and the exit code count."""
    assert "exec/1" == digest(other)[0]
    assert digest(response(output="A")) != digest(other)


def test_a_program_that_prints_a_servers_body_is_no_server() -> None:
    """A body that looks like a chat completion has no output: it is kept as it is."""
    chat = response(choices=[{"message": {"content": "A"}, "finish_reason": "stop"}])

    assert ("whole/1", "raw", False) == (
        dialects.rule_for(REQUEST, chat),
        dialects.reader_for(REQUEST, chat)[0],
        dialects.is_complete(REQUEST, chat),
    )


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/body"),
        ({"output": "A", "error": {"message": "x"}}, "/body/error"),
        ({"output": "A", "tool_calls": 7}, "/body/tool_calls"),
        ({"output": "A", "tool_calls": [{}]}, "/body/tool_calls/0/name"),
    ],
)
def test_what_the_reader_does_not_know_is_named_by_pointer(body: Any, pointer: str) -> None:
    """A sound file with an unknown body is unreadable at a place, never a crash."""
    with pytest.raises(UnreadableSnapshot) as error:
        dialects.read("exec", {"status": 0, "body": body})

    assert ("exec", pointer) == (error.value.reader, error.value.pointer)
