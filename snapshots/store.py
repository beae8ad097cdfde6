"""The store: a grow-only set of immutable snapshot files.

Two stores merge by copying: equal names are equal bytes. The current answer of a ``(request_hash, trial)`` is its last name in sort order.
Reading never repairs, deletes or asks. Writing, step by step, each for the failure it is for:

1. a temporary file in ``tmp/``: a crash half-way leaves nothing that looks like a snapshot;
2. fsync of that file: after a power cut a name never stands over missing bytes;
3. a hard link to the final name, which fails where the name exists: two writers cannot overwrite each other;
4. fsync of the folder (grouped, ``flush``): the name itself survives a power cut.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from snapshots import durable, staging
from snapshots import snapshot as snapshot_file
from snapshots.errors import CorruptSnapshot, StoreError
from snapshots.snapshot import Snapshot
from snapshots.staging import Staged

__all__ = ["Found", "Staged", "Store", "read_bytes"]

_CHUNK = 1 << 20
# A pipe under a snapshot's name would wait for a writer that never comes; Windows has neither the pipe nor the flag.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True, slots=True)
class Found:
    """A file of the store by name. Paths are spelled when they are asked for: plans hold one of these for each row."""

    base: str
    name: str
    folder: str

    @property
    def path(self) -> str:
        """Return the path of the file."""
        return f"{self.base}/{self.folder}/{self.name}"

    @property
    def shown(self) -> str:
        """Return the path as messages call it: under the store's own folder, the same on every machine."""
        return f"sha256/{self.folder}/{self.name}"


class Store:
    """A store on the local disk. ``root`` is the snapshots folder; the files are under ``root/sha256``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._base = os.path.join(os.fspath(root), "sha256")
        self._folders: dict[str, dict[str, str]] = {}
        self._unsynced: set[str] = set()

    def current(self, request_hash: str, trial: int, *, fresh: bool = False) -> Found | None:
        """Return the current file of an identity, or ``None``.

        Args:
            request_hash: 64 hex digits.
            trial: 0 for the plain one.
            fresh: list the folder again and see what other writers have added.

        Raises:
            StoreError: the folder cannot be listed.
        """
        folder = request_hash[:2]
        if fresh:
            self._folders.pop(folder, None)
        name = self._listing(folder).get(f"{request_hash[2:]}.{trial}")
        return None if name is None else Found(self._base, name, sys.intern(folder))

    def observations(self, request_hash: str, trial: int) -> list[Found]:
        """Return all files of an identity in sort order, the current one last."""
        folder, prefix = request_hash[:2], f"{request_hash[2:]}.{trial}."
        names = [n for n in self._names(folder) if n.startswith(prefix) and snapshot_file.parse_name(folder, n)]
        return [Found(self._base, name, sys.intern(folder)) for name in names]

    def find(self, request_hash: str, trial: int, integrity: str) -> Found | None:
        """Return the very observation whose integrity digest begins as given, or ``None``."""
        for found in self.observations(request_hash, trial):
            parts = snapshot_file.parse_name(found.folder, found.name)
            if parts is not None and integrity.startswith(parts.integrity):
                return found
        return None

    def read(self, found: Found) -> Snapshot:
        """Read and check one file.

        Raises:
            CorruptSnapshot: it is not what its name, its digest or its shape says.
            StoreError: it cannot be read at all.
        """
        return snapshot_file.read(read_bytes(found.path), folder=found.folder, name=found.name, path=found.shown)

    def walk(self, prefix: str = "") -> Iterator[Found]:
        """Yield every snapshot file in sort order. Files of other names are not yielded; ``verify`` names them.

        Args:
            prefix: only those whose request hash begins so.
        """
        start, rest = prefix[:2], prefix[2:]
        for folder in self._folder_names():
            for name in self._names(folder) if folder.startswith(start) else ():
                if name.startswith(rest) and snapshot_file.parse_name(folder, name) is not None:
                    yield Found(self._base, name, sys.intern(folder))

    def put(self, name: str, data: bytes) -> Found:
        """Write one snapshot file and return it; an existing name is left as it is, for equal names are equal bytes.

        Call ``flush`` before telling anyone that it is stored. Many files are written faster in groups: ``stage`` each,
        ``sync`` all, ``link`` each.

        Raises:
            StoreError: the disk refused; nothing that looks like a snapshot is left behind.
        """
        staged = self.stage(name, data)
        self.sync([staged])
        return self.link(staged)

    def stage(self, name: str, data: bytes) -> Staged:
        """Write the bytes of a snapshot file under a temporary name.

        Raises:
            StoreError: the disk refused.
        """
        try:
            self._make_folders(name[:2])
            return staging.write(os.path.join(self.root, "tmp"), name, data)
        except OSError as error:
            raise self._refused(error) from error

    def sync(self, staged: Sequence[Staged]) -> None:
        """Make the bytes of staged files durable; where that fails they are removed.

        Raises:
            StoreError: the disk refused.
        """
        try:
            durable.sync_files([one.temporary for one in staged])
        except OSError as error:
            for one in staged:
                one.discard()
            raise self._refused(error) from error

    def link(self, staged: Staged) -> Found:
        """Give a synced file its name and return it.

        Raises:
            StoreError: the disk refused; nothing that looks like a snapshot is left behind.
        """
        folder, _, file_name = staged.name.partition("/")
        final = f"{self._base}/{folder}/{file_name}"
        try:
            staging.link(staged, final)
        except OSError as error:
            raise self._refused(error) from error
        self._unsynced.add(folder)
        listing = self._folders.get(folder)
        if listing is not None:
            identity = _identity(file_name)
            listing[identity] = max(listing.get(identity, ""), file_name)
        return Found(self._base, file_name, folder)

    def _refused(self, error: OSError) -> StoreError:
        return StoreError(
            f"cannot write to the store: {error.strerror or error}", hint=f"check space and permissions of {self.root}"
        )

    def flush(self) -> None:
        """Make the names of all files written since the last flush durable."""
        folders, self._unsynced = self._unsynced, set()
        try:
            durable.sync_folders([f"{self._base}/{folder}" for folder in sorted(folders)])
        except OSError as error:
            raise self._refused(error) from error

    def _make_folders(self, folder: str) -> None:
        for path in (os.path.join(self.root, "tmp"), f"{self._base}/{folder}"):
            if not os.path.isdir(path):
                os.makedirs(path, exist_ok=True)
                durable.sync_folders([os.path.dirname(path)])

    def _listing(self, folder: str) -> dict[str, str]:
        listing = self._folders.get(folder)
        if listing is None:
            listing = {}
            # From the last name to the first: the first sound name of an identity is its last, and only that one is parsed.
            for name in reversed(self._names(folder)):
                if (identity := _identity(name)) not in listing and snapshot_file.parse_name(folder, name) is not None:
                    listing[identity] = name
            self._folders[folder] = listing
        return listing

    def _names(self, folder: str) -> list[str]:
        return self._listed(f"{self._base}/{folder}")

    def _folder_names(self) -> list[str]:
        return [name for name in self._listed(self._base) if len(name) == 2]

    def _listed(self, path: str) -> list[str]:
        try:
            return sorted(os.listdir(path))
        except (FileNotFoundError, NotADirectoryError):
            self._refuse_no_folder()
            return []
        except OSError as error:
            raise StoreError(
                f"cannot list the store: {error.strerror}", hint=f"check permissions of {self._base}"
            ) from error

    def _refuse_no_folder(self) -> None:
        """Refuse a file where the store should be: taken for an empty store, everything in it would seem never recorded."""
        for path, what in ((self.root, "the store"), (self._base, "sha256 in the store")):
            if os.path.lexists(path) and not os.path.isdir(path):
                raise StoreError(f"cannot list the store: {what} is no folder", hint=f"look at {path}")


def read_bytes(path: str) -> bytes:
    """Read a whole file with as few system calls as it takes. Errors call it as the store does, ``sha256/3f/….json``.

    Raises:
        CorruptSnapshot: the path is no file: a folder, a pipe, a broken link.
        StoreError: the system refuses to read it.
    """
    try:
        handle = os.open(path, _READ)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise _no_file(path)
            data = os.read(handle, _CHUNK)
            if len(data) == _CHUNK:
                parts = [data]
                while part := os.read(handle, _CHUNK):
                    parts.append(part)
                data = b"".join(parts)
            return data
        finally:
            os.close(handle)
    except OSError as error:
        # ENXIO: a socket. ELOOP: links that lead to each other.
        if isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError) or error.errno in (
            errno.ENXIO, errno.ELOOP,
        ):  # fmt: skip
            raise _no_file(path) from error
        raise StoreError(f"cannot read {_shown(path)}: {error.strerror}", hint="check its permissions") from error


def _no_file(path: str) -> CorruptSnapshot:
    return CorruptSnapshot(f"corrupt snapshot {_shown(path)}: it is no file", hint="restore it from git or a copy")


def _shown(path: str) -> str:
    """Return the end of a path that is the same on every machine: results are written without any other."""
    return "/".join(Path(path).parts[-3:])


def _identity(name: str) -> str:
    """Return ``<62 hex>.<trial>`` of a file name."""
    tail, _, rest = name.partition(".")
    return f"{tail}.{rest.partition('.')[0]}"
