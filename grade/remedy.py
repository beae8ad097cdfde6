"""What to do about rows that could not be judged: the command that records a missing answer, and what it differs from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from golden import render
from golden.model import Planned, Suite
from golden.remedy import record_command
from grade.run import Outcome
from snapshots import miss
from snapshots.console import neutral
from snapshots.nearest import Neighbours
from snapshots.store import Store

EXPLAINED = 5


def remedies(outcome: Outcome, suite: Suite, planned: Sequence[Planned], frozen: str | None = None) -> Iterator[str]:
    """Yield one text for each missing answer, the first few with the nearest recorded request; the rest are counted.

    Args:
        outcome: the finished run.
        suite: its suite.
        planned: its rows, in suite order.
        frozen: the REF whose very observations were judged; what is missing then cannot be recorded again.
    """
    missing = [r for r in planned if _status(outcome, r) == "missing_snapshot"]
    if missing and frozen is not None:
        lost = f"{len(missing)} row{'s' if len(missing) > 1 else ''}"
        yield f"missing: {lost} of {neutral(frozen)}: restore the listed snapshots from git or a copy; a new one is another"
        return
    first: dict[tuple[str, str], Planned] = {}
    for row in missing:
        first.setdefault((row.case.id, row.target.name), row)
    neighbours = Neighbours(Store(suite.snapshots))
    for row in list(first.values())[:EXPLAINED]:
        targets = [row.target.name] if len(suite.targets) > 1 else []
        yield f"missing: {neutral(row.case.id)}: record it with: {record_command([row.case.id], targets)}"
        near = neighbours.nearest(render.render(suite, row.case, row.target).document)
        if not neighbours.is_empty:
            yield f"  {miss.reason(near)}"
    if first and neighbours.is_empty:
        yield miss.NOTHING_YET
    if len(first) > EXPLAINED:
        yield f"missing: {len(first) - EXPLAINED} more; record all with: {record_command([])}"


def _status(outcome: Outcome, row: Planned) -> str | None:
    facts = outcome.problems.get((row.case.id, row.target.name, row.trial))
    return None if facts is None else facts["status"]
