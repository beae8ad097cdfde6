"""The pool of grading workers: starts them, feeds them chunks in order, and outlives what graders do to them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from grade.worker import FACTS, TAMPERED, TAMPERED_EXIT, receive, send
from snapshots.console import neutral
from snapshots.errors import ConfigError, OperatorError

_PACKAGES = str(Path(__file__).resolve().parent.parent)
_START = "import sys; sys.path.append(sys.argv[1]); from grade.worker import main; main()"
_WALL_LIMIT = 60  # seconds a chunk may stand still beyond its processor-time limits before its worker is ended
Columns = dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Job:
    """What all workers of a run have in common. ``names``: each grader that is needed → the place of a case that lists it."""

    root: Path
    graders: tuple[Path, ...]
    names: Mapping[str, str]
    timeout_s: float = 5.0
    memory_mb: int = 1024


@dataclass(slots=True)
class Chunk:
    """A piece of work: ``rows`` are (expectation index, path, folder, name, shown path)."""

    expectations: list[str] = field(default_factory=list[str])
    rows: list[tuple[int, str, str, str, str]] = field(default_factory=list[tuple[int, str, str, str, str]])

    def alone(self, i: int) -> Chunk:
        """Return the chunk that holds row ``i`` only."""
        expectation, *rest = self.rows[i]
        return Chunk([self.expectations[expectation]], [(0, *cast("tuple[str, str, str, str]", tuple(rest)))])


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the first worker found when it loaded the graders."""

    digests: dict[str, str]
    sources: dict[str, dict[str, Any]]
    runtime: dict[str, str]


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
        under_way: deque[tuple[_Worker, Chunk]] = deque()
        for number, chunk in enumerate(chunks):
            # Two chunks per worker: one that it works on and one that waits, so that it never does.
            if len(under_way) >= 2 * len(self._workers):
                yield self._collect(*under_way.popleft())
            worker = self._workers[number % len(self._workers)]
            worker.submit(chunk)
            under_way.append((worker, chunk))
        while under_way:
            yield self._collect(*under_way.popleft())

    def _collect(self, worker: _Worker, chunk: Chunk) -> Columns:
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
        self._want_sources = want_sources
        self._submitted: deque[Chunk] = deque()
        self.last_words = ""
        self._start()

    def _start(self) -> None:
        # -P keeps the working directory off the import path; the environment is empty but for what makes every run the same.
        environment = {
            "PYTHONHASHSEED": "0",
            "PYTHONUTF8": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TZ": "UTC",
            "LC_ALL": "C",
        }
        if "SYSTEMROOT" in os.environ:
            environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, _PACKAGES],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=self._job.root,
        )
        self._listener = threading.Thread(target=_relay, args=(self._process.stderr,), daemon=True)
        self._listener.start()
        # A chunk may be larger than a pipe: a thread of its own writes, so that parent and worker never wait for each other.
        self._outbox: deque[Any] = deque()
        self._mail = threading.Semaphore(0)
        self._writer = threading.Thread(target=self._post, args=(self._process, self._outbox, self._mail), daemon=True)
        self._writer.start()
        self._send(
            {
                "root": str(self._job.root),
                "graders": [str(f) for f in self._job.graders],
                "names": dict(self._job.names),
                "timeout_s": self._job.timeout_s,
                "memory_mb": self._job.memory_mb,
                "want_sources": self._want_sources,
            }
        )

    def _send(self, message: Any) -> None:
        self._outbox.append(message)
        self._mail.release()

    @staticmethod
    def _post(process: subprocess.Popen[bytes], outbox: deque[Any], mail: threading.Semaphore) -> None:
        stream = cast("IO[bytes]", process.stdin)
        while True:
            mail.acquire()
            message = outbox.popleft()
            try:
                if message is None:
                    stream.close()
                    return
                send(cast(Any, stream), message)
            except (BrokenPipeError, ValueError):
                return  # the worker is gone; whoever waits for its answer finds that out and restarts it

    def hello(self) -> Loaded:
        answer = self._receive()
        if answer is None:
            self._process.wait()
            raise OperatorError(
                f"a grading worker did not start (exit {self._process.returncode})", hint="its own words stand above"
            )
        if "error" in answer:
            raise ConfigError(answer["error"], hint=answer["hint"])
        return Loaded(answer["digests"], answer["sources"], answer["runtime"])

    def submit(self, chunk: Chunk) -> None:
        self._submitted.append(chunk)
        self._send({"expectations": chunk.expectations, "rows": chunk.rows})

    def collect(self) -> Columns | None:
        """Return the facts of the oldest chunk, or ``None`` where the process died over it."""
        rows = self._submitted[0].rows
        # The worker ends itself over a row that stands still; this is for one that was kept from doing so.
        limit = _WALL_LIMIT + max(60.0, 10 * self._job.timeout_s) * len(rows)
        watchdog = threading.Timer(limit, self._process.kill)
        watchdog.daemon = True  # an interruption may come before it is cancelled, and nobody shall wait for it then
        try:
            watchdog.start()
            answer = self._receive()
        finally:
            watchdog.cancel()
        if answer is None or not _is_whole(answer, len(rows)):
            self._process.kill()
            return None
        self._submitted.popleft()
        return answer

    def restart(self) -> list[Chunk]:
        """Start a new process and return the chunks that the old one still had."""
        self._process.wait()
        code = self._process.returncode
        self.last_words = f"signal {-code}" if code < 0 else TAMPERED if code == TAMPERED_EXIT else f"exit {code}"
        waiting = list(self._submitted)
        self._submitted.clear()
        self._close()
        self._start()
        self.hello()
        return waiting

    def stop(self) -> None:
        if self._submitted:
            self._process.kill()
        self._close()

    def _close(self) -> None:
        self._send(None)
        self._writer.join()
        self._process.wait()
        self._listener.join()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None and not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue  # what could not be sent has nobody left to read it

    def _receive(self) -> Any:
        """Return the worker's next message, or ``None`` where it is gone or speaks nonsense: then it is ended."""
        try:
            message = receive(cast(Any, self._process.stdout))
        except ValueError:
            message = None
        if not isinstance(message, dict):
            self._process.kill()
            return None
        return message


def _is_whole(columns: Columns, rows: int) -> bool:
    """Tell whether an answer has all facts of all rows: what a worker says is not trusted further than its form."""
    return columns.keys() == set(FACTS) and all(type(c) is list and len(c) == rows for c in columns.values())


def _relay(stream: IO[bytes] | None) -> None:
    """Pass on what graders print, with nothing in it that a terminal would obey."""
    if stream is not None:
        for line in stream:
            sys.stderr.write(f"grader: {neutral(line.decode('utf-8', 'replace').rstrip())}\n")
