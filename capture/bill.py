"""What a capture would cost, before it does: the calls by target, and the edit behind each miss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from capture import log as capture_log
from capture import plan
from capture.budget import require_prices
from capture.ceiling import Ceiling, dollars
from capture.judges import Judges, Round, any_asks, is_judged, judges_mode
from capture.modes import Asking, Mode, decide
from capture.options import CaptureOptions
from capture.plan import Job, Wanted
from capture.result import Outcome
from capture.storable import Storable
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
    refused: str | None = None
    """Why it would not be asked after all."""


@dataclass(frozen=True, slots=True)
class Bill:
    """What a run would do. ``calls`` counts first attempts; ``by_target`` splits them.

    ``most_usd`` is what those of them cost at most that limit their output, by the suite's prices, ``None`` without any;
    ``unlimited`` counts the others. ``max_cost`` is the budget.
    """

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
    most_usd: float | None = None
    unlimited: int = 0
    max_cost: float | None = None

    @property
    def refused(self) -> int:
        """Return how many would not be asked after all."""
        return sum(line.refused is not None for line in self.lines)

    def as_dict(self) -> dict[str, Any]:
        """Return the one object that ``--dry-run --format json`` prints."""
        summary = {
            "planned": self.planned,
            "calls": self.calls,
            "replayed": self.replayed,
            "failed": len(self.failed),
            "refused": self.refused,
            "most_usd": self.most_usd,
            "unlimited": self.unlimited,
        }
        rows = [_row(line) for line in self.lines]
        return {"schema": SCHEMA, "summary": summary, "targets": self.by_target, "more": self.more, "rows": rows}


def bill(suite: Suite, planned: Sequence[Planned], options: CaptureOptions) -> Bill:
    """Return what ``capture`` would ask with the same arguments, without asking or writing anything.

    What graders ask is told for the answers that are recorded.

    Raises:
        UsageError: no row is planned, or a price is missing for ``max_cost``.
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
        self._options = options
        self._ceiling = Ceiling(suite)
        self._storable = Storable(suite.redaction)
        self._most = 0.0
        self._unlimited = 0
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
        refused = None if mode is Mode.REPLAY else self._refusal(job)
        if mode is not Mode.REPLAY and refused is None:
            self._count(job)
        explained = not recorded and len(self._lines) < _EXPLAINED
        near = self._neighbours.nearest(job.rendered.document) if explained else None
        line = Line(job.planned.case.id, target, job.trial, job.request_hash, recorded, near, job.asked, refused)
        self._lines.append(line)

    def _refusal(self, job: Job) -> str | None:
        """Return why a call would not be made for certain; what hangs on the variables of today's environment is left out."""
        refused = self._storable.refuse_request(job.rendered.document)
        if refused is not None:
            return refused.error
        most, limit = self._options.max_calls, self._options.max_cost
        if limit is not None:
            if job.asked is None:
                require_prices(self._suite.prices, {job.planned.target.name: job.planned.target})
            if (model := self._ceiling.unpriced(job)) is not None:
                return f"there is no price for model {model!r}"
            if self._ceiling.too_dear([job], limit) is not None:
                return f"over the budget of {limit:g} US dollars"
        return f"over the budget of {most} calls" if most is not None and self._calls.total() >= most else None

    def _count(self, job: Job) -> None:
        self._calls[job.planned.target.name] += 1
        if self._ceiling.is_limited(job):
            self._most += self._ceiling.most(job)
        else:
            self._unlimited += 1

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
            most_usd=self._most if self._suite.prices else None,
            unlimited=self._unlimited if self._suite.prices else 0,
            max_cost=self._options.max_cost,
        )


def bill_lines(bill: Bill) -> Iterator[str]:
    """Yield the bill for people, neutral."""
    if bill.is_empty:
        yield miss.NOTHING_YET
    for line in bill.lines:
        trial = f" trial {line.trial}" if line.trial else ""
        why = "" if bill.is_empty and line.refused is None else f"  {_why(line)}"
        asked = f"  for {neutral(line.asked)}" if line.asked else ""
        yield f"{shorten(neutral(line.case_id), 60)}  {neutral(line.target)}{trial}{asked}{why}"
    for error in bill.failed:
        yield neutral(error)
    if bill.by_target:
        counts = [(neutral(name), str(count)) for name, count in bill.by_target.items()]
        yield from table(["target", "calls"], counts, right=[1])
    calls = f"{bill.calls} call{'' if bill.calls == 1 else 's'}, retries not counted"
    refused = f", {bill.refused} refused" if bill.refused else ""
    yield f"{bill.planned} planned, {bill.replayed} replayed{refused}: {calls}"
    if bill.most_usd is not None and bill.calls:
        yield from _cost_lines(bill, bill.most_usd)
    if bill.more:
        yield "what graders ask about answers that are not recorded yet is not counted: it may bring more calls"


def _cost_lines(bill: Bill, most: float) -> Iterator[str]:
    have = "1 call has" if bill.unlimited == 1 else f"{bill.unlimited} calls have"
    more = f"; {have} no limit" if bill.unlimited else ""
    if bill.unlimited < bill.calls:
        yield f"at most {dollars(most)} for the calls whose output is limited{more}"
    else:
        yield f"what they cost at most is not known: {have} no limit"
    if bill.max_cost is not None and (bill.unlimited or most > bill.max_cost):
        yield f"the budget of {bill.max_cost:g} US dollars may end the run before the last of them"


def _why(line: Line) -> str:
    if line.refused is not None:
        return f"refused: {neutral(line.refused)}"
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
        **({} if line.refused is None else {"refused": line.refused}),
    }
