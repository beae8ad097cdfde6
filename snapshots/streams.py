"""The three standard streams as a command needs them: open, and able to show any text."""

from __future__ import annotations

import os
import sys
from typing import Any


def prepare() -> bool:
    """Make the standard streams fit for use, and return whether there is a stdout at all.

    A stream that was closed (``>&-``) leads nowhere then: else the next file to be opened would take its number, and what is
    printed would be written into it. What a stream's encoding cannot say is written as an escape.
    """
    there = sys.stdout is not None  # pyright: ignore[reportUnnecessaryComparison] - None where the number is closed
    _occupy()
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stdin = _nowhere(0, "r")
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stdout = _nowhere(1, "w")
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stderr = _nowhere(2, "w")
    for stream in (sys.stdout, sys.stderr):
        _let_through(stream)
    return there


def _occupy() -> None:
    """Lead the numbers 0 to 2 nowhere where they are closed; the lowest free number is the one that opening takes."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _nowhere(number: int, mode: str) -> Any:
    return open(number, mode, encoding="utf-8", closefd=False)


def _let_through(stream: Any) -> None:
    # What stands in for a stream in a test or an embedding program may know no other way.
    if hasattr(stream, "reconfigure") and not _is_utf8(stream):
        stream.reconfigure(errors="backslashreplace")


def _is_utf8(stream: Any) -> bool:
    return (stream.encoding or "").lower().replace("-", "").replace("_", "") == "utf8"
