"""The files that an import is about: those that are named, and in folders all whose names may be a cassette's."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from capture import cassette
from snapshots.errors import UsageError, WhichclockError

_HINT = "name cassettes as VCR.py writes them (YAML or JSON), or folders that hold some"


@dataclass(frozen=True, slots=True)
class File:
    """A file, and whether it was named itself."""

    path: Path
    named: bool


def files(paths: Sequence[Path]) -> list[File]:
    """Return the files under some paths, each once, in sorted order.

    Raises:
        UsageError: a path does not exist or is neither file nor folder; a named file is no cassette; there is none at all.
    """
    found: dict[str, File] = {}
    for path in paths:
        if path.is_dir():
            for inside in _inside(path):
                found.setdefault(os.path.realpath(inside), File(inside, named=False))
        else:
            _require_file(path)
            found[os.path.realpath(path)] = File(path, named=True)
    if not found:
        where = ", ".join(map(str, paths))
        raise UsageError(f"nothing to import: no file under {where} has the name of a cassette", hint=_HINT)
    return sorted(found.values(), key=lambda file: str(file.path))


def require_cassettes(found: Sequence[File]) -> None:
    """Refuse files that were named and are no cassettes, before anything is written.

    Raises:
        UsageError: one is none; the message names it.
    """
    for file in found:
        if file.named:
            try:
                cassette.load(file.path)
            except (WhichclockError, OSError) as error:
                raise UsageError(f"{file.path}: {reason(error)}", hint=_HINT) from None


def reason(error: WhichclockError | OSError) -> str:
    """Return why a file could not be read, in one line."""
    return error.message if isinstance(error, WhichclockError) else f"it cannot be read: {error.strerror or error}"


def _require_file(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        told = (error.strerror if isinstance(error, OSError) else None) or "no such file"
        raise UsageError(f"{path}: {told.lower()}", hint=_HINT) from None
    if not stat.S_ISREG(mode):
        raise UsageError(f"{path}: it is neither a file nor a folder", hint=_HINT)


def _inside(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in names:
            path = Path(root, name)
            if path.suffix.lower() in cassette.SUFFIXES and path.is_file():
                yield path
