"""One clock of a case for ``why``: moved or not, the hashes before and after, and what exactly moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from diff.answers import same_answer
from diff.code_difference import code_difference
from diff.compare import Comparison
from diff.row import DiffRow
from diff.why_changes import (
    Change,
    answer_changes,
    changed_files,
    changes,
    expectation_changes,
    judge_answers,
    judge_requests,
)

_COLUMNS = {
    "request": "request_hash",
    "model": "answer_hash",
    "grader": "grader_digest",
    "expectation": "expectation_digest",
}
_ANOTHER_QUESTION = {
    True: "another question, the same answer",
    False: "the request moved: another question has another answer",
    None: "the request moved, and whether the answer is the same cannot be told",
}
_CONTEXT = 1


@dataclass(slots=True)
class Clock:
    """One clock of a case. ``state`` is ``moved``, ``still`` or ``unknown``; ``changes`` hold pointer, before and after."""

    clock: str
    state: str
    before: str | None
    after: str | None
    changes: list[Change] = field(default_factory=list[Change])
    commit: str | None = None
    moved_by: str | None = None
    note: str | None = None


def clock_of(name: str, row: DiffRow, comparison: Comparison) -> Clock:
    """Return a clock of a row, with what moved in it where both sides are at hand."""
    base, head = row.base, row.head
    column = _COLUMNS[name]
    clock = Clock(
        name, "moved" if name in row.clocks else "still", base[column] if base else None, head[column] if head else None
    )
    if base is None or head is None:
        what = "case" if row.reason in ("added", "removed") else "trial"
        clock.state, clock.note = "unknown", f"the {what} is on one side only"
    elif name == "request" and clock.state == "moved":
        clock.changes = _request_changes(row, comparison)
    elif name == "model":
        _model(clock, row, comparison)
    elif name == "grader" and clock.state == "moved":
        clock.changes = [*_code_changes(row, comparison), *judge_requests(row, comparison)]
    elif name == "expectation" and clock.state == "moved":
        asked = [] if "grader" in row.clocks else judge_requests(row, comparison)
        clock.changes = [*expectation_changes(base["expectation"], head["expectation"]), *asked]
    return clock


def _code_changes(row: DiffRow, comparison: Comparison) -> list[Change]:
    """Return the digests of each moved grader, with the lines of its code that changed where both sides' sources are at hand."""
    told: list[Change] = []
    shown: set[tuple[Any, Any]] = set()
    for name in row.evidence.get("graders", ()):
        old, new = ((side["graders"] or {}).get(name) if side else None for side in (row.base, row.head))
        digests = {"before": old, "after": new}
        change: Change = {"pointer": name, **{side: digest for side, digest in digests.items() if digest is not None}}
        if old is not None and new is not None and (old, new) not in shown:
            shown.add((old, new))  # graders of one module share its code: the lines are shown once
            sources = comparison.base.source(old), comparison.head.source(new)
            change["lines"] = code_difference(*sources, context=_CONTEXT)
        told.append(change)
    return told


def _request_changes(row: DiffRow, comparison: Comparison) -> list[Change]:
    if row.base is None or row.head is None:
        return []
    old, new = comparison.base.document(row.base["request_hash"]), comparison.head.document(row.head["request_hash"])
    if old is None or new is None:
        return []
    made = changes(old, new, [c["pointer"] for c in row.request_changes])
    for change, told in zip(made, row.request_changes, strict=True):
        change["part"] = told["part"]
        if ("before" in change) == ("after" in change) and change.get("before") == change.get("after"):
            change["before"], change["after"] = _order(old, change, "before"), _order(new, change, "after")
    return made


def _order(document: Mapping[str, Any], change: Change, side: str) -> list[str]:
    """Return the order of the members at a pointer where nothing but that differs."""
    return list(document.get("order", {}).get(change["pointer"], sorted(change.get(side) or ())))


def _model(clock: Clock, row: DiffRow, comparison: Comparison) -> None:
    base, head = row.base, row.head
    if base is None or head is None:
        return
    if head["answer_hash"] is None or base["answer_hash"] is None:
        moved = "the request moved; " if "request" in row.clocks else ""
        clock.state, clock.note = "unknown", f"{moved}base: {base['status']}, head: {head['status']}"
    elif "request" in row.clocks:
        _another_question(clock, row, comparison)
    else:
        notes = [str(row.evidence["model"])] if "model" in row.evidence else []
        clock.state = "unknown" if notes and clock.state == "still" else clock.state
        if clock.state == "moved":
            clock.changes = _answer_changes(row, comparison)
        clock.changes += judge_answers(row, comparison)
        files = changed_files(clock.changes)
        notes += [f"the program changed: {', '.join(files)}"] if files else []
        clock.note = "; ".join([*notes, *_reported(base, head)]) or None


def _another_question(clock: Clock, row: DiffRow, comparison: Comparison) -> None:
    """Say how the answers compare where the model was asked something else: nothing of it accuses the model."""
    base, head = row.base or {}, row.head or {}
    same = same_answer(base, head, comparison.base, comparison.head)
    note = _ANOTHER_QUESTION[same]
    if same is False and _kind(base) != _kind(head):
        note = f"the request moved: the answers are of two kinds, {base['answer_rule']} and {head['answer_rule']}"
    clock.state = "unknown"
    clock.changes = [*(_answer_changes(row, comparison) if not same else ()), *judge_answers(row, comparison)]
    clock.note = "; ".join([note, *_reported(base, head)])


def _kind(row: Mapping[str, Any]) -> str:
    return str(row["answer_rule"]).partition("/")[0]


def _answer_changes(row: DiffRow, comparison: Comparison) -> list[Change]:
    if row.base is None or row.head is None:
        return []
    old, new = comparison.base.response(row.base), comparison.head.response(row.head)
    return [] if old is None or new is None else answer_changes(old[1], new[1])


def _reported(base: Mapping[str, Any], head: Mapping[str, Any]) -> list[str]:
    old, new = base["reported_model"], head["reported_model"]
    return [] if old == new else [f"reported model {_named(old)} → {_named(new)}"]


def _named(model: str | None) -> str:
    return "(none)" if model is None else model
