"""Thrash: a request whose hash moved although no golden file did. Every such move is paid for, and nobody asked for it.

Each log holds the digest of the suite's files as they were. Where the log before this one holds the same digest, the
requests of both runs must be the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from capture.plan import Wanted
from golden.digest import file_digest
from golden.model import Suite
from snapshots import canonical
from snapshots.console import shorten
from snapshots.errors import CorruptSnapshot, StoreError
from snapshots.pointer import differing
from snapshots.store import Store

_DIGEST = "sha256:"
_SHOWN = 3
_POINTERS = 5


def golden_digest(suite: Suite) -> str:
    """Return ``sha256:`` over what the author wrote: configuration, case files, prompt files and salts."""
    files = {path.relative_to(suite.root).as_posix(): _digest(path) for path in suite.case_files}
    # Of the salts only those that are digests of files: another may come from a variable, which is no file.
    salts = [one.salt or "" for one in (*suite.targets.values(), *suite.cases)]
    salts = sorted({salt for salt in salts if salt.startswith(_DIGEST)})
    parts = {
        "config": _digest(suite.config),
        "cases": files,
        "prompts": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in suite.prompts.items()},
        "salts": salts,
    }
    return f"sha256:{canonical.digest(parts)}"


def _digest(path: Path) -> str:
    try:
        return file_digest(path.read_bytes())
    except OSError:
        return ""  # it was there when the suite was loaded; without a digest it is another suite


def thrashing(store: Store, log: Path, suite: Suite, rows: Iterable[Wanted]) -> Iterator[str]:
    """Yield a warning for the first rows whose hash is another one than in the log before, with what differs.

    Args:
        store: where the earlier request is recorded.
        log: the log of this run; the one before it is looked for beside it.
        suite: the suite.
        rows: the rows of this run.
    """
    before = _before(log, suite.name, golden_digest(suite))
    moved = [
        row
        for row in rows
        if row.asked is None
        and (old := before.get((row.planned.case.id, row.planned.target.name, row.planned.trial))) is not None
        and old != row.rendered.request_hash
    ]
    for row in moved[:_SHOWN]:
        key = row.planned.case.id, row.planned.target.name, row.planned.trial
        yield (
            f"case {shorten(row.planned.case.id, 60)}, target {row.planned.target.name}: its request moved and no golden file did"
            f"{_where(store, before[key], row)}; golden check --stable looks for the reason"
        )
    if len(moved) > _SHOWN:
        yield f"{len(moved) - _SHOWN} more requests moved although no golden file did"


def _where(store: Store, old: str, row: Wanted) -> str:
    for found in store.walk(old):
        try:
            document = store.read(found).request
        except (CorruptSnapshot, StoreError):
            continue  # grade reports the damage; here only the pointers are lost
        pointers = list(differing(document, row.rendered.document))[:_POINTERS]
        return f", at {', '.join(pointers)}"
    return ""


def _before(log: Path, suite: str, golden: str) -> dict[tuple[str, str, int], str]:
    """Return the requests of the newest earlier log of the suite, if that run saw the same files."""
    try:
        earlier = sorted((p for p in log.parent.iterdir() if p.suffix == ".jsonl" and p.name < log.name), reverse=True)
    except OSError:
        return {}
    for path in earlier:
        lines = _lines(path)
        # Without a digest it was a control or a filed batch: old requests, which say nothing of this suite.
        if lines and lines[0].get("suite") == suite and "golden" in lines[0]:
            return _requests(lines) if lines[0].get("golden") == golden else {}
    return {}


def _requests(lines: list[dict[str, Any]]) -> dict[tuple[str, str, int], str]:
    found: dict[tuple[str, str, int], str] = {}
    for line in lines[1:]:
        if "request_hash" in line and "target" in line:
            found.update(((case, line["target"], line["trial"]), line["request_hash"]) for case in line["cases"])
    return found


def _lines(path: Path) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    try:
        for line in path.read_bytes().split(b"\n")[:-1]:
            value = orjson.loads(line)
            if isinstance(value, dict):
                lines.append(value)
    except (OSError, orjson.JSONDecodeError):
        return lines  # a log that was cut short tells what it tells
    return lines
