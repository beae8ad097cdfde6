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
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from snapshots import durable
from snapshots import snapshot as snapshot_file
from snapshots.errors import CorruptSnapshot, StoreError
from snapshots.snapshot import Snapshot

_CHUNK = 1 << 20


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


@dataclass(frozen=True, slots=True)
class Staged:
    """A file that is written but has no name in the store yet."""

    temporary: str
    name: str


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
        names = sorted(n for n in self._names(folder) if n.startswith(prefix))
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
        """Yield every snapshot file in sort order. Files of other names are not yielded; see ``strays``.

        Args:
            prefix: only those whose request hash begins so.
        """
        start, rest = prefix[:2], prefix[2:]
        for folder in self._folder_names():
            for name in self._names(folder) if folder.startswith(start) else ():
                if name.startswith(rest) and snapshot_file.parse_name(folder, name) is not None:
                    yield Found(self._base, name, sys.intern(folder))

    def strays(self) -> Iterator[str]:
        """Yield the paths of ``.json`` files under ``sha256/`` whose names no snapshot has."""
        for folder in self._folder_names():
            for name in self._names(folder):
                if name.endswith(".json") and snapshot_file.parse_name(folder, name) is None:
                    yield f"{self._base}/{folder}/{name}"

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
        temporary = os.path.join(self.root, "tmp", f"{os.getpid()}-{os.urandom(8).hex()}")
        try:
            self._make_folders(name[:2])
            _write_new(temporary, data)
        except OSError as error:
            raise self._refused(error) from error
        return Staged(temporary, name)

    def sync(self, staged: Sequence[Staged]) -> None:
        """Make the bytes of staged files durable; where that fails they are removed.

        Raises:
            StoreError: the disk refused.
        """
        try:
            durable.sync_files([one.temporary for one in staged])
        except OSError as error:
            for one in staged:
                Path(one.temporary).unlink(missing_ok=True)
            raise self._refused(error) from error

    def link(self, staged: Staged) -> Found:
        """Give a synced file its name and return it.

        Raises:
            StoreError: the disk refused; nothing that looks like a snapshot is left behind.
        """
        folder, _, file_name = staged.name.partition("/")
        final = f"{self._base}/{folder}/{file_name}"
        try:
            try:
                _link(staged.temporary, final)
            finally:
                Path(staged.temporary).unlink(missing_ok=True)  # the fallback for systems without links has moved it
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
            for name in self._names(folder):  # sorted, so that the last name of an identity stays
                if name.endswith(".json"):
                    listing[_identity(name)] = name
            self._folders[folder] = listing
        return listing

    def _names(self, folder: str) -> list[str]:
        try:
            return sorted(os.listdir(f"{self._base}/{folder}"))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise StoreError(
                f"cannot list the store: {error.strerror}", hint=f"check permissions of {self._base}"
            ) from error

    def _folder_names(self) -> list[str]:
        try:
            return sorted(n for n in os.listdir(self._base) if len(n) == 2)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise StoreError(
                f"cannot list the store: {error.strerror}", hint=f"check permissions of {self._base}"
            ) from error


def read_bytes(path: str) -> bytes:
    """Read a whole file with as few system calls as it takes.

    Raises:
        CorruptSnapshot: the path is a folder or a broken link.
        StoreError: the system refuses to read it.
    """
    try:
        handle = os.open(path, os.O_RDONLY)
        try:
            data = os.read(handle, _CHUNK)
            if len(data) == _CHUNK:
                parts = [data]
                while part := os.read(handle, _CHUNK):
                    parts.append(part)
                data = b"".join(parts)
            return data
        finally:
            os.close(handle)
    except (FileNotFoundError, IsADirectoryError) as error:
        raise CorruptSnapshot(
            f"corrupt snapshot {path}: it is no file", hint="restore it from git or a copy"
        ) from error
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}", hint="check its permissions") from error


def _identity(name: str) -> str:
    """Return ``<62 hex>.<trial>`` of a file name."""
    tail, _, rest = name.partition(".")
    return f"{tail}.{rest.partition('.')[0]}"


def _link(temporary: str, final: str) -> None:
    try:
        os.link(temporary, final)
    except FileExistsError:
        return
    except OSError as error:
        # Some file systems know no hard links. A rename may then replace a file of the same name, that is, of the same bytes.
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
            raise
        os.rename(temporary, final)


def _write_new(path: str, data: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
    except BaseException:
        os.unlink(path)
        raise
    finally:
        os.close(handle)
