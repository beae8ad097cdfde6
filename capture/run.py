"""Run a capture: the store first, then the targets, each identity at most once."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from capture import log as capture_log
from capture import plan
from capture.ask import Answered, Asker
from capture.interrupt import stops_on_signals
from capture.modes import Asking, Current, Mode, damaged, decide
from capture.new_store import prepare
from capture.options import CaptureOptions
from capture.plan import Job
from capture.record import AHEAD_S, Filed, Item, Recorder
from capture.result import CaptureResult, Ended, Outcome, Row
from capture.transport import Transport
from golden.model import Planned, Suite
from snapshots import miss
from snapshots.errors import CorruptSnapshot, StoreError
from snapshots.nearest import Neighbours
from snapshots.store import Found, Store
from snapshots.version import TOOL

_EXPLAINED = 200
"""Most misses whose reason is looked for; each costs a comparison with a sample of the store."""
_INTERRUPTED = Ended(Outcome.FAILED, error="interrupted before it was answered")


def capture(suite: Suite, planned: Sequence[Planned], options: CaptureOptions | None = None) -> CaptureResult:
    """Answer every planned row from the store or its target, as the mode says, and store what is new.

    Args:
        suite: where the store is, and how requests are rendered.
        planned: the rows, in suite order.
        options: mode, limits and seams.

    Raises:
        UsageError: no row is planned, or the log to resume is not this suite's.
        ConfigError: a case cannot be rendered for its target.
        StoreError: the store cannot be made, or its log cannot be written.
    """
    if not planned:
        raise plan.nothing()
    run = _Run(suite, planned, options or CaptureOptions())
    run.from_store()
    if run.todo:
        run.from_targets()
    return run.result()


class _Run:
    """The state of one capture."""

    def __init__(self, suite: Suite, planned: Sequence[Planned], options: CaptureOptions) -> None:
        self._suite = suite
        self._planned = planned
        self._options = options
        self._store = Store(suite.snapshots)
        self._jobs = plan.jobs(suite, planned)
        self._ended: dict[tuple[str, int], Ended] = {}
        self._written: list[tuple[Job, Found]] = []
        self._log: capture_log.CaptureLog | None = None
        self._asker: Asker | None = None
        self._asking: set[asyncio.Task[Any]] = set()
        self._broken: str | None = None
        self._neighbours = Neighbours(self._store)
        self._explanations = 0
        self._stopping = False
        self._interrupted = False
        self._ahead_s = 0
        self.todo: list[tuple[Job, Current | None]] = []

    def from_store(self) -> None:
        """End what the store can answer or refuse to have asked; the rest is to do."""
        resumed: set[tuple[str, int]] = set()
        if self._options.resume is not None:
            resumed = capture_log.answered(self._options.resume, root=self._suite.snapshots, suite=self._suite.name)
        for job in self._jobs:
            decision = decide(self._store, *job.identity, self._options.mode, resumed=job.identity in resumed)
            if isinstance(decision, Asking):
                self.todo.append((job, decision.current))
            else:
                self._end([(job, self._explained(job, decision))])

    def _explained(self, job: Job, ended: Ended) -> Ended:
        """Return a miss with the reason for it: what the request differs in from the nearest recorded one."""
        if ended.outcome is not Outcome.MISSED or self._explanations == _EXPLAINED or self._neighbours.is_empty:
            return ended
        self._explanations += 1
        why = miss.reason(self._neighbours.nearest(job.rendered.document))
        return replace(ended, error=f"{ended.error}: {why}")

    def from_targets(self) -> None:
        """Ask for what is to do."""
        if self._options.mode is not Mode.OFF:  # that one stores nothing and leaves a log alone
            prepare(self._suite.snapshots)
        mode = self._options.mode.value
        self._log = capture_log.CaptureLog(
            self._suite.snapshots, suite=self._suite.name, mode=mode, second=self._options.now()
        )
        self._log.add((job, self._ended[job.identity]) for job in self._jobs if job.identity in self._ended)
        try:
            asyncio.run(self._ask_all())
            self._report_current()
        finally:
            self._log.close(self.result().summary)

    async def _ask_all(self) -> None:
        recorder = Recorder(self._store, mode=self._options.mode, tool=TOOL, now=self._options.now)
        environ = os.environ if self._options.environ is None else self._options.environ
        with stops_on_signals(self._interrupt):
            async with self._transport() as transport, asyncio.TaskGroup() as filing:
                self._asker = Asker(transport, self._options, environ)
                filing.create_task(recorder.run(self._filed))
                async with asyncio.TaskGroup() as asking:
                    for task in self._workers(self._asker, recorder):
                        asking.create_task(task)
                await recorder.end()

    def _transport(self) -> Transport:
        if self._options.transport is not None:
            return self._options.transport()
        from capture.http_transport import HttpTransport

        return HttpTransport(user_agent=TOOL)

    def _workers(self, asker: Asker, recorder: Recorder) -> Iterable[Any]:
        """Yield the loops that ask: for each target as many as it may have open calls."""
        queues: dict[str, deque[tuple[Job, Current | None]]] = {}
        for job, current in self.todo:
            queues.setdefault(job.planned.target.name, deque()).append((job, current))
        limit = self._options.concurrency
        slots = nullcontext() if limit is None else asyncio.Semaphore(limit)
        for name, queue in queues.items():
            for _ in range(min(self._suite.targets[name].concurrency, len(queue), limit or len(queue))):
                yield self._work(queue, slots, asker, recorder)

    async def _work(self, queue: deque[Any], slots: Any, asker: Asker, recorder: Recorder) -> None:
        while queue and not self._stopping:
            async with slots:
                if not queue or self._stopping:
                    return
                job, current = queue.popleft()
                answer = await self._ask(asker, job)
            if isinstance(answer, Answered):
                await recorder.add(Item(job, answer, current))
            elif answer is not None:
                self._end([(job, answer)])

    async def _ask(self, asker: Asker, job: Job) -> Answered | Ended | None:
        """Ask for one identity; ``None`` if the run was stopped meanwhile. Only here may a stop cancel."""
        task = asyncio.current_task()
        assert task is not None
        self._asking.add(task)
        try:
            return await asker.ask(job)
        except asyncio.CancelledError:
            if not self._stopping:
                raise
            task.uncancel()
            return None
        finally:
            self._asking.discard(task)

    def _interrupt(self) -> None:
        self._interrupted = True
        self._stop()

    def _stop(self) -> None:
        self._stopping = True
        for task in self._asking:
            task.cancel()

    def _break(self, reason: str | None) -> None:
        # A disk that took no answer will take none of the next: asking on would pay for answers that are lost.
        self._broken = self._broken or reason
        self._stop()

    def _filed(self, group: list[Filed]) -> None:
        for filed in group:
            if filed.found is not None:
                self._written.append((filed.item.job, filed.found))
                self._ahead_s = max(self._ahead_s, filed.ahead_s)
            elif filed.broken:
                self._break(filed.ended.error)
        self._end([(filed.item.job, filed.ended) for filed in group])

    def _end(self, ended: list[tuple[Job, Ended]]) -> None:
        try:
            if self._log is not None:
                self._log.add(ended)
        except StoreError as error:
            self._break(error.message)
        for job, end in ended:
            self._ended[job.identity] = end
            for _ in job.rows:
                self._options.on_done(end.outcome)

    def _report_current(self) -> None:
        """List again what was written: where another process wrote too, all report the answer that all will read."""
        listed: set[str] = set()
        for job, written in self._written:
            found: Found | None = written
            try:
                found = self._store.current(*job.identity, fresh=written.folder not in listed)
                listed.add(written.folder)
                if found is not None and found.name != written.name:
                    answer = self._store.read(found).answer_hash
                    self._ended[job.identity] = Ended(self._ended[job.identity].outcome, answer)
            except (CorruptSnapshot, StoreError) as error:
                self._ended[job.identity] = damaged(error, found)

    def result(self) -> CaptureResult:
        """Return the rows in suite order and what there is to say about the run."""
        rows: list[Row | None] = [None] * len(self._planned)
        left = _INTERRUPTED if self._broken is None else Ended(Outcome.FAILED, error=f"not asked: {self._broken}")
        for job in self._jobs:
            ended = self._ended.get(job.identity, left)
            for i, place in enumerate(job.rows):
                rows[place] = _row(self._planned[place], job, ended, shared=i > 0)
        return CaptureResult(
            rows=tuple(row for row in rows if row is not None),
            calls=0 if self._asker is None else self._asker.budget.calls,
            warnings=self._warnings(),
            log=None if self._log is None else self._log.path,
            interrupted=self._interrupted,
        )

    def _warnings(self) -> tuple[str, ...]:
        if self._ahead_s <= AHEAD_S:
            return ()
        ahead = f"an answer was recorded {self._ahead_s // 60} minutes ahead of this machine's clock"
        return (f"{ahead}, to stand behind the one before it: a clock was wrong then, or is now",)


def _row(planned: Planned, job: Job, ended: Ended, *, shared: bool) -> Row:
    return Row(
        case_id=planned.case.id,
        target=planned.target.name,
        trial=planned.trial,
        request_hash=job.request_hash,
        answer_hash=ended.answer_hash,
        outcome=ended.outcome,
        shared=shared,
        error=ended.error,
        hint=ended.hint,
    )


__all__ = ["CaptureOptions", "CaptureResult", "Mode", "capture"]
