"""What to do about rows that could not be judged: the command that records a missing answer, and what it differs from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from golden import render
from golden.model import Planned, Suite
from golden.remedy import record_command
from grade.lacking import Lack, lacking
from grade.run import Outcome
from snapshots import miss
from snapshots.console import neutral
from snapshots.nearest import Neighbours
from snapshots.store import Store

EXPLAINED = 5
_ASKED_FOR = 3
"""Requests of graders' own whose reason is told for one row."""


def remedies(outcome: Outcome, suite: Suite, planned: Sequence[Planned], frozen: str | None = None) -> Iterator[str]:
    """Yield one text for each missing answer, the first few with the nearest recorded request; the rest are counted.

    What is missing is a completion, or an answer to a request of a grader's or check's own: each is told of its own request.

    Args:
        outcome: the finished run.
        suite: its suite.
        planned: its rows, in suite order.
        frozen: the REF whose very observations were judged; what is missing then cannot be recorded again.
    """
    missing = [r for r in planned if _facts(outcome, r).get("status") == "missing_snapshot"]
    if missing and frozen is not None:
        lost = f"{len(missing)} row{'s' if len(missing) > 1 else ''}"
        yield f"missing: {lost} of {neutral(frozen)}: restore the listed snapshots from git or a copy; a new one is another"
        return
    first: dict[tuple[str, str], Planned] = {}
    for row in missing:
        first.setdefault((row.case.id, row.target.name), row)
    told = list(first.values())[:EXPLAINED]
    neighbours = Neighbours(Store(suite.snapshots))
    # A row whose completion was read lacks what its graders and checks ask for.
    lacks = _lacks(suite, [row for row in told if _facts(outcome, row)["answer_hash"] is not None])
    for row in told:
        targets = [row.target.name] if len(suite.targets) > 1 else []
        yield f"missing: {neutral(row.case.id)}: record it with: {record_command([row.case.id], targets)}"
        key = row.case.id, row.target.name
        if key in lacks:
            yield from _own_requests(lacks[key], neighbours)
        elif not neighbours.is_empty:
            yield f"  {miss.reason(neighbours.nearest(render.render(suite, row.case, row.target).document))}"
    if first and neighbours.is_empty:
        yield miss.NOTHING_YET
    if len(first) > EXPLAINED:
        yield f"missing: {len(first) - EXPLAINED} more; record all with: {record_command([])}"


def _facts(outcome: Outcome, row: Planned) -> dict[str, object]:
    return outcome.problems.get((row.case.id, row.target.name, row.trial), {})


def _lacks(suite: Suite, rows: Sequence[Planned]) -> dict[tuple[str, str], list[Lack]]:
    told = lacking(suite, rows) if rows else []
    return {(row.case.id, row.target.name): lacks for row, lacks in zip(rows, told, strict=True)}


def _own_requests(lacks: Sequence[Lack], neighbours: Neighbours) -> Iterator[str]:
    for lack in lacks[:_ASKED_FOR]:
        yield f"  {neutral(lack.label)} to {neutral(lack.target)}: {miss.reason(neighbours.nearest(lack.document))}"
    if len(lacks) > _ASKED_FOR:
        yield f"  and {len(lacks) - _ASKED_FOR} more that its graders and checks ask for"
