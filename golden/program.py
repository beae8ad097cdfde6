"""What an exec target runs: the digest of each element of its command that is a file. Evidence, never part of a key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from golden.digest import file_digest


def digests(root: Path, command: Iterable[str]) -> dict[str, str]:
    """Return element → ``sha256:`` of the file's bytes (CRLF read as LF), for the elements that are files seen from ``root``."""
    found: dict[str, str] = {}
    for element in command:
        path = root / element
        try:
            if element and path.is_file():
                found[element] = f"sha256:{file_digest(path.read_bytes())}"
        except (OSError, ValueError):
            continue  # no name that a file can have, or one that may be run and not read
    return found


def moved(recorded: Mapping[str, Any], today: Mapping[str, str]) -> list[str]:
    """Return the elements of a command whose files are others today than when an answer was recorded, sorted."""
    return sorted(name for name in recorded.keys() | today.keys() if recorded.get(name) != today.get(name))
