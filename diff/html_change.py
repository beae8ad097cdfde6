"""What exactly moved in a case, for the page: values before and after by pointer, and lines of code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diff.code_difference import code_difference
from diff.compare import Comparison
from diff.html_text import Texts, short
from diff.row import DiffRow
from diff.why_changes import expectation_changes, judge_answers, judge_requests
from snapshots.pointer import look_up

Change = dict[str, Any]
_MOST = 200
_CONTEXT = 2


def request_values(row: DiffRow, comparison: Comparison, texts: Texts) -> list[Change]:
    """Return what the request says at each pointer that moved, where both documents are at hand."""
    if row.base is None or row.head is None or not row.request_changes:
        return []
    old, new = comparison.base.document(row.base["request_hash"]), comparison.head.document(row.head["request_hash"])
    if old is None or new is None:
        return []
    return [{**_change(old, new, told["pointer"], texts), "part": told["part"]} for told in row.request_changes[:_MOST]]


def expectation_values(row: DiffRow, texts: Texts) -> list[Change]:
    """Return what the case expects at each pointer that moved."""
    if row.base is None or row.head is None or "expectation" not in row.clocks:
        return []
    told = expectation_changes(row.base["expectation"], row.head["expectation"])
    return [_told(change, texts) for change in told[:_MOST]]


def judge_values(row: DiffRow, comparison: Comparison, texts: Texts) -> list[Change]:
    """Return what judges were asked and what they answered, where either moved."""
    told = [*judge_requests(row, comparison), *judge_answers(row, comparison)]
    return [{**_told(change, texts), "part": short(change["part"])} for change in told[:_MOST]]


def code_lines(row: DiffRow, comparison: Comparison, texts: Texts) -> list[Change]:
    """Return the lines in which each moved grader differs, where both sides' sources are at hand; shared code once."""
    changes: list[Change] = []
    shown: set[tuple[str, str]] = set()
    for name in row.evidence.get("graders", ()):
        old, new = ((side["graders"] or {}).get(name) if side else None for side in (row.base, row.head))
        change: Change = {"pointer": short(name)}
        if old and new and (old, new) not in shown:
            shown.add((old, new))
            lines = code_difference(comparison.base.source(old), comparison.head.source(new), context=_CONTEXT)
            if lines:
                change["lines"] = texts.of("\n".join(lines))
        changes.append(change)
    return changes


def _told(change: Change, texts: Texts) -> Change:
    sides = {side: texts.of(change[side]) if side in change else None for side in ("before", "after")}
    return {"pointer": short(change["pointer"] or "/"), **sides}


def _change(old: Mapping[str, Any], new: Mapping[str, Any], pointer: str, texts: Texts) -> Change:
    (has_old, before), (has_new, after) = look_up(old, pointer), look_up(new, pointer)
    if has_old and has_new and before == after:  # only the order of the members differs
        before, after = (_order(side, pointer, value) for side, value in ((old, before), (new, after)))
    return {
        "pointer": short(pointer or "/"),
        "before": texts.of(before) if has_old else None,
        "after": texts.of(after) if has_new else None,
    }


def _order(document: Mapping[str, Any], pointer: str, value: Any) -> list[str]:
    return list(document.get("order", {}).get(pointer, sorted(value or ())))
