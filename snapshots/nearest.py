"""The recorded request that is nearest to one that has no recording: what was edited, by pointer.

The work is bounded whatever the size of the store: a sample of its files is read once, and each request is compared
with those.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from snapshots import snapshot as snapshot_file
from snapshots.canonical import encode
from snapshots.errors import CorruptSnapshot, StoreError
from snapshots.pointer import differing, look_up
from snapshots.store import Found, Store

LIMIT = 2000
_MOST_POINTERS = 200


class Near(NamedTuple):
    """A recorded request and the pointers at which the wanted one differs from it."""

    request_hash: str
    pointers: tuple[str, ...]

    @property
    def only_the_address(self) -> bool:
        """Tell whether nothing but the URL differs: another base URL is another key."""
        return self.pointers == ("/url",)

    @property
    def differs_in_address(self) -> bool:
        """Tell whether the URL is among what differs."""
        return "/url" in self.pointers


class Neighbours:
    """A sample of a store's requests, read at the first question.

    Args:
        store: where recordings are.
        limit: most files that are read.
    """

    def __init__(self, store: Store, limit: int = LIMIT) -> None:
        self._store = store
        self._limit = limit
        self._documents: dict[str, dict[str, Any]] | None = None

    def nearest(self, document: Mapping[str, Any]) -> Near | None:
        """Return the nearest recorded request: fewest differing pointers, then fewest differing characters."""
        wanted = dict(document)
        best: tuple[int, int, str] | None = None
        pointers: tuple[str, ...] = ()
        for request_hash, recorded in self._recorded().items():
            most = _MOST_POINTERS if best is None else best[0]
            different = _pointers(recorded, wanted, most)
            if different is None:
                continue
            rank = (len(different), _characters(recorded, wanted, different), request_hash)
            if best is None or rank < best:
                best, pointers = rank, different
        return None if best is None else Near(best[2], pointers)

    @property
    def is_empty(self) -> bool:
        """Tell whether the store holds no request to compare with."""
        return not self._recorded()

    def _recorded(self) -> dict[str, dict[str, Any]]:
        if self._documents is None:
            self._documents = dict(_sample(self._store, self._limit))
        return self._documents


def nearest(store: Store, document: Mapping[str, Any], limit: int = LIMIT) -> Near | None:
    """Return the nearest recorded request to a document, or ``None`` where nothing comparable is recorded.

    For several questions to one store make one ``Neighbours``: it reads its sample once.
    """
    return Neighbours(store, limit).nearest(document)


def _sample(store: Store, limit: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield requests by hash, the newest file of each, from evenly spread names of as few folders as hold enough."""
    names = _last_names(store.root / "sha256", limit)
    step = max(1, -(-len(names) // limit))
    for folder, name in names[::step]:
        try:
            snapshot = store.read(Found(str(store.root / "sha256"), name, folder))
        except (CorruptSnapshot, StoreError):
            continue  # a damaged file explains nothing here; capture, grade and verify report it
        yield snapshot.request_hash, snapshot.request


def _last_names(base: Path, limit: int) -> list[tuple[str, str]]:
    found: dict[tuple[str, str], str] = {}
    for folder in _listed(base):
        for name in _listed(base / folder):
            if snapshot_file.parse_name(folder, name) is not None:
                found[folder, name.partition(".")[0]] = name
        if len(found) >= limit:
            break
    return [(folder, name) for (folder, _), name in found.items()]


def _listed(path: Path) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []  # no store, or a stray file among its folders


def _pointers(old: Any, new: Any, most: int) -> tuple[str, ...] | None:
    """Return the differing pointers, or ``None`` as soon as there are more than ``most``."""
    found: list[str] = []
    for pointer in differing(old, new):
        found.append(pointer)
        if len(found) > most:
            return None
    return tuple(found)


def _characters(old: Any, new: Any, pointers: tuple[str, ...]) -> int:
    """Return how many characters differ, counted between the common beginning and the common end of each part."""
    return sum(_apart(_text(old, pointer), _text(new, pointer)) for pointer in pointers)


def _text(document: Any, pointer: str) -> str:
    there, part = look_up(document, pointer)
    if not there:
        return ""
    return part if isinstance(part, str) else encode(part).decode()


def _apart(old: str, new: str) -> int:
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    return len(old) + len(new) - 2 * (start + end)


def _common(old: str, new: str) -> int:
    """Return the length of the common beginning."""
    shorter = min(len(old), len(new))
    return next((i for i in range(shorter) if old[i] != new[i]), shorter)
