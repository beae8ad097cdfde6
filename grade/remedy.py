"""What to do about rows that could not be judged: the command that records a missing answer, and what it differs from."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from golden import render
from golden.model import Planned, Suite
from grade.run import Outcome
from snapshots import nearest
from snapshots.console import neutral
from snapshots.store import Store

EXPLAINED = 5


def remedies(outcome: Outcome, suite: Suite, planned: Sequence[Planned]) -> Iterator[str]:
    """Yield one text for each missing answer, the first few with the nearest recorded request; the rest are counted."""
    missing = [r for r in planned if _status(outcome, r) == "missing_snapshot"]
    store = Store(suite.snapshots)
    told: set[tuple[str, str]] = set()
    for row in missing:
        key = row.case.id, row.target.name
        if key in told:
            continue
        told.add(key)
        if len(told) <= EXPLAINED:
            yield f"missing: {neutral(row.case.id)}: record it with: {command(row, suite)}"
            found = nearest.nearest(store, render.render(suite, row.case, row.target).document)
            if found is not None:
                yield f"  nearest recorded request {found[0][:12]} differs at {', '.join(map(neutral, found[1][:6]))}"
    if len(told) > EXPLAINED:
        yield f"missing: {len(told) - EXPLAINED} more; record all with: whichclock capture"


def command(row: Planned, suite: Suite) -> str:
    """Return the command that records a row."""
    words = ["whichclock", "capture", _exact(row.case.id)]
    if len(suite.targets) > 1:
        words += ["--target", row.target.name]
    return neutral(shlex.join(words))


def _exact(case_id: str) -> str:
    """Return a CASE argument that means this id alone: in a glob, [ ] quotes its own characters."""
    if any(c in case_id for c in "*?["):
        return "".join(f"[{c}]" if c in "*?[" else c for c in case_id)
    return case_id


def _status(outcome: Outcome, row: Planned) -> str | None:
    facts = outcome.problems.get((row.case.id, row.target.name, row.trial))
    return None if facts is None else facts["status"]
