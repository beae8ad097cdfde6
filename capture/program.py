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
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import IO, Any

from capture import descendants
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

    def __enter__(self) -> Programs:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown()

    async def run(self, wire: ProgramWire, limits: Limits) -> Reply:
        """Run a program to its end and return its exit code, its output and its last words.

        Raises:
            NoReplyError: it cannot be started, or did not end in time.
            TooLargeError: it printed more than the limit.
        """
        run = _Run(wire, limits)
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
    stop: threading.Event = field(default_factory=threading.Event)

    def to_end(self) -> Reply:
        started = time.perf_counter()
        mark = descendants.mark()
        process = self._start(mark)
        try:
            output, words = self._exchange(process, started + self.limits.total_s)
        finally:
            # The leader is not reaped yet, so that its number still names its group and nobody else's.
            _kill_group(process.pid)
            process.wait()
            descendants.kill(mark)
            for stream in (process.stdin, process.stdout, process.stderr):
                _close(stream)
        return Reply(process.returncode, (), output, round((time.perf_counter() - started) * 1000), words=words)

    def _start(self, mark: Mapping[str, str]) -> subprocess.Popen[bytes]:
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
                f"the program {command[0]!r} cannot be started: {reason}",
                passing=False,
                hint="the target's command is looked up on PATH, or from the project root if it holds a slash",
            ) from None

    def _exchange(self, process: subprocess.Popen[bytes], until: float) -> tuple[bytes, str]:
        """Feed and read the program until it has ended, and return what it printed and the end of what it complained."""
        output, words = bytearray(), bytearray()
        left = memoryview(self.wire.stdin)
        with selectors.DefaultSelector() as selector:
            for stream, events in ((process.stdin, selectors.EVENT_WRITE), (process.stdout, 1), (process.stderr, 1)):
                assert stream is not None
                os.set_blocking(stream.fileno(), False)
                selector.register(stream, events)
            while True:
                ended = _has_ended(process.pid)
                ready = selector.select(0 if ended else min(_TICK_S, max(0.0, until - time.perf_counter())))
                for key, _ in ready:
                    stream: Any = key.fileobj
                    if stream is process.stdin:
                        left = _write(stream, left)
                        if not left:
                            selector.unregister(stream)
                            _close(stream)
                        continue
                    data = _read(stream)
                    if data is None:
                        continue
                    if data == b"":
                        selector.unregister(stream)
                    elif stream is process.stdout:
                        output += data
                    else:
                        words += data
                        del words[:-_KEPT_WORDS]
                if len(output) > self.limits.max_bytes:
                    raise TooLargeError(f"the program printed more than {self.limits.max_bytes} bytes")
                reading = any(key.fileobj is not process.stdin for key, _ in ready)
                if ended and not reading:  # what is in the pipes is read; who else holds them is not waited for
                    return bytes(output), words.decode("utf-8", "replace")
                if self.stop.is_set():
                    raise NoReplyError("interrupted")
                if time.perf_counter() > until:
                    raise NoReplyError(f"the program did not end within {self.limits.total_s:g} s")


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
