"""One call of foreign code with the world closed around it, its result's conversion to plain values included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from snapshots.errors import GraderFault

EPOCH = "2000-01-01T00:00:00Z"
"""Where the clock stands for graders whose case does not say."""
_LONGEST = 500


class World(Protocol):
    """What a call needs of the purity guard."""

    violation: str

    def close(self, request_hash: str, now: str) -> None: ...
    def open(self) -> None: ...


def call_closed(world: World, request_hash: str, now: str, call: Callable[[], Any]) -> Any:
    """Run foreign code with the world closed and return what it gives.

    Args:
        world: the guard of this process.
        request_hash: the seed of chance.
        now: where the clock stands.
        call: the foreign code.

    Raises:
        GraderFault: for whatever it does wrong.
    """
    result, fault = None, ""
    world.close(request_hash, now)
    try:
        result = call()
    except BaseException as error:
        fault = _told(error)  # an exception of theirs may run code when it is printed: still closed
    finally:
        world.open()
    if world.violation or fault:
        raise GraderFault(world.violation or fault)
    return result


def _told(error: BaseException) -> str:
    """Return what an exception of foreign code says, in one line; it may fail to say it."""
    if isinstance(error, GraderFault):
        return error.message
    if isinstance(error, MemoryError):
        return "it needed more memory than allowed"
    name = type(error).__name__
    try:
        text = str(error)
    except BaseException as broken:
        text = f"(its message cannot be printed: {type(broken).__name__})"
    return f"{name}: {text}".encode("utf-8", "replace").decode()[:_LONGEST].rstrip(": ")
