"""One live capture of a store at a time: two schedules that overlap would both ask for everything and both pay.

The system's own file lock, so that a killed run leaves nothing behind that somebody would have to remove.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from snapshots import instant
from snapshots.console import neutral
from snapshots.errors import OperatorError, StoreError

NAME = "live.lock"
_NO_LOCKS = "a live capture needs file locks: put the store on a disk that has them and copy it afterwards"


@contextmanager
def live_lock(root: Path, now: int) -> Generator[None]:
    """Hold the lock of a store's live captures.

    Args:
        root: the store's folder.
        now: the current UTC second; it stands in the file, for whoever finds it held.

    Raises:
        OperatorError: another process holds it.
        StoreError: the file cannot be made.
    """
    if sys.platform == "win32":
        yield  # it has no lock that ends with its process and waits for nobody
        return
    import fcntl

    path = root / "log" / NAME
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StoreError(
            f"cannot lock the store: {error.strerror or error}", hint=f"check permissions of {root}"
        ) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _held(os.read(handle, 200)) from None
        except OSError as error:
            raise StoreError(f"cannot lock the store: {error.strerror or error}", hint=_NO_LOCKS) from error
        os.ftruncate(handle, 0)
        os.write(handle, f"process {os.getpid()} on {socket.gethostname()} since {instant.extended(now)}".encode())
        yield
    finally:
        os.close(handle)


def _held(words: bytes) -> OperatorError:
    who = neutral(words.decode("utf-8", "replace").strip()) or "another process"
    return OperatorError(
        f"another live capture of this store is running: {who}",
        hint="wait for it, or end it; nothing was asked",
    )
