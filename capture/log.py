"""The capture log, ``<snapshots>/log/<UTC second>-<8 random>.jsonl``: what a run was answered, as it happened.

    {"schema": "whichclock.capture-log/1", "suite": …, "mode": …, "started_at": …, "golden": …, "control": …}
    {"request_hash": …, "trial": …, "outcome": …, "answer_hash": …, "target": …, "cases": […], "asked": …, "error": …}
    {"summary": {…}}

One line for each identity, and another where it ended otherwise after all; ``asked`` only for what graders ask, ``error`` only
where there is one, ``control`` only where old requests were asked again. ``golden`` is the digest of the suite's files. No verdict
reads a log: it lets an interrupted run go on, and tells which answers were seen again unchanged.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from capture.plan import Job
from capture.result import RESUMABLE, Ended
from snapshots import instant
from snapshots.errors import StoreError, UsageError

SCHEMA = "whichclock.capture-log/1"


class CaptureLog:
    """An open log. Each line is whole on the disk's cache once its call returns, so that a killed run loses none."""

    def __init__(self, root: Path, *, suite: str, mode: str, second: int, told: Mapping[str, str]) -> None:
        self.path = root / "log" / f"{instant.compact(second)}-{os.urandom(4).hex()}.jsonl"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        except OSError as error:
            raise _failed(error) from error
        self._write([{"schema": SCHEMA, "suite": suite, "mode": mode, "started_at": instant.extended(second), **told}])

    def add(self, ended: Iterable[tuple[Job, Ended]]) -> None:
        """Append one line for each identity.

        Raises:
            StoreError: the disk refused.
        """
        self._write([_line(job, end) for job, end in ended])

    def close(self, summary: dict[str, int]) -> None:
        """Append the summary and close."""
        try:
            self._write([{"summary": summary}])
        finally:
            os.close(self._handle)

    def _write(self, lines: list[dict[str, Any]]) -> None:
        data = memoryview(b"".join(orjson.dumps(line) + b"\n" for line in lines))
        try:
            while data:
                data = data[os.write(self._handle, data) :]
        except OSError as error:
            raise _failed(error) from error


def _line(job: Job, ended: Ended) -> dict[str, Any]:
    line: dict[str, Any] = {
        "request_hash": job.request_hash,
        "trial": job.trial,
        "outcome": ended.outcome.value,
        "answer_hash": ended.answer_hash,
        "target": job.planned.target.name,
        "cases": sorted(job.cases),
    }
    if job.asked is not None:
        line["asked"] = job.asked
    if ended.error is not None:
        line["error"] = ended.error
    return line


def _failed(error: OSError) -> StoreError:
    return StoreError(
        f"cannot write the capture log: {error.strerror or error}", hint="check space and permissions of the store"
    )


def answered(log: Path, *, root: Path, suite: str) -> set[tuple[str, int]]:
    """Return the identities that an earlier run was answered, from its log.

    Args:
        log: a path, or the name of a file in the store's log folder.
        root: the store's folder.
        suite: the name of the suite that is captured now.

    Raises:
        UsageError: it is no capture log, cannot be read, or is another suite's.
    """
    path = log if log.exists() or log.name != str(log) else root / "log" / log
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(
            f"cannot read the log {log}: {error.strerror or error}", hint="name a file of the store's log folder"
        ) from None
    header = _parsed(lines[0], log)
    if header.get("schema") != SCHEMA:
        raise UsageError(f"{log} is no capture log of {SCHEMA}", hint="name a file of the store's log folder")
    if header.get("suite") != suite:
        raise UsageError(f"{log} is a log of suite {header.get('suite')!r}, not of {suite!r}")
    # What follows the last line end was being written when that run was killed.
    entries = [_parsed(line, log) for line in lines[1:-1] if line]
    outcomes = {outcome.value for outcome in RESUMABLE}
    # The last line counts: an answer that its grader could not read has ended twice.
    last = {(entry.get("request_hash", ""), entry.get("trial", 0)): entry.get("outcome") for entry in entries}
    return {identity for identity, outcome in last.items() if outcome in outcomes}


def _parsed(line: bytes, log: Path) -> dict[str, Any]:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        raise UsageError(
            f"{log} is no capture log: a line of it is no JSON object", hint="name a file of the store's log folder"
        )
    return value
