"""Whether two answers are the same: under one rule, the newer one, for both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diff.side import Side
from snapshots import generic
from snapshots.same_answer import same_answer as same_body

Row = Mapping[str, Any]


def same_answer(base: Row, head: Row, base_side: Side, head_side: Side) -> bool | None:
    """Return whether the answers of two rows are equal, or ``None`` where that cannot be told.

    Answers hashed by one rule are compared by hash; so they are not if the rule leaves out what each response names itself. Where the rules
    differ, the newest rule is applied to both bodies; where a body is not at hand, the question stays open: an unknown is never called a
    move.
    """
    if base["integrity"] == head["integrity"]:
        return True
    if base["answer_rule"] == head["answer_rule"]:
        same = base["answer_hash"] == head["answer_hash"]
        if same or base["answer_rule"] != generic.RULE:
            return same
    old, new = base_side.response(base), head_side.response(head)
    if old is None or new is None:
        return None
    return same_body(old, new)
