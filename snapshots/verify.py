"""Verify files: everything that a read checks, the schema, and both hashes by the file's own rule."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from snapshots import dialects, request, schema, snapshot, strict_json
from snapshots.errors import CorruptSnapshot, StoreError, UsageError, WhichclockError
from snapshots.store import read_bytes


@dataclass(frozen=True, slots=True)
class Checked:
    """One file and what is wrong with it; ``None`` where it is sound."""

    path: str
    reason: str | None


def files(root: Path) -> Iterator[Path]:
    """Yield all that is called ``.json`` under a store's ``sha256`` folder in sort order, whatever its name and kind.

    Raises:
        StoreError: a folder cannot be listed; what stands in it would count as sound.
    """
    base = root / "sha256"
    if os.path.lexists(base) and not base.is_dir():
        raise StoreError("cannot list the store: sha256 in the store is no folder", hint=f"look at {base}")
    yield from _below(base)


def _below(folder: Path) -> Iterator[Path]:
    for name in sorted(_listed(folder)) if _is_folder(folder) else ():
        if name.endswith(".json"):
            yield folder / name
        elif _is_folder(folder / name):
            # A linked folder is entered, for reading enters it too; deeper down no command reads, and links go in circles.
            for at, folders, names in os.walk(folder / name, onerror=_refuse):
                yield from (Path(at, n) for n in sorted([*folders, *names]) if n.endswith(".json"))
                folders[:] = sorted(n for n in folders if not n.endswith(".json"))


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return False
        _refuse(error)


def _listed(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError as error:
        _refuse(error)


def _refuse(error: OSError) -> NoReturn:
    raise StoreError(f"cannot list {error.filename}: {error.strerror}", hint="check its permissions")


def files_of(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files that are named, and those of the folders that are named.

    Raises:
        UsageError: a path is not there.
        StoreError: a folder cannot be listed.
    """
    for path in paths:
        if path.is_dir() and not path.name.endswith(".json"):
            yield from files(path) if (path / "sha256").is_dir() else _below(path)
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
