"""Run a program as a target: one JSON document in, one out, within limits, and gone with all its children afterwards.

Reading and writing go on side by side, so that no pipe can fill up and stand still; a program that reads nothing of its
input is no error. Runs in a thread of its own, for the standard library's asynchronous processes wait for whoever still
holds a pipe, and a grandchild may hold it for ever.
"""

from __future__ import annotations

import asyncio
import os
import selectors
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import IO, Any

from capture.descendants import Watch
from capture.transport import Limits, NoReplyError, Reply, TooLargeError
from golden.render import ProgramWire

# What a program may need to run at all. Anything else must be declared, for what is declared is in the key.
INHERITED = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "TMP", "VIRTUAL_ENV",
    "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "COMSPEC", "PATHEXT",
)  # fmt: skip
_CHUNK = 1 << 16
_KEPT_WORDS = 1 << 14
_TICK_S = 0.05
"""How often an ended program is noticed whose pipes are held by a child of its own."""


class Programs:
    """Runs programs, each in a thread. Use as a context."""

    def __init__(self, most: int) -> None:
        self._threads = ThreadPoolExecutor(max(1, most), thread_name_prefix="whichclock-exec")
        self._stop = threading.Event()
        self._watch: Watch | None = None

    def __enter__(self) -> Programs:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()  # whoever still runs is not waited for
        self._threads.shutdown()
        if self._watch is not None:
            self._watch.close()

    async def run(self, wire: ProgramWire, limits: Limits) -> Reply:
        """Run a program to its end and return its exit code, its output and its last words.

        Raises:
            NoReplyError: it cannot be started, or did not end in time.
            TooLargeError: it printed more than the limit.
        """
        if self._watch is None:
            self._watch = Watch()
        run = _Run(wire, limits, self._watch, self._stop)
        ended = asyncio.get_running_loop().run_in_executor(self._threads, run.to_end)
        try:
            return await asyncio.shield(ended)
        except asyncio.CancelledError:
            run.stop.set()
            await asyncio.wait([ended])
            ended.exception()  # looked at, for nobody else will
            raise


@dataclass(slots=True)
class _Run:
    """One run of a program."""

    wire: ProgramWire
    limits: Limits
    watch: Watch
    stop_all: threading.Event
    stop: threading.Event = field(default_factory=threading.Event)
    is_over: bool = False

    def to_end(self) -> Reply:
        started = time.perf_counter()
        mark = self.watch.mark()
        process = self._start(mark)
        handle = _exit_handle(process.pid)
        try:
            output, words = self._exchange(process, mark, handle, started + self.limits.total_s)
        finally:
            self._end_all(process, mark)
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                _close(stream)
            if handle is not None:
                os.close(handle)
        return Reply(process.returncode, (), output, round((time.perf_counter() - started) * 1000), words=words)

    def _end_all(self, process: subprocess.Popen[bytes], mark: dict[str, str]) -> None:
        # The leader is not reaped yet, so that its number still names its group and nobody else's.
        if not self.is_over:
            self.is_over = True
            _kill_group(process.pid)
            self.watch.kill(mark)

    def _start(self, mark: dict[str, str]) -> subprocess.Popen[bytes]:
        command = list(self.wire.command)
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self.wire.cwd,
                env={**_inherited(), **self.wire.env, **mark},
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise NoReplyError(
                f"the program '{command[0]}' cannot be started: {reason}",
                passing=False,
                hint="the target's command is looked up on PATH, or from the project root if it holds a slash",
            ) from None

    def _exchange(
        self, process: subprocess.Popen[bytes], mark: dict[str, str], handle: int | None, until: float
    ) -> tuple[bytes, str]:
        """Feed and read the program until it has ended, and return what it printed and the end of what it complained."""
        with _Pipes(process, self.wire.stdin, handle) as pipes:
            while True:
                is_over = self.is_over
                has_read = pipes.serve(0 if is_over else min(_TICK_S, max(0.0, until - time.perf_counter())))
                if len(pipes.output) > self.limits.max_bytes:
                    raise TooLargeError(f"the program printed more than {self.limits.max_bytes} bytes")
                if is_over and not has_read:
                    return bytes(pipes.output), pipes.words.decode("utf-8", "replace")
                if not is_over and _has_ended(process.pid):
                    # What is in the pipes is read; whoever else holds them is not waited for, and writes no more.
                    self._end_all(process, mark)
                if self.stop.is_set() or self.stop_all.is_set():
                    raise NoReplyError("interrupted")
                if time.perf_counter() > until:
                    raise NoReplyError(f"the program did not end within {self.limits.total_s:g} s")


class _Pipes:
    """The three pipes of a program, served side by side. Use as a context."""

    def __init__(self, process: subprocess.Popen[bytes], data: bytes, handle: int | None) -> None:
        self.output, self.words = bytearray(), bytearray()
        self._left = memoryview(data)
        self._stdin, self._stdout = process.stdin, process.stdout
        self._selector = selectors.DefaultSelector()
        for stream, events in ((process.stdin, selectors.EVENT_WRITE), (process.stdout, 1), (process.stderr, 1)):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, events)
        if handle is not None:
            self._selector.register(handle, selectors.EVENT_READ)

    def __enter__(self) -> _Pipes:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()

    def serve(self, wait_s: float) -> bool:
        """Wait until a pipe is ready, write and read what there is, and tell whether anything was read."""
        has_read = False
        for key, _ in self._selector.select(wait_s):
            stream: Any = key.fileobj
            if isinstance(stream, int):
                self._selector.unregister(stream)  # the program has ended: once is enough to be woken
            elif stream is self._stdin:
                self._feed(stream)
            else:
                has_read = self._take(stream) or has_read
        return has_read

    def _feed(self, stream: IO[bytes]) -> None:
        self._left = _write(stream, self._left)
        if not self._left:
            self._selector.unregister(stream)
            _close(stream)

    def _take(self, stream: IO[bytes]) -> bool:
        data = _read(stream)
        if data == b"":
            self._selector.unregister(stream)
        elif data and stream is self._stdout:
            self.output += data
        elif data:
            self.words += data
            del self.words[:-_KEPT_WORDS]
        return bool(data)


def _exit_handle(pid: int) -> int | None:
    """Return a descriptor that is ready once a process has ended; without one its end is noticed a little later."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _inherited() -> dict[str, str]:
    return {name: os.environ[name] for name in INHERITED if name in os.environ}


def _has_ended(pid: int) -> bool:
    """Tell whether a child has ended, without taking it off the system's list."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _write(stream: IO[bytes], data: memoryview) -> memoryview:
    """Write what fits; nothing is left where the program has closed its input: it may know enough."""
    try:
        return data[os.write(stream.fileno(), data[:_CHUNK]) :]
    except BlockingIOError:
        return data
    except OSError:
        return memoryview(b"")


def _read(stream: IO[bytes]) -> bytes | None:
    try:
        return os.read(stream.fileno(), _CHUNK)
    except BlockingIOError:
        return None


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # all of it is gone; macOS calls a group of zombies a matter of permission


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None and not stream.closed:
        try:
            stream.close()
        except OSError:
            return  # a pipe that the program closed first
