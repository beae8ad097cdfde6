"""Find recordings for people: by the beginning of a hash, or by file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields

import orjson

from snapshots import dialects, snapshot
from snapshots.errors import UsageError, WhichclockError
from snapshots.snapshot import Snapshot
from snapshots.store import Found, Store


@dataclass(frozen=True, slots=True)
class Identity:
    """One ``(request_hash, trial)``: its current file, and how many observations there are."""

    request_hash: str
    trial: int
    current: Found
    observations: int


def identities(store: Store, prefix: str = "") -> Iterator[Identity]:
    """Yield the identities whose request hash begins as given, in the order of hash and trial.

    Raises:
        UsageError: the prefix is no beginning of a hash.
    """
    text = prefix.lower()
    if len(text) > 64 or text.strip("0123456789abcdef"):
        raise UsageError(f"{prefix!r} is no beginning of a request hash", hint="whichclock snapshots ls lists them")
    group: list[Found] = []
    for found in store.walk(text):
        if group and found.name.partition(".")[0] != group[0].name.partition(".")[0]:
            yield from _of_one_request(group)
            group = []
        group.append(found)
    if group:
        yield from _of_one_request(group)


def _of_one_request(group: list[Found]) -> Iterator[Identity]:
    last: dict[int, Found] = {}
    counts: Counter[int] = Counter()
    for found in group:
        parts = snapshot.parse_name(found.folder, found.name)
        if parts is not None:
            last[parts.trial] = found  # in sort order, so the last one stays
            counts[parts.trial] += 1
    for trial in sorted(last):
        request_hash = last[trial].folder + last[trial].name.partition(".")[0]
        yield Identity(request_hash, trial, last[trial], counts[trial])


def read_any(data: bytes, path: str) -> Snapshot:
    """Read the bytes of a snapshot whatever the file is called: a copy, an attachment, git's temporary file.

    Raises:
        CorruptSnapshot: its bytes are not what its digest or its shape says.
    """
    # The name is the one thing that cannot be checked here, so it is taken from the members.
    folder, _, name = _own_name(data).partition("/")
    return snapshot.read(data, folder=folder, name=name, path=path)


def _own_name(data: bytes) -> str:
    try:
        value = orjson.loads(data)
        members = {f.name: value[f.name] for f in fields(Snapshot)}
        return Snapshot(**members | {"integrity": value["integrity"].removeprefix("sha256:")}).name
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return ""


def reported_model(found: Snapshot) -> str | None:
    """Return the model that an answer reports, or ``None``."""
    reader, _ = dialects.reader_for(found.request, found.response)
    try:
        return dialects.read(reader, found.response).model
    except WhichclockError:
        return None
