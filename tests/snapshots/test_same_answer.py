"""Two answers are compared under one rule, the newest, whatever each was hashed by when it was recorded."""

from __future__ import annotations

from typing import Any

import pytest

from snapshots import dialects
from snapshots.errors import JsonError
from snapshots.same_answer import same_answer

REQUEST = {"transport": "http", "method": "POST", "url": "https://api.example.com/v1/chat/completions"}


def chat(text: str, number: str = "1", status: int = 200) -> tuple[dict[str, Any], dict[str, Any]]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return REQUEST, {"status": status, "headers": {}, "body": {"id": number, "choices": [choice]}}


def plain(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return REQUEST, {"status": 200, "headers": {}, "text": text}


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (chat("A", "1"), chat("A", "2"), True),
        (chat("A"), chat("B"), False),
        (chat("A"), chat("A", status=203), False),
        (plain("A"), plain("A"), True),
        (plain("A"), plain("B"), False),
        (chat("A"), plain("A"), False),
    ],
)
def test_answers_are_equal_but_for_what_the_rule_leaves_out(old: Any, new: Any, same: bool) -> None:
    """Per-call members do not count; status, text and dialect do."""
    assert [same, same] == [same_answer(old, new), same_answer(new, old)]


def test_an_answer_that_the_rule_cannot_read_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown is neither equal nor moved."""

    def refused(rule: str, response: Any) -> str:
        raise JsonError("too deep")

    monkeypatch.setattr(dialects, "answer_hash", refused)

    assert same_answer(plain("A"), plain("A")) is None


def generic(number: int, volatile: list[str] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    members = {} if volatile is None else {"volatile": volatile}
    return REQUEST, {"status": 200, "headers": {}, "body": {"id": number, "at": number, "text": "A"}, **members}


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (generic(1, ["/id"]), generic(2, ["/at", "/id"]), True),
        (generic(1, ["/at", "/id"]), generic(2, ["/id"]), False),
        (generic(1, None), generic(2, ["/at", "/id"]), True),
        (generic(1, ["/at", "/id"]), generic(2, None), False),
        (generic(1, ["/id"]), generic(1, None), True),
    ],
)
def test_what_the_newer_answer_calls_volatile_counts_in_neither(old: Any, new: Any, same: bool) -> None:
    """The target's latest word applies to what was recorded before it; the older one's is forgotten."""
    assert same == same_answer(old, new)


def test_a_file_with_a_broken_list_of_volatile_members_is_unknown() -> None:
    """Nothing can be said about an answer whose rule cannot be applied."""
    broken: Any = None

    assert same_answer(generic(1, None), generic(1, ["id"])) is None
    assert same_answer(generic(1, None), (REQUEST, {"status": 200, "body": {}, "volatile": broken})) is None
