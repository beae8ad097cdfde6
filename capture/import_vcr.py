"""Import cassettes: judge file after file, write what is new to the store, and count what became of every entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from capture import cassette, import_files, new_store
from capture.import_plan import Plan, Refusal, Rules, plan
from capture.storable import Storable
from golden.redaction import Redaction
from snapshots.errors import UsageError, WhichclockError
from snapshots.progress import progress
from snapshots.store import Staged, Store

_GROUP = 256
_META = {"import": "vcr"}


@dataclass(frozen=True, slots=True)
class FileResult:
    """What became of one file. ``reason`` says why it is no cassette; then nothing of it is counted."""

    file: str
    entries: int = 0
    imported: int = 0
    duplicates: int = 0
    refused: tuple[Refusal, ...] = ()
    tagged: bool = False
    reason: str | None = None


@dataclass(slots=True)
class ImportResult:
    """What became of all files."""

    files: list[FileResult] = field(default_factory=list[FileResult])
    readers: Counter[str] = field(default_factory=Counter[str])
    observations: dict[tuple[str, int], set[str]] = field(default_factory=dict[tuple[str, int], set[str]])

    @property
    def is_clean(self) -> bool:
        """Tell whether every entry of every file is in the store."""
        return not any(file.refused or file.reason for file in self.files)

    def summary(self) -> dict[str, Any]:
        """Return the counts of all files; entries are imported, duplicates or refused, and nothing else."""
        hashes = Counter(request_hash for request_hash, _ in self.observations)
        return {
            "files": len(self.files),
            "no_cassettes": sum(file.reason is not None for file in self.files),
            "interactions": sum(file.entries for file in self.files),
            "imported": sum(file.imported for file in self.files),
            "duplicates": sum(file.duplicates for file in self.files),
            "refused": sum(len(file.refused) for file in self.files),
            "requests": len(hashes),
            "requests_of_several_trials": sum(count > 1 for count in hashes.values()),
            "trials_of_several_observations": sum(len(names) > 1 for names in self.observations.values()),
            "readers": dict(sorted(self.readers.items())),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each file."""
        return [
            {
                "file": file.file,
                "interactions": file.entries,
                "imported": file.imported,
                "duplicates": file.duplicates,
                "refused": [{"index": refusal.index, "reason": refusal.reason} for refusal in file.refused],
                "tags_read_as_data": file.tagged,
                "no_cassette": file.reason,
            }
            for file in self.files
        ]


def rules(redaction: Redaction, *, endpoint: str | None, accepted: Sequence[int]) -> Rules:
    """Return the rules by which entries are taken.

    Args:
        redaction: what the suite takes out of requests and answers.
        endpoint: the name that stands for scheme, host and port, or ``None``.
        accepted: other statuses than those of success that are answers.
    """
    meta = {**_META, "redaction": redaction.digest} if redaction else _META
    return Rules(
        endpoint=endpoint,
        accepted=frozenset(accepted),
        storable=Storable(redaction),
        meta=meta,
        redact=lambda document: redaction.request(document)[0],
    )


def import_vcr(paths: Sequence[Path], root: Path, by: Rules, *, quiet: bool) -> ImportResult:
    """Import cassettes into the store at ``root``, which is made where there is none.

    Raises:
        UsageError: a path is missing, a named file is no cassette, or no file is one; nothing is written then.
        StoreError: the disk refused.
    """
    found = import_files.files(paths)
    import_files.require_cassettes(found)
    importer = _Importer(root)
    for file in progress("import", lambda: found, quiet=quiet):
        try:
            planned = plan(cassette.load(file.path), by)
        except (WhichclockError, OSError) as error:
            importer.result.files.append(FileResult(str(file.path), reason=import_files.reason(error)))
            continue
        importer.add(str(file.path), planned)
    importer.write()
    if all(file.reason is not None for file in importer.result.files):
        first = importer.result.files[0]
        raise UsageError(f"nothing to import: no file is a cassette; {first.file}: {first.reason}")
    return importer.result


class _Importer:
    """Writes what is new, a group of files at a time, each made durable before the next."""

    def __init__(self, root: Path) -> None:
        self.result = ImportResult()
        self._root = root
        self._store = Store(root)
        self._waiting: list[tuple[str, bytes]] = []
        self._seen: set[str] = set()
        self._made = False

    def add(self, file: str, planned: Plan) -> None:
        """Take what a cassette gives."""
        imported = 0
        for made in planned.made:
            self.result.readers[made.reader] += made.entries
            self.result.observations.setdefault((made.request_hash, made.trial), set()).add(made.name)
            if made.name not in self._seen and not (self._root / "sha256" / made.name).exists():
                imported += 1
                self._waiting.append((made.name, made.data))
            self._seen.add(made.name)
        stored = planned.entries - len(planned.refused)
        self.result.files.append(
            FileResult(file, planned.entries, imported, stored - imported, tuple(planned.refused), planned.tagged)
        )
        if len(self._waiting) >= _GROUP:
            self.write()

    def write(self) -> None:
        """Make durable what waits."""
        if not self._waiting:
            return
        if not self._made:
            new_store.prepare(self._root)
            self._made = True
        staged: list[Staged] = []
        try:
            staged += [self._store.stage(name, data) for name, data in self._waiting]
            self._store.sync(staged)
            for one in staged:
                self._store.link(one)
            self._store.flush()
        finally:
            for one in staged:
                one.discard()
        self._waiting.clear()
