"""What a capture would cost, before it does: the calls by target, and the edit behind each miss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from capture import log as capture_log
from capture import plan
from capture.modes import Asking, Mode, decide
from capture.options import CaptureOptions
from capture.result import Outcome
from golden.model import Planned, Suite
from snapshots import miss
from snapshots.console import neutral, shorten, table
from snapshots.nearest import Near, Neighbours
from snapshots.store import Store

SCHEMA = "whichclock.capture-bill/1"
_EXPLAINED = 200
"""Most misses whose edit is looked for; each costs a comparison with a sample of the store."""


@dataclass(frozen=True, slots=True)
class Line:
    """One identity that would be asked, or that is missing in a mode that does not ask."""

    case_id: str
    target: str
    trial: int
    request_hash: str
    recorded: bool
    nearest: Near | None


@dataclass(frozen=True, slots=True)
class Bill:
    """What a run would do. ``calls`` counts first attempts; ``by_target`` splits them."""

    planned: int
    calls: int
    by_target: dict[str, int]
    replayed: int
    failed: tuple[str, ...]
    lines: tuple[Line, ...]
    is_empty: bool
    """Nothing is recorded at all, so that no line has a reason of its own."""

    def as_dict(self) -> dict[str, Any]:
        """Return the one object that ``--dry-run --format json`` prints."""
        summary = {"planned": self.planned, "calls": self.calls, "replayed": self.replayed, "failed": len(self.failed)}
        rows = [_row(line) for line in self.lines]
        return {"schema": SCHEMA, "summary": summary, "targets": self.by_target, "rows": rows}


def bill(suite: Suite, planned: Sequence[Planned], options: CaptureOptions) -> Bill:
    """Return what ``capture`` would ask with the same arguments, without asking or writing anything.

    Raises:
        UsageError: no row is planned.
        ConfigError: a case cannot be rendered for its target.
    """
    if not planned:
        raise plan.nothing()
    store = Store(suite.snapshots)
    neighbours = Neighbours(store)
    resumed: set[tuple[str, int]] = set()
    if options.resume is not None:
        resumed = capture_log.answered(options.resume, root=suite.snapshots, suite=suite.name)
    calls: Counter[str] = Counter()
    lines: list[Line] = []
    failed: list[str] = []
    replayed = 0
    for job in plan.jobs(suite, planned):
        decision = decide(store, *job.identity, options.mode, resumed=job.identity in resumed)
        if not isinstance(decision, Asking):
            if decision.outcome is Outcome.REPLAYED:
                replayed += len(job.rows)
                continue
            if decision.outcome is Outcome.FAILED:
                failed.append(decision.error or "")
                continue
        target = job.planned.target.name
        recorded = isinstance(decision, Asking) and decision.current is not None
        if options.mode is not Mode.REPLAY:
            calls[target] += 1
        explained = not recorded and len(lines) < _EXPLAINED
        near = neighbours.nearest(job.rendered.document) if explained else None
        lines.append(Line(job.planned.case.id, target, job.trial, job.request_hash, recorded, near))
    is_empty = any(line.nearest is None and not line.recorded for line in lines) and neighbours.is_empty
    return Bill(
        len(planned), sum(calls.values()), dict(sorted(calls.items())), replayed, tuple(failed), tuple(lines), is_empty
    )


def bill_lines(bill: Bill) -> Iterator[str]:
    """Yield the bill for people, neutral."""
    if bill.is_empty:
        yield miss.NOTHING_YET
    for line in bill.lines:
        trial = f" trial {line.trial}" if line.trial else ""
        why = "" if bill.is_empty else f"  {_why(line)}"
        yield f"{shorten(neutral(line.case_id), 60)}  {neutral(line.target)}{trial}{why}"
    for error in bill.failed:
        yield neutral(error)
    if bill.by_target:
        counts = [(neutral(name), str(count)) for name, count in bill.by_target.items()]
        yield from table(["target", "calls"], counts, right=[1])
    calls = f"{bill.calls} call{'' if bill.calls == 1 else 's'}, retries not counted"
    yield f"{bill.planned} planned, {bill.replayed} replayed: {calls}"


def _why(line: Line) -> str:
    return "recorded, asked again" if line.recorded else miss.reason(line.nearest)


def _row(line: Line) -> dict[str, Any]:
    near = line.nearest
    return {
        "case_id": line.case_id,
        "target": line.target,
        "trial": line.trial,
        "request_hash": line.request_hash,
        "recorded": line.recorded,
        "nearest": None if near is None else {"request_hash": near.request_hash, "pointers": list(near.pointers)},
    }
