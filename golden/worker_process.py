"""The parent's end of a worker: starts the process, writes to it without ever waiting for it, and reads its answers."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from golden.channel import receive, send
from golden.closed_call import EPOCH
from golden.model import NO_REDACTION, Suite, Target
from golden.redaction import Redaction
from golden.worker import TAMPERED, TAMPERED_EXIT
from snapshots.console import neutral
from snapshots.errors import ConfigError, OperatorError

_PACKAGES = str(Path(__file__).resolve().parent.parent)
_START = "import sys; sys.path.append(sys.argv[1]); from {module} import main; main()"


@dataclass(frozen=True, slots=True)
class Life:
    """The circumstances of a worker that must not matter to a grader.

    Attributes:
        hash_seed: of Python's ``hash``.
        folder: the working directory; ``None`` is the project root.
        date: where the clock stands for cases that set no ``context.now``.
        backwards: whether the graders of a row are called in turned order.
    """

    hash_seed: str = "0"
    folder: Path | None = None
    date: str = EPOCH
    backwards: bool = False


FIRST_LIFE = Life()


@dataclass(frozen=True, slots=True)
class Job:
    """What all workers of a run have in common.

    Attributes:
        root: the project root.
        graders: the grader files, in order.
        names: each grader that is needed → the place of a case that lists it.
        timeout_s: processor time of one call of a grader, in seconds.
        memory_mb: memory of a worker beyond what it has once its graders are loaded, in MiB.
        targets: the suite's targets, which graders' own requests name.
        snapshots: the store that holds the answers to those requests, if any.
        redaction: the suite's rules, which those requests are keyed under.
        stores: further stores that rows are read from.
        life: the circumstances that must not matter.
    """

    root: Path
    graders: tuple[Path, ...]
    names: Mapping[str, str]
    timeout_s: float = 5.0
    memory_mb: int = 1024
    targets: Mapping[str, Target] = field(default_factory=dict[str, Target])
    snapshots: Path | None = None
    redaction: Redaction = NO_REDACTION
    stores: tuple[Path, ...] = ()
    life: Life = FIRST_LIFE


def job_of(suite: Suite, names: Mapping[str, str]) -> Job:
    """Return what the workers need to know of a suite whose graders ``names`` are needed."""
    return Job(
        suite.root,
        suite.graders,
        names,
        suite.grader_timeout_s,
        suite.grader_memory_mb,
        suite.targets,
        suite.snapshots,
        suite.redaction,
    )


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a worker found when it loaded the graders, and which locks hold around them."""

    digests: dict[str, str]
    sources: dict[str, dict[str, Any]]
    runtime: dict[str, str]
    locks: tuple[str, ...] = ()


class WorkerProcess:
    """One worker process, started when the object is made. ``module`` holds the ``main`` that it runs."""

    def __init__(self, module: str, job: Job, *, want_sources: bool) -> None:
        self._module = module
        self._job = job
        self._want_sources = want_sources
        self.last_words = ""
        self._under_way = 0
        self._start()

    def _start(self) -> None:
        # -P keeps the working directory off the import path; the environment is empty but for what makes every run the same.
        environment = {
            "PYTHONHASHSEED": self._job.life.hash_seed,
            "PYTHONUTF8": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TZ": "UTC",
            "LC_ALL": "C",
        }
        if "SYSTEMROOT" in os.environ:
            environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START.format(module=self._module), _PACKAGES],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=self._job.life.folder or self._job.root,
        )
        self._listener = threading.Thread(target=_relay, args=(self._process.stderr,), daemon=True)
        self._listener.start()
        # A message may be larger than a pipe: a thread of its own writes, so that parent and worker never wait for each other.
        self._under_way = 0
        self._outbox: deque[Any] = deque()
        self._mail = threading.Semaphore(0)
        self._writer = threading.Thread(target=_post, args=(self._process, self._outbox, self._mail), daemon=True)
        self._writer.start()
        self.send(_setup(self._job, self._want_sources))

    def hello(self) -> Loaded:
        """Return what the worker says once its graders are loaded.

        Raises:
            ConfigError: they do not load, or a name is unknown.
            OperatorError: the process did not start.
        """
        answer = self.receive()
        if answer is None:
            self._process.wait()
            raise OperatorError(
                f"a grading worker did not start (exit {self._process.returncode})", hint="its own words stand above"
            )
        if "error" in answer:
            raise ConfigError(answer["error"], hint=answer["hint"])
        return Loaded(answer["digests"], answer["sources"], answer["runtime"], tuple(answer["locks"]))

    def send(self, message: Any) -> None:
        """Send a message without waiting; ``None`` ends the worker."""
        self._under_way += message is not None
        self._outbox.append(message)
        self._mail.release()

    def receive(self, limit_s: float | None = None) -> dict[str, Any] | None:
        """Return the worker's next message, or ``None`` where it is gone or speaks nonsense: then it is ended.

        Args:
            limit_s: seconds after which a worker that says nothing is ended.
        """
        watchdog = threading.Timer(limit_s or 0, self._process.kill)
        watchdog.daemon = True  # an interruption may come before it is cancelled, and nobody shall wait for it then
        try:
            if limit_s is not None:
                watchdog.start()
            message = receive(cast(Any, self._process.stdout))
        except ValueError:
            message = None
        finally:
            watchdog.cancel()
        self._under_way -= 1
        if not isinstance(message, dict):
            self.kill()
            return None
        return message

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def restart(self) -> None:
        """Start a new process in the place of one that ended; ``last_words`` says how that one did."""
        self._process.wait()
        code = self._process.returncode
        self.last_words = f"signal {-code}" if code < 0 else TAMPERED if code == TAMPERED_EXIT else f"exit {code}"
        self.stop()
        self._start()
        self.hello()

    def stop(self) -> None:
        """Let the process end and take back its streams; one that still works on something is ended: nobody waits for that."""
        if self._under_way > 0:
            self.kill()
        self.send(None)
        self._writer.join()
        self._process.wait()
        self._listener.join()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None and not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue  # what could not be sent has nobody left to read it


def _setup(job: Job, want_sources: bool) -> dict[str, Any]:
    return {
        "root": str(job.root),
        "graders": [str(f) for f in job.graders],
        "names": dict(job.names),
        "timeout_s": job.timeout_s,
        "memory_mb": job.memory_mb,
        "want_sources": want_sources,
        "date": job.life.date,
        "backwards": job.life.backwards,
        "targets": {name: asdict(target) for name, target in job.targets.items()},
        "redaction": asdict(job.redaction),
        "snapshots": None if job.snapshots is None else str(job.snapshots),
        "stores": [str(path) for path in (job.snapshots, *job.stores) if path is not None],
    }


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


def _relay(stream: IO[bytes] | None) -> None:
    """Pass on what graders print, with nothing in it that a terminal would obey."""
    if stream is not None:
        for line in stream:
            sys.stderr.write(f"grader: {neutral(line.decode('utf-8', 'replace').rstrip())}\n")
