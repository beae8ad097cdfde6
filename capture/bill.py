"""What a capture would cost, before it does: the calls by target, and the edit behind each miss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from capture import log as capture_log
from capture import plan
from capture.judges import Judges, Round, any_asks, is_judged, judges_mode
from capture.modes import Asking, Mode, decide
from capture.options import CaptureOptions
from capture.plan import Job, Wanted
from capture.result import Outcome
from golden.model import Planned, Suite
from snapshots import miss
from snapshots.console import neutral, shorten, table
from snapshots.errors import StoreError
from snapshots.nearest import Near, Neighbours
from snapshots.store import Found, Store

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
    asked: str | None = None
    """``grader/name`` for what a grader asks."""


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
    more: bool = False
    """Graders may ask about answers that are not recorded yet."""

    def as_dict(self) -> dict[str, Any]:
        """Return the one object that ``--dry-run --format json`` prints."""
        summary = {"planned": self.planned, "calls": self.calls, "replayed": self.replayed, "failed": len(self.failed)}
        rows = [_row(line) for line in self.lines]
        return {"schema": SCHEMA, "summary": summary, "targets": self.by_target, "more": self.more, "rows": rows}


def bill(suite: Suite, planned: Sequence[Planned], options: CaptureOptions) -> Bill:
    """Return what ``capture`` would ask with the same arguments, without asking or writing anything.

    What graders ask is told for the answers that are recorded.

    Raises:
        UsageError: no row is planned.
        ConfigError: a case cannot be rendered for its target, or the graders do not load.
    """
    if not planned:
        raise plan.nothing()
    made = _Billing(suite, options)
    made.add(plan.wanted(suite, planned), options.mode)
    mode = judges_mode(options)
    if mode is not Mode.OFF and any_asks(suite, planned):
        made.add_judges(planned, mode)
    return made.bill()


class _Billing:
    """Adds up a bill."""

    def __init__(self, suite: Suite, options: CaptureOptions) -> None:
        self._suite = suite
        self._store = Store(suite.snapshots)
        self._neighbours = Neighbours(self._store)
        self._jobs = plan.Jobs()
        self._resumed: set[tuple[str, int]] = set()
        if options.resume is not None:
            self._resumed = capture_log.answered(options.resume, root=suite.snapshots, suite=suite.name)
        self._calls: Counter[str] = Counter()
        self._lines: list[Line] = []
        self._failed: list[str] = []
        self._replayed = 0
        self._more = False

    def add(self, rows: Iterable[Wanted], mode: Mode, unusable: Collection[tuple[str, int]] = ()) -> None:
        """Add rows that are answered in a mode."""
        for job in self._jobs.add(rows):
            is_resumed = job.identity in self._resumed
            decision = decide(self._store, *job.identity, mode, resumed=is_resumed, unusable=job.identity in unusable)
            if isinstance(decision, Asking) or decision.outcome is Outcome.MISSED:
                self._add_line(job, mode, recorded=isinstance(decision, Asking) and decision.current is not None)
            elif decision.outcome is Outcome.REPLAYED:
                self._replayed += len(job.rows)
            else:
                self._failed.append(decision.error or "")

    def add_judges(self, planned: Sequence[Planned], mode: Mode) -> None:
        """Add what graders ask about the answers that are recorded, as far as its own answers are."""
        rows: dict[int, tuple[Planned, Found]] = {}
        for job in self._jobs.all:
            found = self._current(job)
            rows.update((place, (planned[place], found)) for place in job.rows if found is not None)
            self._more = self._more or (found is None and any(is_judged(planned[place].case) for place in job.rows))
        with Judges(self._suite, planned) if rows else nullcontext() as judges:
            told = judges.round(dict(sorted(rows.items()))) if judges is not None else Round()
            while judges is not None and (told.wanted or told.faults):
                self._failed += [f"{row.case.id}: {fault}" for row, fault in told.faults]
                before = len(self._lines)
                self.add(told.wanted, mode, told.unusable)
                self._more = self._more or len(self._lines) > before  # a further round may hang on these
                told = judges.round(rows) if told.wanted else Round()

    def _current(self, job: Job) -> Found | None:
        try:
            return self._store.current(*job.identity)
        except StoreError:
            return None  # among the failed already

    def _add_line(self, job: Job, mode: Mode, *, recorded: bool) -> None:
        target = job.planned.target.name
        if mode is not Mode.REPLAY:
            self._calls[target] += 1
        explained = not recorded and len(self._lines) < _EXPLAINED
        near = self._neighbours.nearest(job.rendered.document) if explained else None
        line = Line(job.planned.case.id, target, job.trial, job.request_hash, recorded, near, job.asked)
        self._lines.append(line)

    def bill(self) -> Bill:
        """Return the bill."""
        is_empty = any(line.nearest is None and not line.recorded for line in self._lines) and self._neighbours.is_empty
        return Bill(
            planned=len(self._jobs.rows),
            calls=self._calls.total(),
            by_target=dict(sorted(self._calls.items())),
            replayed=self._replayed,
            failed=tuple(self._failed),
            lines=tuple(self._lines),
            is_empty=is_empty,
            more=self._more,
        )


def bill_lines(bill: Bill) -> Iterator[str]:
    """Yield the bill for people, neutral."""
    if bill.is_empty:
        yield miss.NOTHING_YET
    for line in bill.lines:
        trial = f" trial {line.trial}" if line.trial else ""
        why = "" if bill.is_empty else f"  {_why(line)}"
        asked = f"  for {neutral(line.asked)}" if line.asked else ""
        yield f"{shorten(neutral(line.case_id), 60)}  {neutral(line.target)}{trial}{asked}{why}"
    for error in bill.failed:
        yield neutral(error)
    if bill.by_target:
        counts = [(neutral(name), str(count)) for name, count in bill.by_target.items()]
        yield from table(["target", "calls"], counts, right=[1])
    calls = f"{bill.calls} call{'' if bill.calls == 1 else 's'}, retries not counted"
    yield f"{bill.planned} planned, {bill.replayed} replayed: {calls}"
    if bill.more:
        yield "what graders ask about answers that are not recorded yet is not counted: it may bring more calls"


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
        **({} if line.asked is None else {"asked": line.asked}),
    }
