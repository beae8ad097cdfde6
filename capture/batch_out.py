"""Write the batch files of a provider for exactly what is not recorded yet."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from capture import plan
from capture.batch import ANTHROPIC, MANIFEST, PATHS, SCHEMA, TYPES, entry, manifest_line
from capture.modes import Asking, decide
from capture.options import CaptureOptions
from capture.plan import Job, Jobs
from capture.redact import scrubber
from capture.result import Ended, Outcome
from capture.storable import Storable
from golden import placeholder, target_type
from golden.model import Planned, Suite
from golden.render import Wire
from snapshots import canonical
from snapshots.console import neutral, shorten
from snapshots.errors import StoreError, UsageError, WhichclockError
from snapshots.store import Store

REPORT = "whichclock.capture-batch/1"
MOST_REQUESTS = 50_000
"""Of one file; OpenAI takes that many, Anthropic 100,000. Each input of an embedding counts as one."""
MOST_BYTES = 190_000_000
"""Of one file; OpenAI takes 200 MB, Anthropic 256 MB."""


@dataclass(slots=True)
class Written:
    """What was written. ``files``: requests by file. ``refused``: (case id, target, trial, reason) of rows that cannot stand in one.

    ``planned``, ``recorded`` and ``written`` count rows; rows that share a request share its place in a file.
    """

    planned: int
    recorded: int = 0
    written: int = 0
    files: dict[str, int] = field(default_factory=dict[str, int])
    refused: list[tuple[str, str, int, str]] = field(default_factory=list[tuple[str, str, int, str]])

    @property
    def requests(self) -> int:
        """Return how many requests stand in the files."""
        return sum(self.files.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the one object that ``--format json`` prints."""
        counts = {"planned": self.planned, "recorded": self.recorded, "written": self.written}
        summary = {**counts, "refused": len(self.refused), "requests": self.requests}
        names = ("case_id", "target", "trial", "error")
        rows = [dict(zip(names, row, strict=True)) for row in self.refused]
        return {"schema": REPORT, "summary": summary, "files": self.files, "rows": rows}

    def lines(self) -> Iterator[str]:
        """Yield the report for people, neutral."""
        for case_id, target, trial, error in self.refused:
            which = f"{shorten(neutral(case_id), 60)}  {neutral(target)}{f' trial {trial}' if trial else ''}"
            yield f"refused  {which}  {neutral(error)}"
        for name, count in self.files.items():
            yield f"{neutral(name)}: {_requests(count)}"
        written = f"{self.written} written as {_requests(self.requests)}" if self.written else "nothing to write"
        yield f"{self.planned} planned: {self.recorded} recorded already, {len(self.refused)} refused, {written}"


def _requests(count: int) -> str:
    return f"{count} request{'' if count == 1 else 's'}"


def batch_out(
    suite: Suite,
    planned: Sequence[Planned],
    options: CaptureOptions,
    folder: Path,
    *,
    most_requests: int = MOST_REQUESTS,
    most_bytes: int = MOST_BYTES,
) -> Written:
    """Write the batch files for what is not recorded yet, one or more for each target, and their manifest.

    Args:
        suite: the suite.
        planned: the rows, in suite order.
        options: ``environ`` is where variables are looked up; with mode ``live`` what is recorded is written too.
        folder: where to write; no file of the batch may be there yet.
        most_requests: of one file.
        most_bytes: of one file.

    Raises:
        UsageError: no row is planned, or the folder holds a batch already.
        StoreError: the disk refused.
    """
    if not planned:
        raise plan.nothing()
    _refuse_taken(folder, MANIFEST)
    environ = os.environ if options.environ is None else options.environ
    store, storable = Store(suite.snapshots), Storable(suite.redaction)
    made, jobs = Written(len(planned)), Jobs()
    bodies: dict[str, list[tuple[Job, bytes]]] = {}
    for job in jobs.add(plan.wanted(suite, planned)):
        decision = decide(store, *job.identity, options.mode)
        body = _body(job, environ, storable) if isinstance(decision, Asking) else decision
        if isinstance(body, bytes):
            made.written += len(job.rows)
            bodies.setdefault(job.planned.target.name, []).append((job, body))
        elif body.outcome is Outcome.REPLAYED:
            made.recorded += len(job.rows)
        else:
            rows = (jobs.rows[place].planned for place in job.rows)
            made.refused += [(row.case.id, row.target.name, row.trial, body.error or "") for row in rows]
    if bodies:
        files = {name: _pieces(jobs, most_requests, most_bytes) for name, jobs in bodies.items()}
        _write(suite, folder, files, made)
    return made


def _body(job: Job, environ: Mapping[str, str], storable: Storable) -> bytes | Ended:
    """Return the body of a request, or why it must not or cannot stand in a batch file."""
    rendered = job.rendered
    body = rendered.document.get("body")
    if job.planned.target.type not in TYPES or not isinstance(body, dict):
        return _refused(f"targets of type {job.planned.target.type} have no batch files")
    if body.get("stream"):
        return _refused("a batch cannot stream")
    if unsent := _unsent(job):
        return _refused(f"a batch file has no place for {unsent}, which is part of the key")
    if rendered.sent_hash != rendered.request_hash:
        return _refused("redaction takes something out of it, and a batch file would hold that")
    if refused := storable.refuse_request(rendered.document):
        return refused
    keyed = canonical.encode_ordered(body)
    try:
        # A key in a header is no part of a batch file, so that it need not be set here.
        wire = rendered.wire({name: environ.get(name) or "unset" for name in rendered.env})
    except WhichclockError as error:
        return _refused(error.message)
    values = {name: environ[name] for name in rendered.env if name in environ}
    name = scrubber(values).find(keyed)
    if not isinstance(wire, Wire) or wire.body != keyed:
        name = next((name for name in rendered.env if placeholder.keyed(name).encode() in keyed), name)
    elif name is None:
        return keyed
    return _refused(f"its body holds the value of {{{{ env.{name} }}}}, and a batch file would hold it")


def _unsent(job: Job) -> str | None:
    """Return what the key of a request says and no batch file can: its answer would be filed under what was not asked."""
    document, kind = job.rendered.document, job.planned.target.type
    address, _, query = document["url"].partition("?")
    path = "/" + address.partition("://")[2].partition("/")[2] if "://" in address else address[address.index("/") :]
    if query:
        return "the query of the target"
    if path != PATHS[kind]:
        return f"the path {path} (the batch asks {PATHS[kind]})"
    beyond = [
        name
        for name, value in document.get("headers", {}).items()
        if target_type.TYPES[kind].headers.get(name) != value
    ]
    return f"the header {beyond[0]}" if beyond else None


def _refused(reason: str) -> Ended:
    return Ended(Outcome.REFUSED, error=reason)


def _write(suite: Suite, folder: Path, files: Mapping[str, list[list[tuple[Job, bytes]]]], made: Written) -> None:
    names = _names(suite, files)
    for name in names:
        _refuse_taken(folder, name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lines = [canonical.encode_ordered({"schema": SCHEMA, "suite": suite.name})]
        for name, (target, jobs) in names.items():
            entries = [entry(*one) for one in jobs]
            with (folder / name).open("xb") as file:
                if suite.targets[target].type == ANTHROPIC:
                    file.write(b'{"requests":[\n' + b",\n".join(entries) + b"\n]}\n")
                else:
                    file.write(b"\n".join(entries) + b"\n")
            made.files[name] = len(entries)
            lines += [manifest_line(job) for job, _ in jobs]
        # Last, and whole or not at all: a folder without one is no batch.
        temporary = folder / f"{MANIFEST}.{os.getpid()}"
        temporary.write_bytes(b"\n".join(lines) + b"\n")
        temporary.replace(folder / MANIFEST)
    except OSError as error:
        raise StoreError(
            f"cannot write to {folder}: {error.strerror or error}", hint="check space and permissions"
        ) from error


def _refuse_taken(folder: Path, name: str) -> None:
    if os.path.lexists(folder / name):
        what = "a batch already" if name == MANIFEST else f"a file {name}"
        raise UsageError(f"{folder} holds {what}", hint="name a new folder: --batch-out DIR overwrites nothing")


def _names(
    suite: Suite, files: Mapping[str, list[list[tuple[Job, bytes]]]]
) -> dict[str, tuple[str, list[tuple[Job, bytes]]]]:
    """Return what stands in each file, by its name: the target's, numbered from the second on, and nobody else's."""
    named: dict[str, tuple[str, list[tuple[Job, bytes]]]] = {}
    taken = {MANIFEST, *(_name(suite, target, 1) for target in files)}
    for target, pieces in files.items():
        number = 0
        for piece in pieces:
            number += 1
            name = _name(suite, target, number)
            while (number > 1 and name in taken) or name == MANIFEST:
                number += 1
                name = _name(suite, target, number)
            taken.add(name)
            named[name] = target, piece
    return named


def _name(suite: Suite, target: str, number: int) -> str:
    ending = "json" if suite.targets[target].type == ANTHROPIC else "jsonl"
    return f"{target}{f'-{number}' if number > 1 else ''}.{ending}"


def _pieces(jobs: list[tuple[Job, bytes]], most_requests: int, most_bytes: int) -> list[list[tuple[Job, bytes]]]:
    """Return the jobs of a target in pieces that its provider takes as one file; OpenAI takes one model a file."""
    by_model: dict[Any, list[tuple[Job, bytes]]] = {}
    for job, body in jobs:
        is_anthropic = job.planned.target.type == ANTHROPIC
        model = None if is_anthropic else str(job.rendered.document["body"].get("model"))
        by_model.setdefault(model, []).append((job, body))
    return [piece for group in by_model.values() for piece in _cut(group, most_requests, most_bytes)]


def _cut(jobs: list[tuple[Job, bytes]], most_requests: int, most_bytes: int) -> Iterator[list[tuple[Job, bytes]]]:
    piece: list[tuple[Job, bytes]] = []
    count = size = 0
    for job, body in jobs:
        inputs, length = _inputs(job), len(entry(job, body)) + 2
        if piece and (count + inputs > most_requests or size + length > most_bytes):
            yield piece
            piece, count, size = [], 0, 0
        piece.append((job, body))
        count += inputs
        size += length
    yield piece


def _inputs(job: Job) -> int:
    """Return how many requests the provider counts: an embedding of a list of texts is as many."""
    given = job.rendered.document["body"].get("input") if job.planned.target.type == "embeddings" else None
    return len(given) if isinstance(given, list) and given and not isinstance(given[0], int) else 1
