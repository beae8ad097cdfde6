"""Verify files: everything that a read checks, the schema, and both hashes by the file's own rule."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from snapshots import dialects, request, schema, snapshot, strict_json
from snapshots.errors import CorruptSnapshot, StoreError, UsageError, WhichclockError
from snapshots.store import read_bytes


@dataclass(frozen=True, slots=True)
class Checked:
    """One file and what is wrong with it; ``None`` where it is sound."""

    path: str
    reason: str | None


def files(root: Path) -> Iterator[Path]:
    """Yield all ``.json`` files under a store's ``sha256`` folder in sort order, whatever they are called."""
    for folder, folders, names in os.walk(root / "sha256"):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".json"):
                yield Path(folder, name)


def files_of(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files that are named, and those of the folders that are named.

    Raises:
        UsageError: a path is not there.
    """
    for path in paths:
        if path.is_dir():
            yield from files(path) if (path / "sha256").is_dir() else sorted(path.rglob("*.json"))
        elif path.exists() or path.is_symlink():
            yield path
        else:
            raise UsageError(f"there is no {path}", hint="name a snapshot file or a folder of them")


def check(path: Path) -> Checked:
    """Check one file. Nothing is raised: what is wrong is the answer."""
    return Checked(str(path), _fault(path))


def _fault(path: Path) -> str | None:
    folder, name = path.parent.name, path.name
    if snapshot.parse_name(folder, name) is None:
        return "its name is no snapshot's: no command will ever read it"
    try:
        data = read_bytes(str(path))
        found = snapshot.read(data, folder=folder, name=name, path=f"sha256/{folder}/{name}")
        value = strict_json.loads(data, wrapped=snapshot.WRAPPED)
    except (CorruptSnapshot, StoreError) as error:
        return error.message.partition(": ")[2] or error.message
    except WhichclockError as error:
        return error.message
    return schema.first_error(value) or _hash_fault(found)


def _hash_fault(found: snapshot.Snapshot) -> str | None:
    if request.request_hash(found.request) != found.request_hash:
        return "its request_hash is not the hash of its request"
    if found.answer_rule not in dialects.known_rules():
        return f"its answer rule {found.answer_rule} is not one that this version knows"
    try:
        answer = dialects.answer_hash(found.answer_rule, found.response)
    except (WhichclockError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"its answer cannot be hashed by {found.answer_rule} ({error})"
    return None if answer == found.answer_hash else f"its answer_hash is not what {found.answer_rule} gives"
