"""Instants of whole UTC seconds, in the two forms the formats use."""

from __future__ import annotations

import time
from datetime import UTC, datetime

_COMPACT = "%Y%m%dT%H%M%SZ"
_EXTENDED = "%Y-%m-%dT%H:%M:%SZ"


def now() -> int:
    """Return the current time in whole seconds since 1970 (UTC)."""
    return int(time.time())


def compact(second: int) -> str:
    """Return ``20261130T020000Z``, the form of names; its text order is its time order."""
    return datetime.fromtimestamp(second, UTC).strftime(_COMPACT)


def extended(second: int) -> str:
    """Return ``2026-11-30T02:00:00Z``, the form of members."""
    return datetime.fromtimestamp(second, UTC).strftime(_EXTENDED)


def parse_compact(text: str) -> int:
    """Return the second that the compact form names. Raises ``ValueError`` for anything else."""
    if len(text) != 16 or text[8] != "T" or text[15] != "Z" or not (text[:8] + text[9:15]).isdecimal():
        raise ValueError(f"{text[:40]!r} is no UTC second")
    # By hand: names are read by the hundred thousand, and strptime takes ten times as long.
    parts = (int(text[a:b]) for a, b in ((0, 4), (4, 6), (6, 8), (9, 11), (11, 13), (13, 15)))
    return int(datetime(*parts, tzinfo=UTC).timestamp())


def parse_extended(text: str) -> int:
    """Return the second that the extended form names. Raises ``ValueError`` for anything else."""
    if len(text) != 20 or text[10] != "T" or text[19] != "Z":
        raise ValueError(f"{text[:40]!r} is no UTC second")
    return int(datetime.fromisoformat(text).timestamp())


def compact_of(extended_text: str) -> str:
    """Return the compact form of an extended one by dropping its separators; no clock arithmetic."""
    return extended_text.replace("-", "").replace(":", "")
