"""Any other JSON over HTTP: members that a target calls volatile, and the text where it says."""

from __future__ import annotations

from typing import Any

import pytest

from snapshots import dialects
from snapshots.envelope import Envelope
from snapshots.errors import JsonError, UnreadableSnapshot
from snapshots.volatile import without

REQUEST = {"transport": "http", "method": "POST", "url": "https://api.example.com/ask"}
CHAT = {"transport": "http", "method": "POST", "url": "https://api.example.com/v1/chat/completions"}


@pytest.mark.parametrize(
    ("pointers", "left"),
    [
        ([], {"id": 1, "items": [{"id": 2, "a": 3}, {"id": 4}], "a/b": 5}),
        (["/id"], {"items": [{"id": 2, "a": 3}, {"id": 4}], "a/b": 5}),
        (["/items/*/id"], {"id": 1, "items": [{"a": 3}, {}], "a/b": 5}),
        (["/items/1"], {"id": 1, "items": [{"id": 2, "a": 3}], "a/b": 5}),
        (["/items/0/id", "/items/*/a"], {"id": 1, "items": [{}, {"id": 4}], "a/b": 5}),
        (["/items", "/items/0/id"], {"id": 1, "a/b": 5}),
        (["/a~1b"], {"id": 1, "items": [{"id": 2, "a": 3}, {"id": 4}]}),
        (["/*"], {}),
        (["/nothing/here", "/id/deeper"], {"id": 1, "items": [{"id": 2, "a": 3}, {"id": 4}], "a/b": 5}),
    ],
)
def test_what_pointers_name_is_taken_out(pointers: list[str], left: Any) -> None:
    """A star stands for any member or item; what is not there is not missed; the value itself stays as it is."""
    value = {"id": 1, "items": [{"id": 2, "a": 3}, {"id": 4}], "a/b": 5}

    assert left == without(value, pointers)
    assert {"id": 1, "items": [{"id": 2, "a": 3}, {"id": 4}], "a/b": 5} == value


@pytest.mark.parametrize("pointer", ["", "id", "#/id", 7, None])
def test_what_is_no_pointer_is_refused(pointer: Any) -> None:
    """A file's own list may hold anything."""
    with pytest.raises(JsonError, match="no JSON pointer"):
        without({}, [pointer])


def answer(number: int, text: str = "30 days", volatile: list[str] | None = None) -> dict[str, Any]:
    """Return a response of some server."""
    body = {"id": number, "data": [{"text": text, "seen": number}]}
    return {"status": 200, "body": body, **({} if volatile is None else {"volatile": volatile})}


def digest(response: dict[str, Any], request: dict[str, Any] = REQUEST) -> tuple[str, str]:
    """Return the rule and the answer hash of a response."""
    rule = dialects.rule_for(request, response)
    return rule, dialects.answer_hash(rule, response)


def test_volatile_members_leave_no_trace() -> None:
    """What the response itself calls volatile does not count; everything else does."""
    volatile = ["/data/*/seen", "/id"]

    assert "http/1" == digest(answer(1, volatile=volatile))[0]
    assert digest(answer(1, volatile=volatile)) == digest(answer(2, volatile=volatile))
    assert digest(answer(1, volatile=volatile)) != digest(answer(1, "14 days", volatile=volatile))
    assert digest(answer(1, volatile=["/id"])) != digest(answer(2, volatile=["/id"]))


def test_nothing_volatile_is_the_whole_answer() -> None:
    """An answer that names nothing counts whole."""
    assert "whole/1" == digest(answer(1))[0]
    assert digest(answer(1))[1] == digest(answer(1, volatile=[]))[1]


def test_what_is_volatile_goes_before_a_dialect() -> None:
    """The target's word counts, whatever the body looks like."""
    chat = {"status": 200, "body": {"id": "1", "choices": [{"message": {"content": "A"}}]}}

    assert ["openai-chat/1", "http/1"] == [digest(chat, CHAT)[0], digest({**chat, "volatile": ["/id"]}, CHAT)[0]]


@pytest.mark.parametrize(
    ("response", "select", "text"),
    [
        (answer(1), "/data/0/text", "30 days"),
        (answer(1), "/data/0", '{"text":"30 days","seen":1}'),
        (answer(1), "/id", "1"),
        ({"status": 200, "body": ["é"]}, "", '["é"]'),
        ({"status": 200, "body": {"a": None}}, "/a", ""),
        ({"status": 200, "body": {"a": False}}, "/a", "false"),
        ({"status": 200, "text": '{"a": "x", "n": 18446744073709551616}'}, "/a", "x"),
    ],
)
def test_select_says_where_the_text_stands(response: dict[str, Any], select: str, text: str) -> None:
    """A text as it is, null as no text, anything else as compact JSON; also in a body that strict JSON cannot hold."""
    reader, number = dialects.reader_for(REQUEST, response, select)
    read = Envelope(dialects.read(reader, response, select), response, None)

    assert ("http", 1, text) == (reader, number, read.text)


@pytest.mark.parametrize(
    ("response", "select"),
    [
        (answer(1), "/data/1/text"),
        (answer(1), "/text"),
        ({"status": 200, "text": "30 days"}, "/text"),
        ({"status": 200, "base64": "AA=="}, ""),
    ],
)
def test_a_part_that_is_not_there_is_unreadable_at_its_pointer(response: dict[str, Any], select: str) -> None:
    """The row says which part the target asked for."""
    with pytest.raises(UnreadableSnapshot) as error:
        dialects.read("http", response, select)

    assert ("http", select) == (error.value.reader, error.value.pointer)


def test_without_select_a_body_is_read_by_whoever_knows_it() -> None:
    """A chat completion from a generic target is one; anything else is raw."""
    chat = {"status": 200, "body": {"choices": [{"message": {"content": "A"}}]}, "volatile": ["/id"]}

    assert ["openai-chat", "raw"] == [dialects.reader_for(CHAT, chat)[0], dialects.reader_for(REQUEST, answer(1))[0]]


def test_an_empty_selection_is_an_empty_answer() -> None:
    """Nothing explains it."""
    response = {"status": 200, "body": {"a": ""}}

    assert dialects.read("http", response, "/a").is_unexplained_empty
