"""The seam to the world: one method that sends a request and returns what came back, whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from snapshots.errors import CallError


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a call may take, in seconds, and how large its answer may be."""

    total_s: float
    connect_s: float
    first_byte_s: float | None
    max_bytes: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What a target sent: ``data`` is the decoded body, ``latency_ms`` the time until its last byte.

    A program's exit code is its status; ``words`` is the end of what it wrote to its standard error. ``latency_ms`` is ``None``
    where nobody measured it.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    data: bytes
    latency_ms: int | None
    words: str = ""

    def header(self, name: str) -> str | None:
        """Return the first header of a lower-case name."""
        return next((value for key, value in self.headers if key.lower() == name), None)


class NoReplyError(CallError):
    """The connection, the time or the framing failed. ``passing`` tells whether another attempt may do better."""

    def __init__(self, message: str, *, passing: bool = True, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.passing = passing


class TooLargeError(CallError):
    """The answer is larger than the limit; the rest of it was not read."""


class Transport(Protocol):
    """Sends requests. It is entered before the first call and left after the last one."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, limits: Limits
    ) -> Reply:
        """Send one request and return the whole reply, whatever its status.

        Raises:
            NoReplyError: no whole reply came; the message may hold parts of the URL, so callers scrub it.
            TooLargeError: the body is larger than the limit.
        """
        ...
