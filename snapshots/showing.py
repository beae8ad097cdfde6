"""What ``snapshots show`` and ``address`` are given: a file of any name, stdin, or the beginning of a hash."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from snapshots import lookup, snapshot, view
from snapshots.errors import UsageError, WhichclockError
from snapshots.store import Store

_SHOWN = 10


def given(name: str) -> bytes:
    """Return the bytes of a file, or of stdin for ``-``.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror or error}") from None


def file(path: Path, *, lenient: bool = False) -> Iterator[str]:
    """Yield a file as text.

    Args:
        path: a snapshot file, or a copy of one under any name.
        lenient: show a damaged file as it is, under the reason, instead of failing.

    Raises:
        CorruptSnapshot: the file is damaged.
    """
    data = given(str(path))
    try:
        if not lenient and snapshot.parse_name(path.parent.name, path.name) is not None:
            found = snapshot.read(data, folder=path.parent.name, name=path.name, path=str(path))
        else:
            found = lookup.read_any(data, path.name)
    except WhichclockError as error:
        if not lenient:
            raise
        # git names its temporary file anew each time: the reason alone keeps two views of the same bytes equal.
        yield from view.raw_lines(data, f"corrupt snapshot: {error.message.partition(': ')[2]}")
        return
    yield from view.lines(found)


def request_of(store: Store, prefix: str) -> str:
    """Return the hash of the one recorded request whose hash begins as given.

    Raises:
        UsageError: no recorded request begins so, or several do.
    """
    requests = sorted({one.request_hash for one in islice(lookup.identities(store, prefix), 1000)})
    if not requests:
        raise UsageError(
            f"no file and no recorded request is called {prefix}", hint="whichclock snapshots ls lists them"
        )
    if len(requests) > 1:
        listed = "\n".join(requests[:_SHOWN] + ["…"] * (len(requests) > _SHOWN))
        raise UsageError(f"{prefix} is the beginning of several request hashes:\n{listed}", hint="write more of it")
    return requests[0]


def recorded(store: Store, request_hash: str) -> Iterator[str]:
    """Yield the current recordings of a request, trial by trial; nothing where it has none.

    Raises:
        CorruptSnapshot: the file is damaged.
    """
    for i, one in enumerate(lookup.identities(store, request_hash)):
        if i:
            yield ""
        if one.observations > 1:
            yield f"the last of {one.observations} observations"
        yield from view.lines(store.read(one.current))
