"""The four clocks of one case: moved or not, the hashes before and after, what exactly moved, and the commit that moved it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from difflib import unified_diff
from pathlib import Path
from typing import Any

from diff.blame import Moved, Walk
from diff.classify import CLOCKS
from diff.compare import Comparison
from diff.report import codes
from diff.row import DiffRow
from golden.model import Suite
from snapshots.console import Console, neutral, shorten
from snapshots.errors import RefError
from snapshots.pointer import differing, look_up
from snapshots.response import payload
from snapshots.store import Store

SCHEMA = "whichclock.why/1"
_LONGEST = 400
_MOST_LINES = 40


@dataclass(slots=True)
class Clock:
    """One clock of a case. ``state`` is ``moved``, ``still`` or ``unknown``; ``changes`` hold pointer, before and after."""

    clock: str
    state: str
    before: str | None
    after: str | None
    changes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    commit: str | None = None
    moved_by: str | None = None
    note: str | None = None


@dataclass(slots=True)
class Why:
    """What happened to one case × target, told by its first trial that moved."""

    case_id: str
    target: str
    trial: int
    move: str
    verdict_change: str
    reason: str | None
    findings: list[str]
    clocks: list[Clock]

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)


def why(comparison: Comparison, rows: list[DiffRow], suite: Suite) -> list[Why]:
    """Return the account of each target of a case.

    Args:
        comparison: a diff of the case alone.
        rows: its rows, all trials.
        suite: the head side's suite; commits are sought in its repository where there is one.
    """
    by_case: dict[tuple[str, str], list[DiffRow]] = {}
    for row in rows:
        by_case.setdefault((row.case_id, row.target), []).append(row)
    return [_account(comparison, _telling(trials), suite) for trials in by_case.values()]


def _telling(trials: list[DiffRow]) -> DiffRow:
    return next((r for r in trials if r.move != "none"), next((r for r in trials if r.clocks), trials[0]))


def _account(comparison: Comparison, row: DiffRow, suite: Suite) -> Why:
    made = [_clock(name, row, comparison) for name in CLOCKS]
    _blame(made, row, suite)
    return Why(row.case_id, row.target, row.trial, row.move, row.verdict_change, row.reason, codes(row), made)


def _clock(name: str, row: DiffRow, comparison: Comparison) -> Clock:
    base, head = row.base, row.head
    column = {
        "request": "request_hash",
        "model": "answer_hash",
        "grader": "grader_digest",
        "expectation": "expectation_digest",
    }[name]
    clock = Clock(
        name, "moved" if name in row.clocks else "still", base[column] if base else None, head[column] if head else None
    )
    if base is None or head is None:
        clock.state, clock.note = "unknown", "the case is on one side only"
    elif name == "request" and clock.state == "moved":
        clock.changes = _request_changes(row, comparison)
    elif name == "model":
        _model(clock, row, comparison)
    elif name == "grader" and clock.state == "moved":
        clock.changes = _code_changes(row, comparison)
    elif name == "expectation" and clock.state == "moved":
        clock.changes = _changes(
            base["expectation"], head["expectation"], list(differing(base["expectation"], head["expectation"]))
        )
    return clock


def _code_changes(row: DiffRow, comparison: Comparison) -> list[dict[str, Any]]:
    """Return the digests of each moved grader, with the lines of its code that changed where both sides' sources are at hand."""
    changes: list[dict[str, Any]] = []
    shown: set[tuple[Any, Any]] = set()
    for name in row.evidence.get("graders", ()):
        old, new = ((side["graders"] or {}).get(name) if side else None for side in (row.base, row.head))
        change: dict[str, Any] = {"pointer": name, "before": old, "after": new}
        if old is not None and new is not None and (old, new) not in shown:
            shown.add((old, new))  # graders of one module share its code: the lines are shown once
            change["lines"] = _code_lines(comparison.base.source(old), comparison.head.source(new))
        changes.append(change)
    return changes


def _code_lines(old: dict[str, Any] | None, new: dict[str, Any] | None) -> list[str]:
    if old is None or new is None:
        return []
    lines: list[str] = []
    for name in sorted({*old["files"], *new["files"]}):
        before, after = (str(side["files"].get(name, "")).splitlines() for side in (old, new))
        lines += list(unified_diff(before, after, name, name, n=1, lineterm=""))
    return lines


def _request_changes(row: DiffRow, comparison: Comparison) -> list[dict[str, Any]]:
    if row.base is None or row.head is None:
        return []
    old, new = comparison.base.document(row.base["request_hash"]), comparison.head.document(row.head["request_hash"])
    if old is None or new is None:
        return []
    changes = _changes(old, new, [c["pointer"] for c in row.request_changes])
    for change, told in zip(changes, row.request_changes, strict=True):
        change["part"] = told["part"]
        if change["before"] == change["after"]:  # only the order of the members differs
            change["before"] = list(old.get("order", {}).get(change["pointer"], sorted(change["before"] or ())))
            change["after"] = list(new.get("order", {}).get(change["pointer"], sorted(change["after"] or ())))
    return changes


def _model(clock: Clock, row: DiffRow, comparison: Comparison) -> None:
    base, head = row.base, row.head
    if base is None or head is None:
        return
    if "request" in row.clocks:
        clock.state, clock.note = "unknown", "the request moved: another question has another answer"
    elif head["answer_hash"] is None or base["answer_hash"] is None:
        clock.state, clock.note = "unknown", f"base: {base['status']}, head: {head['status']}"
    elif "model" in row.evidence:
        clock.state, clock.note = "unknown", str(row.evidence["model"])
    elif clock.state == "moved":
        old, new = comparison.base.response(base), comparison.head.response(head)
        if old is not None and new is not None:
            before, after = payload(old[1]), payload(new[1])
            clock.changes = _changes(before, after, [p for p in differing(before, after) if not _per_call(p)])
    if "reported_model" in row.evidence:
        clock.note = "reported model " + " → ".join(map(str, row.evidence["reported_model"]))


def _per_call(pointer: str) -> bool:
    return pointer.startswith(("/id", "/created", "/usage", "/timings", "/system_fingerprint", "/service_tier"))


def _changes(old: Any, new: Any, pointers: list[str]) -> list[dict[str, Any]]:
    return [{"pointer": p, "before": look_up(old, p)[1], "after": look_up(new, p)[1]} for p in pointers]


def _blame(clocks: list[Clock], row: DiffRow, suite: Suite) -> None:
    if row.head is None or not any(c.state == "moved" for c in clocks):
        return
    try:
        walk = Walk(suite, row.case_id, row.target)
        for clock in clocks:
            if clock.state == "moved":
                _set(clock, _found(walk, clock, row, suite))
    except RefError as error:
        for clock in clocks:
            if clock.state == "moved":
                clock.moved_by = f"unknown: {error.message}"


def _found(walk: Walk, clock: Clock, row: DiffRow, suite: Suite) -> Moved:
    head = row.head or {}
    if clock.clock == "model":
        found = Store(suite.snapshots).find(head["request_hash"], head["trial"], head["integrity"])
        return Moved(None, "its file is gone") if found is None else walk.recording(Path(found.path))
    if clock.clock == "grader":
        names = [n for n in head["graders"] if ":" not in n]
        return walk.blame("grader", {n: head["graders"][n] for n in head["expectation"].get("graders", names)})
    return walk.blame(clock.clock, clock.after)


def _set(clock: Clock, moved: Moved) -> None:
    clock.commit, clock.moved_by = moved.commit, moved.words


def lines(account: Why, console: Console, base: str, head: str) -> list[str]:
    """Return the account for a terminal."""
    what = f"{account.verdict_change.replace('_', ' ')}, {account.move}" + (
        f" ({account.reason})" if account.reason else ""
    )
    shown = [
        console.paint(f"{neutral(account.case_id)} [{neutral(account.target)} #{account.trial}]: {what}", "bold"),
        f"  {neutral(base)} → {neutral(head)}" + (f"   {'; '.join(account.findings)}" if account.findings else ""),
    ]
    for clock in account.clocks:
        mark = {
            "moved": console.paint("moved  ", "red"),
            "still": "still  ",
            "unknown": console.paint("unknown", "yellow"),
        }[clock.state]
        hashes = (
            _short(clock.before or clock.after)
            if clock.state == "still" or clock.before == clock.after
            else f"{_short(clock.before)} → {_short(clock.after)}"
        )
        shown.append(
            f"  {clock.clock:<12} {mark}  {hashes}" + (f"   {neutral(clock.moved_by)}" if clock.moved_by else "")
        )
        if clock.note:
            shown.append(f"      {neutral(clock.note)}")
        for change in clock.changes[:8]:
            part = f"{change['part']} " if "part" in change else ""
            shown.append(f"      {neutral(part + (change['pointer'] or '/'))}")
            if change.get("lines"):
                shown += [f"        {shorten(neutral(line), _LONGEST)}" for line in change["lines"][:_MOST_LINES]]
                continue
            shown.append(f"        - {_value(change['before'])}")
            shown.append(f"        + {_value(change['after'])}")
    return shown


def _short(text: str | None) -> str:
    return "none" if text is None else text[:12]


def _value(value: Any) -> str:
    from snapshots.console import json_text

    return shorten(neutral(value if isinstance(value, str) else json_text(value)), _LONGEST)
