"""What an exec target runs: the digest of each element of its command that is a file. Evidence, never part of a key."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from golden import placeholder
from golden.digest import file_digest
from snapshots.errors import CallError


def digests(root: Path, command: Iterable[str], environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return element → ``sha256:`` of the file's bytes (CRLF read as LF), for the elements that are files seen from ``root``.

    Args:
        root: where the command runs.
        command: its words; the value of a ``{{ env.X }}`` leads to the file, and is shown as ``${env:X}``.
        environ: where variables are looked up; the process's own environment if not given.
    """
    read = placeholder.from_environment(os.environ if environ is None else environ)
    found: dict[str, str] = {}
    for element in command:
        try:
            path = root / placeholder.fill(element, read)
            if element and path.is_file():
                found[placeholder.fill(element, placeholder.keyed)] = f"sha256:{file_digest(path.read_bytes())}"
        except (CallError, OSError, ValueError):
            continue  # not set here, no name that a file can have, or one that may be run and not read
    return found


def moved(recorded: Mapping[str, Any], today: Mapping[str, str]) -> list[str]:
    """Return the elements of a command whose files are others today than when an answer was recorded, sorted.

    One that a variable leads to is looked at only where it leads to a file today: replays need no variables.
    """
    names = {name for name in recorded if name in today or not placeholder.spells_key(name)} | today.keys()
    return sorted(name for name in names if recorded.get(name) != today.get(name))
