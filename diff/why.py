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
from diff.why_changes import answer_changes, changed_files, changes, judge_answers, judge_requests, judge_targets
from golden.model import Suite
from snapshots.console import Console, neutral, shorten
from snapshots.errors import RefError
from snapshots.pointer import differing
from snapshots.store import Store

SCHEMA = "whichclock.why/1"
NO_GIT = "no git here: no commit is named"
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
    """What happened to one case × target, told by its first trial that moved. ``note`` says why no commit is named."""

    case_id: str
    target: str
    trial: int
    move: str
    verdict_change: str
    reason: str | None
    findings: list[str]
    clocks: list[Clock]
    note: str | None = None

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
    note = _blame(made, row, comparison, suite)
    return Why(row.case_id, row.target, row.trial, row.move, row.verdict_change, row.reason, codes(row), made, note)


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
        clock.changes = [*_code_changes(row, comparison), *judge_requests(row, comparison)]
    elif name == "expectation" and clock.state == "moved":
        old, new = base["expectation"], head["expectation"]
        asked = [] if "grader" in row.clocks else judge_requests(row, comparison)
        clock.changes = [*changes(old, new, differing(old, new)), *asked]
    return clock


def _code_changes(row: DiffRow, comparison: Comparison) -> list[dict[str, Any]]:
    """Return the digests of each moved grader, with the lines of its code that changed where both sides' sources are at hand."""
    told: list[dict[str, Any]] = []
    shown: set[tuple[Any, Any]] = set()
    for name in row.evidence.get("graders", ()):
        old, new = ((side["graders"] or {}).get(name) if side else None for side in (row.base, row.head))
        change: dict[str, Any] = {"pointer": name, "before": old, "after": new}
        if old is not None and new is not None and (old, new) not in shown:
            shown.add((old, new))  # graders of one module share its code: the lines are shown once
            change["lines"] = _code_lines(comparison.base.source(old), comparison.head.source(new))
        told.append(change)
    return told


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
    made = changes(old, new, [c["pointer"] for c in row.request_changes])
    for change, told in zip(made, row.request_changes, strict=True):
        change["part"] = told["part"]
        if change["before"] == change["after"]:  # only the order of the members differs
            change["before"] = list(old.get("order", {}).get(change["pointer"], sorted(change["before"] or ())))
            change["after"] = list(new.get("order", {}).get(change["pointer"], sorted(change["after"] or ())))
    return made


def _model(clock: Clock, row: DiffRow, comparison: Comparison) -> None:
    base, head = row.base, row.head
    if base is None or head is None:
        return
    if "request" in row.clocks:
        clock.state, clock.note = "unknown", "the request moved: another question has another answer"
    elif head["answer_hash"] is None or base["answer_hash"] is None:
        clock.state, clock.note = "unknown", f"base: {base['status']}, head: {head['status']}"
    else:
        notes = [str(row.evidence["model"])] if "model" in row.evidence else []
        clock.state = "unknown" if notes and clock.state == "still" else clock.state
        old, new = comparison.base.response(base), comparison.head.response(head)
        if clock.state == "moved" and old is not None and new is not None:
            clock.changes = answer_changes(old[1], new[1])
        clock.changes += judge_answers(row, comparison)
        files = changed_files(clock.changes)
        notes += [f"the program changed: {', '.join(files)}"] if files else []
        if "reported_model" in row.evidence:
            notes.append("reported model " + " → ".join(map(str, row.evidence["reported_model"])))
        clock.note = "; ".join(notes) or None


def _blame(clocks: list[Clock], row: DiffRow, comparison: Comparison, suite: Suite) -> str | None:
    """Name the commit of each clock that moved; return why none is named where there is no history to ask."""
    moved = [clock for clock in clocks if clock.state == "moved"]
    if row.head is None or not moved:
        return None
    try:
        walk = Walk(suite, row.case_id, row.target)
        for clock in moved:
            _set(clock, _found(walk, clock, row, comparison, suite))
    except RefError as error:
        return NO_GIT if "not a git repository" in error.message else f"no commit is named: {error.message}"
    return None


def _found(walk: Walk, clock: Clock, row: DiffRow, comparison: Comparison, suite: Suite) -> Moved | None:
    head = row.head or {}
    if clock.clock == "model":
        observed = _moved_observation(row)
        found = Store(suite.snapshots).find(observed["request_hash"], observed["trial"], observed["integrity"])
        return Moved(None, "its file is gone") if found is None else walk.recording(Path(found.path))
    if clock.clock == "grader" and clock.before == clock.after:  # no code moved: what a judge is asked did
        targets = {name: suite.targets[name] for name in judge_targets(row, comparison) if name in suite.targets}
        return walk.blame("targets", targets) if targets else None
    if clock.clock == "grader":
        names = [n for n in head["graders"] if ":" not in n]
        return walk.blame("grader", {n: head["graders"][n] for n in head["expectation"].get("graders", names)})
    return walk.blame(clock.clock, clock.after)


def _moved_observation(row: DiffRow) -> dict[str, Any]:
    """Return the recording that moved the model clock: the judge's where the answer itself stands still."""
    head = row.head or {}
    judges = row.evidence.get("judges", ())
    if judges and row.base is not None and row.base["answer_hash"] == head["answer_hash"]:
        return next(one for one in head["asked"] if one["name"] == judges[0])
    return head


def _set(clock: Clock, moved: Moved | None) -> None:
    if moved is not None:
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
        shown.append(
            f"  {clock.clock:<12} {mark}  {_hashes(clock)}"
            + (f"   {neutral(clock.moved_by)}" if clock.moved_by else "")
        )
        if clock.note:
            shown.append(f"      {neutral(clock.note)}")
        for change in clock.changes[:8]:
            part = f"{change['part']} " if "part" in change else ""
            shown.append(f"      {neutral(part + (change['pointer'] or '/'))}")
            if change.get("lines"):
                shown += [f"        {shorten(neutral(line), _LONGEST)}" for line in change["lines"][:_MOST_LINES]]
            elif clock.clock == "grader" and "part" not in change:  # a digest, whose code is not at hand
                shown[-1] += f"  {_short(change['before'])} → {_short(change['after'])}"
            else:
                shown.append(f"        - {_value(change['before'])}")
                shown.append(f"        + {_value(change['after'])}")
    return shown


def _hashes(clock: Clock) -> str:
    """Return both hashes with an arrow between them, or the one that they have in common."""
    if clock.before != clock.after:
        if clock.state == "still":
            return _short(clock.before or clock.after)
        return f"{_short(clock.before)} → {_short(clock.after)}"
    return f"{_short(clock.before)} on both sides" if clock.state == "moved" else _short(clock.before)


def _short(text: str | None) -> str:
    return "none" if text is None else text[:12]


def _value(value: Any) -> str:
    from snapshots.console import json_text

    return shorten(neutral(value if isinstance(value, str) else json_text(value)), _LONGEST)
