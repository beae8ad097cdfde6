"""The pool of grading workers: starts them, feeds them chunks in order, and outlives what graders do to them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from golden.worker_process import Job, Loaded, WorkerProcess
from grade.worker import FACTS
from snapshots.store import Found

__all__ = ["Chunk", "Columns", "Job", "Loaded", "Pool"]

_WALL_LIMIT = 60  # seconds a chunk may stand still beyond its processor-time limits before its worker is ended
Columns = dict[str, list[Any]]
Listed = list[tuple[str, int, str]]
ChunkRow = tuple[int, str, str, str, str, "Listed | None"]


@dataclass(slots=True)
class Chunk:
    """A piece of work: ``rows`` are (expectation index, path, folder, name, shown path, asked).

    ``asked`` lists ``[request_hash, trial, integrity]`` of the very answers that graders' own requests are read from, or is
    ``None`` where those are the current ones.
    """

    expectations: list[str] = field(default_factory=list[str])
    rows: list[ChunkRow] = field(default_factory=list[ChunkRow])

    def add(self, expectation: str, found: Found, asked: Listed | None) -> None:
        """Add a row."""
        if not self.expectations or self.expectations[-1] != expectation:
            self.expectations.append(expectation)  # rows come sorted by case: equal ones stand together
        number = len(self.expectations) - 1
        self.rows.append((number, found.path, found.folder, found.name, found.shown, asked))

    def alone(self, i: int) -> Chunk:
        """Return the chunk that holds row ``i`` only."""
        expectation, path, folder, name, shown, asked = self.rows[i]
        return Chunk([self.expectations[expectation]], [(0, path, folder, name, shown, asked)])


class Pool:
    """Workers for one job. Use as a context; ``loaded`` is there from the start.

    Raises:
        ConfigError: the graders do not load, or a name is unknown.
    """

    def __init__(self, job: Job, jobs: int) -> None:
        self._workers = [_Worker(job, want_sources=number == 0) for number in range(max(1, jobs))]
        try:
            self.loaded, *_ = [worker.hello() for worker in self._workers]
        except BaseException:
            for worker in self._workers:
                worker.stop()
            raise

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.stop()

    def run(self, chunks: Iterable[Chunk]) -> Iterator[Columns]:
        """Yield the facts of each chunk in the order of the chunks, a few chunks ahead of the reader at most."""
        under_way: deque[tuple[_Worker | None, Chunk]] = deque()
        turn = 0
        for chunk in chunks:
            # Two chunks per worker: one that it works on and one that waits, so that it never does.
            if len(under_way) >= 2 * len(self._workers):
                yield self._collect(*under_way.popleft())
            worker = self._workers[turn % len(self._workers)] if chunk.rows else None
            if worker is not None:
                worker.submit(chunk)
                turn += 1
            under_way.append((worker, chunk))
        while under_way:
            yield self._collect(*under_way.popleft())

    def _collect(self, worker: _Worker | None, chunk: Chunk) -> Columns:
        if worker is None:
            return {name: [] for name in FACTS}
        columns = worker.collect()
        return columns if columns is not None else self._survive(worker, chunk)

    def _survive(self, worker: _Worker, chunk: Chunk) -> Columns:
        """Grade a chunk whose worker died again, row by row, so that only the row that kills a worker is lost."""
        waiting = worker.restart()
        columns: Columns = {name: [] for name in FACTS}
        for i in range(len(chunk.rows)):
            worker.submit(chunk.alone(i))
            facts = worker.collect()
            if facts is None:
                worker.restart()
            for name in FACTS:
                columns[name].append(_killed(name, worker) if facts is None else facts[name][0])
        for later in waiting:
            if later is not chunk:
                worker.submit(later)
        return columns


def _killed(name: str, worker: _Worker) -> Any:
    killed = {
        "status": "grader_error",
        "error": f"a grader ended its worker process ({worker.last_words})",
        "findings": [],
        "evidence": "{}",
    }
    return killed.get(name)


class _Worker:
    """One worker process and the chunks it was given."""

    def __init__(self, job: Job, *, want_sources: bool) -> None:
        self._job = job
        self._process = WorkerProcess("grade.worker", job, want_sources=want_sources)
        self._submitted: deque[Chunk] = deque()

    @property
    def last_words(self) -> str:
        """Return how the process ended that was restarted last."""
        return self._process.last_words

    def hello(self) -> Loaded:
        return self._process.hello()

    def submit(self, chunk: Chunk) -> None:
        self._submitted.append(chunk)
        self._process.send({"expectations": chunk.expectations, "rows": chunk.rows})

    def collect(self) -> Columns | None:
        """Return the facts of the oldest chunk, or ``None`` where the process died over it."""
        rows = self._submitted[0].rows
        # The worker ends itself over a row that stands still; this is for one that was kept from doing so.
        limit = _WALL_LIMIT + max(60.0, 10 * self._job.timeout_s) * len(rows)
        answer = self._process.receive(limit)
        if answer is None or not _is_whole(answer, len(rows)):
            self._process.kill()
            return None
        self._submitted.popleft()
        return answer

    def restart(self) -> list[Chunk]:
        """Start a new process and return the chunks that the old one still had."""
        waiting = list(self._submitted)
        self._submitted.clear()
        self._process.restart()
        return waiting

    def stop(self) -> None:
        if self._submitted:
            self._process.kill()
        self._process.stop()


def _is_whole(columns: Columns, rows: int) -> bool:
    """Tell whether an answer has all facts of all rows: what a worker says is not trusted further than its form."""
    return columns.keys() == set(FACTS) and all(type(c) is list and len(c) == rows for c in columns.values())
