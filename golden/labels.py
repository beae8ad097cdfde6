"""Saved runs: ``results/<label>/<UTC second>-<12 of the file's SHA-256>.parquet``, never overwritten; ``label~1`` counts back."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import orjson

from snapshots import instant
from snapshots.errors import RefError, StoreError, UsageError

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_REF = re.compile(r"(?P<label>[A-Za-z0-9][A-Za-z0-9._-]*)(?:~(?P<back>[0-9]{1,6}))?")
_RUN = re.compile(r"(?P<second>[0-9]{8}T[0-9]{6}Z)-[0-9a-f]{12}\.parquet")
SOURCES = "sources"


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A results file and the folder that holds its source bundles. ``ref`` is how the user called it."""

    ref: str
    path: Path
    sources: Path


def check_label(label: str) -> None:
    """Refuse what is no label. Raises ``UsageError``."""
    if not _LABEL.fullmatch(label) or label == SOURCES:
        raise UsageError(
            f"{label!r} is no label",
            hint=f"labels match [A-Za-z0-9][A-Za-z0-9._-]* and are not {SOURCES!r}: main, pr-17, v1.2",
        )


def runs(results: Path, label: str) -> list[Path]:
    """Return the runs of a label, oldest first."""
    folder = results / label
    return sorted((p for p in folder.iterdir() if _is_run(p.name)), key=lambda p: p.name) if folder.is_dir() else []


def _is_run(name: str) -> bool:
    try:
        return _RUN.fullmatch(name) is not None and instant.parse_compact(name[:16]) >= 0
    except ValueError:  # the thirteenth month
        return False


def labels(results: Path) -> list[str]:
    """Return all labels that have a run."""
    if not results.is_dir():
        return []
    return sorted(p.name for p in results.iterdir() if p.is_dir() and p.name != SOURCES and runs(results, p.name))


def resolve(ref: str, results: Path) -> SavedRun:
    """Return the saved run that a REF names: a file that ends in ``.parquet``, ``label`` or ``label~n``.

    Raises:
        RefError: it names nothing; the labels that exist are shown.
    """
    if ref.endswith(".parquet"):
        path = Path(ref)
        if not path.is_file():
            raise RefError(f"no results file {ref}", hint="make one with: whichclock grade --out FILE.parquet")
        return SavedRun(ref, path, _sources_of(path))
    found = _REF.fullmatch(ref)
    history = runs(results, found["label"]) if found else []
    back = int(found["back"] or 0) if found else 0
    if not history:
        known = labels(results)
        near = get_close_matches(ref, known, 1)
        listed = f"labels: {', '.join(known)}" if known else "no run is saved yet: whichclock grade --save LABEL"
        raise RefError(f"{ref!r} names no saved run", hint=f"did you mean {near[0]!r}?" if near else listed)
    if back >= len(history):
        raise RefError(
            f"{ref!r} goes back further than the {len(history)} saved runs of {found['label'] if found else ref!r}"
        )
    return SavedRun(ref, history[-1 - back], results / SOURCES)


def _sources_of(path: Path) -> Path:
    """Return where the bundles of a file stand: beside it, or with all others where the file is one of a label's runs."""
    beside = path.parent / SOURCES
    return path.parent.parent / SOURCES if not beside.is_dir() and (path.parent.parent / SOURCES).is_dir() else beside


def save(temporary: Path, results: Path, label: str) -> Path:
    """Give a finished file its name under a label and return it. The temporary name is gone in any case.

    Raises:
        StoreError: the disk refused.
    """
    try:
        digest = hashlib.sha256(temporary.read_bytes()).hexdigest()[:12]
        folder = results / label
        folder.mkdir(parents=True, exist_ok=True)
        with _free_second(results, label) as second:
            path = folder / f"{instant.compact(second)}-{digest}.parquet"
            os.rename(temporary, path)
            return path
    except OSError as error:
        raise StoreError(
            f"cannot save results under {results}: {error.strerror}", hint="check space and permissions"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _free_second(results: Path, label: str) -> Generator[int]:
    """Yield a second after all runs of a label, held against other savers: ``label~1`` must mean one run to everybody.

    Names end in digests, so two savers of one second would both get a name. A claim stands for the second alone; who holds it
    looks again whether a run has taken the second meanwhile.
    """
    second = max(instant.now(), _last_second(results, label) + 1)
    while True:
        claim = results / label / f".{instant.compact(second)}"
        try:
            os.close(os.open(claim, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
        except FileExistsError:
            second += 1  # held by another saver, or left by one that was killed
            continue
        try:
            last = _last_second(results, label)
            if last < second:
                yield second
                return
            second = last + 1
        finally:
            claim.unlink(missing_ok=True)


def _last_second(results: Path, label: str) -> int:
    history = runs(results, label)
    return instant.parse_compact(history[-1].name[:16]) if history else 0


def write_sources(folder: Path, sources: dict[str, dict[str, Any]]) -> None:
    """Write the source bundles that are not there yet, one file for each grader digest.

    Raises:
        StoreError: the disk refused.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for digest, bundle in sources.items():
            path = folder / f"{digest}.json"
            if not path.exists():
                temporary = folder / f".{digest}.{os.getpid()}.tmp"
                try:
                    temporary.write_bytes(
                        orjson.dumps(bundle, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"
                    )
                    os.replace(temporary, path)
                finally:
                    temporary.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"cannot write {folder}: {error.strerror}", hint="check space and permissions") from error


def read_sources(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the source bundles in a folder by their digest; what is none is left out, and so cannot run."""
    bundles: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            value = orjson.loads(path.read_bytes())
        except (OSError, orjson.JSONDecodeError):
            continue
        if isinstance(value, dict):
            bundles[path.stem] = value
    return bundles
