"""Processes that a program left behind in a session of their own: found by a mark in their environment, and ended.

A process group does not hold a daemon that began a session of its own; what it inherits does, unless it empties its
environment. Linux alone shows that environment; elsewhere the process group is all there is.

Run as a script, this file ends what a whole capture left behind: it waits on its standard input until the capture is gone,
and a capture that was killed could not say goodbye.
"""

from __future__ import annotations

import itertools
import os
import secrets
import signal
import subprocess
import sys
import time

_NAME = "WHICHCLOCK_CALL"
_ROUNDS = 50
_EXEC_S = 0.002
_ENV_END = 48  # behind the name, which may hold anything
_PROC = "/proc"
_LOADER = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
_GOODBYE = b"."
# A program may have been started and not yet shown its environment when the capture was killed.
_LAST_LOOKS = 20
_LOOK_S = 0.05


class Watch:
    """Marks the descendants of a capture's calls, and sees to it that they end even if the capture is killed."""

    def __init__(self) -> None:
        self._run = secrets.token_hex(16)
        self._calls = itertools.count(1)
        self._watcher = _watcher(self._run)

    def close(self) -> None:
        """Say goodbye: everything that was marked has been ended."""
        if self._watcher is not None:
            self._watcher.communicate(_GOODBYE)

    def mark(self) -> dict[str, str]:
        """Return the variable that marks the descendants of one call."""
        return {_NAME: f"{self._run}-{next(self._calls)}-"}

    def kill(self, marked: dict[str, str]) -> None:
        """End every process that holds a mark, again and again until none is left: one may start another meanwhile."""
        _kill(marked[_NAME])


def _watcher(run: str) -> subprocess.Popen[bytes] | None:
    """Start this file as a script: in a session of its own, for Ctrl-C is sent to all of the terminal's."""
    nothing = subprocess.DEVNULL
    env = {name: os.environ[name] for name in _LOADER if name in os.environ}
    command = [sys.executable, "-I", "-S", __file__, run]
    try:
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing, cwd="/", env=env, start_new_session=True
        )
    except OSError:
        return None  # no interpreter of its own, as in an embedded one: a killed capture leaves its programs to run


def _kill(beginning: str) -> None:
    needle = f"{_NAME}={beginning}".encode()
    for _ in range(_ROUNDS):
        found, starting = look(needle)
        if not found and not starting:
            return
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue  # it ended by itself, or runs as somebody else now
        if not found:
            time.sleep(_EXEC_S)


def look(needle: bytes) -> tuple[list[int], bool]:
    """Return the processes whose environment holds some bytes, and whether there are any whose environment is still to come."""
    try:
        names = [name for name in os.listdir(_PROC) if name.isdigit() and int(name) != os.getpid()]
    except OSError:
        return [], False
    environments = [(name, _environment(name)) for name in names]
    starting = any(not held and _is_starting(name) for name, held in environments)
    return [int(name) for name, held in environments if needle in held], starting


def _is_starting(name: str) -> bool:
    """Tell whether a process is amid an exec: it has its new memory, and no environment yet (env_end of proc_pid_stat(5) is 0).

    A program that starts another one and ends is told of its start at that very moment. Kernel threads have no exe.
    """
    try:
        os.readlink(f"{_PROC}/{name}/exe")
        with open(f"{_PROC}/{name}/stat", "rb") as file:
            fields = file.read().rpartition(b") ")[2].split()
    except OSError:
        return False
    return len(fields) > _ENV_END and fields[_ENV_END] == b"0"


def _environment(name: str) -> bytes:
    try:
        with open(f"{_PROC}/{name}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""  # another user's, or gone


def _watch(run: str) -> None:
    """Wait until the capture is gone, and end what it left behind if it did not say goodbye."""
    if sys.stdin.buffer.read() == _GOODBYE:
        return
    for _ in range(_LAST_LOOKS):
        _kill(run)
        time.sleep(_LOOK_S)


if __name__ == "__main__":
    _watch(sys.argv[1])
