"""Run a capture: the store first, then the targets, then what graders ask, each identity at most once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace

from capture import log as capture_log
from capture import plan
from capture.ask import Asker
from capture.budget import Budget, require_prices
from capture.ceiling import Ceiling
from capture.explain import Explainer
from capture.judges import Judges, any_asks, judges_mode
from capture.live_lock import live_lock
from capture.modes import Asking, Mode, damaged, decide
from capture.new_store import prepare
from capture.options import CaptureOptions
from capture.phase import Asks, Phase, Todo
from capture.plan import Job, Wanted
from capture.program import Programs
from capture.record import AHEAD_S, Recorder
from capture.result import CaptureResult, Ended, Outcome, Row
from capture.rounds import Rounds
from capture.row import row_of
from capture.thrash import golden_digest, thrashing
from capture.transport import Transport
from capture.unreadable import unreadable
from golden import program
from golden.model import Planned, Suite
from golden.unmetered import unmetered
from snapshots.errors import CorruptSnapshot, StoreError
from snapshots.store import Store
from snapshots.version import TOOL

_INTERRUPTED = Ended(Outcome.FAILED, error="interrupted before it was answered", is_unasked=True)
_TERMINATED = 143


def capture(suite: Suite, planned: Sequence[Planned], options: CaptureOptions | None = None) -> CaptureResult:
    """Answer every planned row from the store or its target, as the mode says, and store what is new.

    Args:
        suite: where the store is, and how requests are rendered.
        planned: the rows, in suite order.
        options: mode, limits and seams.

    Raises:
        UsageError: no row is planned, the log to resume is not this suite's, or a price is missing for ``max_cost``.
        ConfigError: a case cannot be rendered for its target, or the graders do not load.
        OperatorError: another live capture of the store is running.
        StoreError: the store cannot be made, or its log cannot be written.
    """
    if not planned:
        raise plan.nothing()
    rows = plan.wanted(suite, planned)
    result = capture_rows(suite, rows, options or CaptureOptions())
    told = unmetered(suite, ((row.planned, row.rendered) for row in rows))
    return replace(result, warnings=(*told, *result.warnings))


def capture_rows(
    suite: Suite, rows: Sequence[Wanted], options: CaptureOptions, lost: Sequence[Row] = ()
) -> CaptureResult:
    """Answer rows that are rendered already; see ``capture``.

    Args:
        suite: where the store is.
        rows: what to answer.
        options: mode, limits and seams.
        lost: rows that cannot be asked, with the reason; they are reported with the others.
    """
    run = _Run(suite, options)
    run.faults += lost
    is_live = options.asker is None and Mode.LIVE in (options.mode, options.judges)
    with live_lock(suite.snapshots, options.now()) if is_live else nullcontext():
        run.answer(rows)
    return run.result()


class _Run:
    """The state of one capture."""

    def __init__(self, suite: Suite, options: CaptureOptions) -> None:
        self._suite = suite
        self._options = options
        self._store = Store(suite.snapshots)
        self._jobs = plan.Jobs()
        self._ended: dict[tuple[str, int], Ended] = {}
        self.faults: list[Row] = []
        self._log: capture_log.CaptureLog | None = None
        self._budget = Budget(options.max_calls, options.max_cost, suite.prices)
        self._phase: Phase | None = None
        self._broken: str | None = None
        self._explain = Explainer(self._store)
        self._interrupted = False
        self._ahead_s = 0
        self._resumed: set[tuple[str, int]] = set()
        self._warned: dict[str, None] = {}

    def answer(self, rows: Sequence[Wanted]) -> None:
        """Answer rows, and after them what their graders ask."""
        options, suite = self._options, self._suite
        if options.resume is not None:
            self._resumed = capture_log.answered(options.resume, root=suite.snapshots, suite=suite.name)
        planned = [row.planned for row in rows]
        mode = judges_mode(options)
        asking = mode is not Mode.OFF and any_asks(suite, planned)
        if asking and options.mode in (Mode.AUTO, Mode.LIVE):
            # The worker is closed before the first answer comes: it can only read what is there by then.
            prepare(suite.snapshots)
        jobs = self._jobs.add(rows)
        try:
            with Judges(suite, planned) if asking else nullcontext() as judges:
                self._answer(jobs, options.mode, set())
                if judges is not None:
                    self._rounds(judges, planned, mode)
        except (KeyboardInterrupt, SystemExit) as stopped:
            # Between two phases nothing is asked, but what was answered before is told all the same.
            if isinstance(stopped, SystemExit) and stopped.code != _TERMINATED:
                raise
            self._interrupted = True
        finally:
            if self._log is not None:
                self._log.close(self.result().summary)

    def _answer(self, jobs: list[Job], mode: Mode, unusable: set[tuple[str, int]]) -> None:
        """End what the store can answer or refuse to have asked, and ask for the rest."""
        todo: Todo = []
        ended: list[tuple[Job, Ended]] = []
        for job in jobs:
            is_resumed = job.identity in self._resumed
            decision = decide(self._store, *job.identity, mode, resumed=is_resumed, unusable=job.identity in unusable)
            if isinstance(decision, Asking):
                todo.append((job, decision.current))
            else:
                self._compare_program(job, decision)
                ended.append((job, self._explain.ended(job, decision)))
        if todo and self._log is None:
            self._open_log(mode)
        self._end(ended)
        if todo and not self._is_over:
            self._ask(todo, mode)

    @property
    def _is_over(self) -> bool:
        return self._interrupted or self._broken is not None

    def _compare_program(self, job: Job, ended: Ended) -> None:
        """Warn where a replayed answer came from another program than the one that is there today."""
        target = job.planned.target
        if ended.program is None or target.type != "exec":
            return
        for name in program.moved(ended.program, program.digests(self._suite.root, target.command)):
            self._warned.setdefault(
                f"target {target.name}: {name} is another file than when answers were recorded; "
                "they are replayed all the same: a new salt, or --mode live, asks again"
            )

    def _open_log(self, mode: Mode) -> None:
        if mode is not Mode.OFF:  # that one stores nothing and leaves a log alone
            prepare(self._suite.snapshots)
        suite, options = self._suite, self._options
        told = {"control": options.control} if options.control is not None else {}
        if options.control is None and options.asker is None:
            told = {"golden": golden_digest(suite)}
        self._log = capture_log.CaptureLog(
            suite.snapshots, suite=suite.name, mode=options.mode.value, second=options.now(), told=told
        )
        if options.control is None and options.asker is None:
            found = thrashing(self._store, self._log.path, suite, self._jobs.rows)
            self._warned.update(dict.fromkeys(found))
        done = [(job, self._ended[job.identity]) for job in self._jobs.all if job.identity in self._ended]
        self._log.add(done)

    def _ask(self, todo: Todo, mode: Mode) -> None:
        if self._options.max_cost is not None:
            # What a grader asks without a price is refused row by row: by then the completions are paid for.
            own = {job.planned.target.name: job.planned.target for job, _ in todo if job.asked is None}
            require_prices(self._suite.prices, own)
        recorder = Recorder(self._store, self._suite, mode=mode, tool=TOOL, now=self._options.now)
        self._options.on_asking(sum(len(job.rows) for job, _ in todo if job.identity not in self._ended))
        phase = self._phase = Phase(self._options.concurrency, recorder, self._end)
        try:
            asyncio.run(phase.run(todo, (self._options.asker or self._asker)(todo)))
            self._report_current(phase)
        finally:
            self._interrupted = self._interrupted or phase.interrupted
            self._broken = self._broken or phase.broken

    @asynccontextmanager
    async def _asker(self, todo: Todo) -> AsyncGenerator[Asks]:
        environ = os.environ if self._options.environ is None else self._options.environ
        targets = {job.planned.target.name: job.planned.target for job, _ in todo}
        most = sum(target.concurrency for target in targets.values() if target.type == "exec")
        with Programs(min(most, len(todo))) as programs:
            async with self._transport() as transport:
                yield Asker(self._suite, self._options, environ, self._budget, transport, programs)

    def _transport(self) -> Transport:
        if self._options.transport is not None:
            return self._options.transport()
        from capture.http_transport import HttpTransport

        return HttpTransport(user_agent=TOOL)

    def _rounds(self, judges: Judges, planned: Sequence[Planned], mode: Mode) -> None:
        Rounds(
            judges=judges,
            store=self._store,
            jobs=self._jobs,
            ended=self._ended,
            answer=lambda jobs, unusable: self._answer(jobs, mode, unusable),
            is_over=lambda: self._is_over,
            faults=self.faults,
            changed=self._log_again,
        ).run(planned)

    def _log_again(self, ended: list[tuple[Job, Ended]]) -> None:
        if self._log is not None and self._broken is None:
            self._log.add(ended)

    def _end(self, ended: list[tuple[Job, Ended]]) -> None:
        try:
            if self._log is not None:
                self._log.add(ended)
        except StoreError as error:
            if self._phase is None:
                raise
            self._phase.break_off(error.message)
        for job, end in ended:
            is_first = job.identity not in self._ended
            self._ended[job.identity] = end
            for _ in job.rows if is_first else ():
                self._options.on_done(end.outcome)

    def _report_current(self, phase: Phase) -> None:
        """List again what was written: where another process wrote too, all report the answer that all will read."""
        listed: set[str] = set()
        for filed in phase.filed:
            written = filed.found
            if written is None:
                continue
            job, found = filed.item.job, written
            self._ahead_s = max(self._ahead_s, filed.ahead_s)
            try:
                found = self._store.current(*job.identity, fresh=written.folder not in listed)
                listed.add(written.folder)
                if found is not None and found.name != written.name:
                    answer = self._store.read(found).answer_hash
                    self._ended[job.identity] = replace(self._ended[job.identity], answer_hash=answer)
            except (CorruptSnapshot, StoreError) as error:
                self._ended[job.identity] = damaged(error, found)

    def result(self) -> CaptureResult:
        """Return the rows in suite order and what there is to say about the run."""
        places: dict[int, Row] = {}
        left = _INTERRUPTED
        if self._broken is not None:
            left = replace(left, error=f"not asked: {self._broken}")
        for job in self._jobs.all:
            ended = self._ended.get(job.identity, left)
            for i, place in enumerate(job.rows):
                places[place] = row_of(self._jobs.rows[place], ended, shared=i > 0)
        return CaptureResult(
            rows=(*(places[place] for place in sorted(places)), *self.faults),
            calls=self._budget.calls,
            cost_usd=self._budget.told_cost,
            warnings=self._warnings(),
            log=None if self._log is None else self._log.path,
            interrupted=self._interrupted,
            too_dear_usd=Ceiling(self._suite).too_dear(self._left(), self._options.max_cost),
        )

    def _left(self) -> list[Job]:
        return [job for job in self._jobs.all if job.identity in self._ended and self._ended[job.identity].is_left]

    def _warnings(self) -> tuple[str, ...]:
        if self._ahead_s > AHEAD_S:
            ahead = f"an answer was recorded {self._ahead_s // 60} minutes ahead of this machine's clock"
            self._warned.setdefault(f"{ahead}, to stand behind the one before it: a clock was wrong then, or is now")
        return (*self._warned, *unreadable(self._jobs.all, self._ended))


__all__ = ["CaptureOptions", "CaptureResult", "Mode", "capture"]
