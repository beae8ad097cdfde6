"""Turn answers into observations: compare, write, and make a group of them durable before any is called stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from capture.ask import Answered
from capture.modes import Current, Mode
from capture.plan import Job
from capture.result import ANSWERED, Ended, Outcome
from golden.model import Suite
from snapshots import dialects, snapshot
from snapshots.console import neutral
from snapshots.errors import StoreError, UnreadableSnapshot, WhichclockError
from snapshots.same_answer import same_answer
from snapshots.store import Found, Staged, Store

GROUP = 256
"""Most answers that wait for the disk, and most that one folder sync makes durable."""
AHEAD_S = 300


@dataclass(frozen=True, slots=True)
class Item:
    """An answer on its way to the store."""

    job: Job
    answered: Answered
    current: Current | None


@dataclass(frozen=True, slots=True)
class Filed:
    """What became of an answer. ``found`` is the file that was written.

    ``ahead_s`` is how far its second is ahead of the clock; ``broken`` tells that the store refused.
    """

    item: Item
    ended: Ended
    found: Found | None = None
    ahead_s: int = 0
    broken: bool = False


@dataclass(frozen=True, slots=True)
class _Pending:
    """What will have become of an answer once its staged file, if there is one, is durable."""

    filed: Filed
    staged: Staged | None = None


class Recorder:
    """Files answers as they come. The disk is waited for in a thread, a group at a time, so that no open call waits for it."""

    def __init__(self, store: Store, suite: Suite, *, mode: Mode, tool: str, now: Callable[[], int]) -> None:
        self._store = store
        self._suite = suite
        self._mode = mode
        self._tool = tool
        self._now = now
        self._queue: asyncio.Queue[_Pending | None] = asyncio.Queue(GROUP)

    async def add(self, item: Item) -> None:
        """Take an answer; waits while the disk is far behind."""
        await self._queue.put(self._pending(item))

    async def end(self) -> None:
        """Say that no answer follows."""
        await self._queue.put(None)

    async def run(self, on_filed: Callable[[list[Filed]], None]) -> None:
        """File answers group by group until ``end``, calling ``on_filed`` once a group is durable."""
        with ThreadPoolExecutor(1, thread_name_prefix="whichclock-store") as thread:
            while group := await self._group():
                on_filed(await self._file(group, thread))

    async def _group(self) -> list[_Pending]:
        """Return all answers that wait, at least one unless the end is reached."""
        pending = await self._queue.get()
        group: list[_Pending] = []
        while pending is not None:
            group.append(pending)
            if len(group) == GROUP or self._queue.empty():
                return group
            pending = self._queue.get_nowait()
        if group:
            self._queue.put_nowait(None)  # seen again, and then alone
        return group

    async def _file(self, group: list[_Pending], thread: ThreadPoolExecutor) -> list[Filed]:
        """Make a group durable. A disk that refuses makes all of its answers failed."""
        loop = asyncio.get_running_loop()
        staged = [one.staged for one in group if one.staged is not None]
        if not staged:
            return [one.filed for one in group]
        try:
            await loop.run_in_executor(thread, self._store.sync, staged)
            filed = self._link_all(group)
            await loop.run_in_executor(thread, self._store.flush)
        except StoreError as error:
            return [_refused(one, error) for one in group]
        return filed

    def _link_all(self, group: list[_Pending]) -> list[Filed]:
        """Link a synced group. From the first name that the disk refuses on, the rest is failed and leaves no temporary file."""
        filed: list[Filed] = []
        refused: StoreError | None = None
        for one in group:
            if one.staged is not None and refused is None:
                try:
                    filed.append(replace(one.filed, found=self._store.link(one.staged)))
                    continue
                except StoreError as error:
                    refused = error
            filed.append(one.filed if refused is None else _refused(one, refused))
        return filed

    def _pending(self, item: Item) -> _Pending:
        rule = dialects.rule_for(item.job.rendered.document, item.answered.response)
        # An answer that could be read names its model mostly; only the others are worth a second look.
        unreadable = _unreadable(item) if item.answered.model is None else None
        pending = self._decided(item, rule)
        if unreadable is None or pending.filed.ended.outcome not in ANSWERED:
            return pending
        return replace(pending, filed=replace(pending.filed, ended=replace(pending.filed.ended, unreadable=unreadable)))

    def _decided(self, item: Item, rule: str) -> _Pending:
        """Return an answer compared with the current one, and staged where it is new."""
        response = item.answered.response
        try:
            answer = dialects.answer_hash(rule, response)
            if self._mode is Mode.OFF:
                return _Pending(Filed(item, Ended(Outcome.ASKED, answer)))
            return self._compared(item, item.current, rule, answer)
        except WhichclockError as error:
            failed = Ended(Outcome.FAILED, error=error.message, hint=error.hint)
            return _Pending(Filed(item, failed, broken=isinstance(error, StoreError)))

    def _compared(self, item: Item, current: Current | None, rule: str, answer: str) -> _Pending:
        if current is None:
            return self._stage(item, rule, Ended(Outcome.RECORDED, answer))
        if not self._is_same(item, current, rule, answer):
            return self._stage(item, rule, Ended(Outcome.MOVED, answer))
        label = _other_label(item, current)
        if label is None:
            return _Pending(Filed(item, Ended(Outcome.UNCHANGED, current.answer_hash)))
        return self._stage(item, rule, Ended(Outcome.RELABELLED, answer, label=label))

    def _is_same(self, item: Item, current: Current, rule: str, answer: str) -> bool:
        if current.answer_rule == rule and current.volatile == item.answered.response.get("volatile"):
            return current.answer_hash == answer
        old = self._store.read(current.found)
        new = item.job.rendered.document, item.answered.response
        return same_answer((old.request, old.response), new) is True

    def _stage(self, item: Item, rule: str, ended: Ended) -> _Pending:
        """Return an answer whose file is written but for its name, and how it ends once the file has that too."""
        assert ended.answer_hash is not None  # only what has an answer is filed
        job, now = item.job, self._now()
        second = max(now, self._next_second(job))
        name, data = snapshot.write(
            request=job.rendered.document,
            request_hash=job.request_hash,
            trial=job.trial,
            answer_hash=ended.answer_hash,
            answer_rule=rule,
            second=second,
            response=item.answered.response,
            meta=self._meta(item),
        )
        if len(data) > self._suite.max_entry_bytes:
            return _Pending(Filed(item, _too_large(len(data), self._suite.max_entry_bytes)))
        return _Pending(Filed(item, ended, ahead_s=second - now), self._store.stage(name, data))

    def _next_second(self, job: Job) -> int:
        """Return the second after the current one's: a clock set back must not make the new answer the older one."""
        found = self._store.current(*job.identity)
        parts = None if found is None else snapshot.parse_name(found.folder, found.name)
        return 0 if parts is None else parts.second + 1

    def _meta(self, item: Item) -> dict[str, Any]:
        answered, redaction = item.answered, self._suite.redaction
        return {
            **({} if answered.latency_ms is None else {"latency_ms": answered.latency_ms}),
            "attempts": answered.attempts,
            "target": item.job.planned.target.name,
            "cases": sorted(item.job.cases),
            "tool": self._tool,
            **({"redaction": redaction.digest} if redaction else {}),
        }


def _other_label(item: Item, current: Current) -> str | None:
    """Return who gave the same answer this time, ``None`` where nothing says that it was somebody else."""
    old, new = current.model, item.answered.model
    if old != new:
        return f"reported by another model: {_named(old)} → {_named(new)}"
    before, after = current.program or {}, item.answered.response.get("program") or {}
    names = sorted(name for name in {**before, **after} if before.get(name) != after.get(name))
    return f"given by another program: {', '.join(names)} changed" if names else None


def _named(model: str | None) -> str:
    return "none" if model is None else model


def _unreadable(item: Item) -> str | None:
    """Return why today's reader cannot read an answer, or ``None`` where it can. The answer is kept all the same."""
    response, select = item.answered.response, item.job.planned.target.select
    reader, _ = dialects.reader_for(item.job.rendered.document, response, select)
    try:
        dialects.read(reader, response, select)
    except UnreadableSnapshot as error:
        return neutral(error.message)
    return None


def _too_large(size: int, limit: int) -> Ended:
    return Ended(
        Outcome.REFUSED,
        error=f"the snapshot would have {size} bytes, more than the {limit} of [capture] max_entry_bytes; it is not stored",
        hint="ask for less, or raise max_entry_bytes under [capture]",
    )


def _refused(pending: _Pending, error: StoreError) -> Filed:
    """Return how an answer ends that the disk took no more; one that needed no file ends as it would have."""
    if pending.staged is None:
        return pending.filed
    pending.staged.discard()
    return Filed(pending.filed.item, Ended(Outcome.FAILED, error=error.message, hint=error.hint), broken=True)
