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
