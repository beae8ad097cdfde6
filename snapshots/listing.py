"""What the store holds, line by line and counted."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from snapshots import lookup, snapshot
from snapshots.console import neutral, shorten, width
from snapshots.errors import CorruptSnapshot
from snapshots.lookup import Identity
from snapshots.progress import progress
from snapshots.snapshot import Snapshot
from snapshots.store import Found, Store

_HEAD = ("REQUEST", "TRIAL", "RECORDED AT", "STATUS", "ANSWER", "SEEN", "TARGET", "MODEL")
_WIDTHS = (12, 5, 20, 7, 16, 4, 16, 0)


@dataclass(frozen=True, slots=True)
class Listed:
    """One identity and its current recording; ``None`` where that is corrupt."""

    identity: Identity
    current: Snapshot | None


def rows(store: Store, prefix: str = "") -> Iterator[Listed]:
    """Yield what is recorded under hashes that begin as given. A corrupt current file is listed as such."""
    for identity in lookup.identities(store, prefix):
        try:
            yield Listed(identity, store.read(identity.current))
        except CorruptSnapshot:
            yield Listed(identity, None)


def head() -> str:
    """Return the line above the rows."""
    return _line(_HEAD)


def as_line(row: Listed) -> str:
    """Return a row for people, neutral. Widths are fixed, so that a large store need not be read before its first line."""
    one, current = row.identity, row.current
    start = (one.request_hash[:12], str(one.trial))
    if current is None:
        parts = snapshot.parse_name(one.current.folder, one.current.name)
        return _line((*start, "", "corrupt", "" if parts is None else parts.answer, str(one.observations), "", ""))
    return _line(
        (
            *start,
            current.recorded_at,
            str(current.response["status"]),
            current.answer_hash[:16],
            str(one.observations),
            neutral(str(current.meta.get("target", ""))),
            neutral(lookup.reported_model(current) or ""),
        )
    )


def as_dict(row: Listed) -> dict[str, Any]:
    """Return a row for ``--format json``; what a corrupt file does not tell is null."""
    one, current = row.identity, row.current
    return {
        "request_hash": one.request_hash,
        "trial": one.trial,
        "path": one.current.shown,
        "observations": one.observations,
        "corrupt": current is None,
        "recorded_at": current and current.recorded_at,
        "status": current and current.response["status"],
        "answer_hash": current and current.answer_hash,
        "answer_rule": current and current.answer_rule,
        "target": current and current.meta.get("target"),
        "reported_model": current and lookup.reported_model(current),
    }


def _line(cells: tuple[str, ...]) -> str:
    shown = [shorten(cell, most) if most else cell for cell, most in zip(cells, _WIDTHS, strict=True)]
    padded = [cell + " " * (most - width(cell)) for cell, most in zip(shown, _WIDTHS, strict=True)]
    return "  ".join(padded).rstrip()


def _size(found: Found) -> int:
    """Return a file's size; of a link its own, for it may lead nowhere."""
    try:
        return os.lstat(found.path).st_size
    except FileNotFoundError:  # gone since it was listed
        return 0


def stats(store: Store, *, quiet: bool = False) -> dict[str, Any]:
    """Return counts over the whole store: files, identities, bytes, and what the sound files say."""
    rules: Counter[str] = Counter()
    models: Counter[str] = Counter()
    trials: set[int] = set()
    files = size = corrupt = identities = requests = 0
    first: str | None = None
    last: str | None = None
    before = ("", -1)
    for found in progress("stats", store.walk, quiet=quiet):
        files += 1
        size += _size(found)
        try:
            read = store.read(found)
        except CorruptSnapshot:
            corrupt += 1
            continue
        # Names sort by request and then by trial, so equal ones stand together and none has to be remembered.
        requests += read.request_hash != before[0]
        identities += (read.request_hash, read.trial) != before
        before = (read.request_hash, read.trial)
        trials.add(read.trial)
        rules[read.answer_rule] += 1
        models[lookup.reported_model(read) or "not reported"] += 1
        first = min(first or read.recorded_at, read.recorded_at)
        last = max(last or read.recorded_at, read.recorded_at)
    return {
        "files": files,
        "corrupt": corrupt,
        "identities": identities,
        "requests": requests,
        "trials": len(trials),
        "bytes": size,
        "rules": dict(sorted(rules.items())),
        "models": dict(sorted(models.items())),
        "first": first,
        "last": last,
    }
