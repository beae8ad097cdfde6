"""Whether two answers are the same: under one rule, the newer one, for both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diff.side import Side
from golden.program import moved
from snapshots import generic, program
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


program_rule = program.RULE
"""The answer rule of programs: their answers hold the digests of the files that gave them."""


def programs_moved(base: Row, head: Row, base_side: Side, head_side: Side) -> list[str]:
    """Return the files of a program that are others than when the base's answer was recorded; none where that is not at hand."""
    old, new = base_side.response(base), head_side.response(head)
    if old is None or new is None:
        return []
    return moved(old[1].get("program") or {}, new[1].get("program") or {})
