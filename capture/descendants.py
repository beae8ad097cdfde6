"""Processes that a program left behind in a session of their own: found by a mark in their environment, and ended.

A process group does not hold a daemon that began a session of its own; what it inherits does, unless it empties its
environment. Linux alone shows that environment; elsewhere the process group is all there is.
"""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Iterator, Mapping

_NAME = "WHICHCLOCK_CALL"
_ROUNDS = 16
_PROC = "/proc"


def mark() -> dict[str, str]:
    """Return the variable that marks the descendants of one call."""
    return {_NAME: secrets.token_hex(16)}


def kill(marked: Mapping[str, str]) -> None:
    """End every process that holds a mark, again and again until none is left: one may start another meanwhile."""
    needle = f"{_NAME}={marked[_NAME]}".encode()
    for _ in range(_ROUNDS):
        found = list(_holding(needle))
        if not found:
            return
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue  # it ended by itself


def _holding(needle: bytes) -> Iterator[int]:
    try:
        names = os.listdir(_PROC)
    except OSError:
        return
    own = os.getpid()
    for name in names:
        if name.isdigit() and int(name) != own and needle in _environment(name).split(b"\0"):
            yield int(name)


def _environment(name: str) -> bytes:
    try:
        with open(f"{_PROC}/{name}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""  # another user's, or gone
