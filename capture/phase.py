"""One phase of a capture: ask for a list of identities, as many at a time as their targets allow, and file the answers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Protocol

from capture.ask import Answered
from capture.interrupt import stops_on_signals
from capture.modes import Current
from capture.plan import Job
from capture.record import Filed, Item, Recorder
from capture.result import Ended
from golden.model import Target

Todo = list[tuple[Job, Current | None]]


class Asks(Protocol):
    """Answers one identity at a time."""

    async def ask(self, job: Job) -> Answered | Ended: ...


class Phase:
    """Asks and files. ``ended`` is told of every identity that has ended, in groups, in the thread of the caller."""

    def __init__(
        self,
        concurrency: int | None,
        recorder: Recorder,
        ended: Callable[[list[tuple[Job, Ended]]], None],
    ) -> None:
        self._concurrency = concurrency
        self._recorder = recorder
        self._ended = ended
        self._asking: set[asyncio.Task[Any]] = set()
        self._stopping = False
        self.filed: list[Filed] = []
        self.interrupted = False
        self.broken: str | None = None

    async def run(self, todo: Todo, asker: AbstractAsyncContextManager[Asks]) -> None:
        """Ask for everything that is to do, unless it is stopped meanwhile."""
        with stops_on_signals(self._interrupt):
            async with asker as entered, asyncio.TaskGroup() as filing:
                filing.create_task(self._recorder.run(self._file))
                async with asyncio.TaskGroup() as asking:
                    for task in self._workers(todo, entered):
                        asking.create_task(task)
                await self._recorder.end()

    def _workers(self, todo: Todo, asker: Asks) -> Iterable[Any]:
        """Yield the loops that ask: for each target as many as it may have open calls."""
        queues: dict[str, deque[tuple[Job, Current | None]]] = {}
        targets: dict[str, Target] = {}
        for job, current in todo:
            target = job.planned.target  # a control capture asks the targets of another revision
            targets[target.name] = target
            queues.setdefault(target.name, deque()).append((job, current))
        limit = self._concurrency
        slots = nullcontext() if limit is None else asyncio.Semaphore(limit)
        for name, queue in queues.items():
            for _ in range(min(targets[name].concurrency, len(queue), limit or len(queue))):
                yield self._work(queue, slots, asker)

    async def _work(self, queue: deque[Any], slots: Any, asker: Asks) -> None:
        while queue and not self._stopping:
            async with slots:
                if not queue or self._stopping:
                    return
                job, current = queue.popleft()
                answer = await self._ask(asker, job)
            if isinstance(answer, Answered):
                await self._recorder.add(Item(job, answer, current))
            elif answer is not None:
                self._ended([(job, answer)])

    async def _ask(self, asker: Asks, job: Job) -> Answered | Ended | None:
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
        self.interrupted = True
        self._stop()

    def _stop(self) -> None:
        self._stopping = True
        for task in self._asking:
            task.cancel()

    def break_off(self, reason: str | None) -> None:
        """Stop asking: a disk that took no answer will take none of the next, and asking on would pay for answers that are lost."""
        self.broken = self.broken or reason
        self._stop()

    def _file(self, group: list[Filed]) -> None:
        for filed in group:
            if filed.found is not None:
                self.filed.append(filed)
            elif filed.broken:
                self.break_off(filed.ended.error)
        self._ended([(filed.item.job, filed.ended) for filed in group])
