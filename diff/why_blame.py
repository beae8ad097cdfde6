"""The commit behind each clock that moved in a case, for ``why``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from diff.blame import Moved, Walk
from diff.compare import Comparison
from diff.row import DiffRow
from diff.why_changes import judge_targets
from diff.why_clocks import Clock
from golden.model import Suite
from snapshots.errors import RefError
from snapshots.store import Store

NO_GIT = "no git here: no commit is named"


def blame(clocks: list[Clock], row: DiffRow, comparison: Comparison, suite: Suite) -> str | None:
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
