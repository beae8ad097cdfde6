"""Write the batch files of a provider for exactly what is not recorded yet."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from capture import plan
from capture.batch import ANTHROPIC, MANIFEST, SCHEMA, TYPES, entry, manifest_line
from capture.modes import Asking, Mode, decide
from capture.options import CaptureOptions
from capture.plan import Job
from capture.redact import scrubber
from capture.storable import Storable
from golden.model import Planned, Suite
from golden.render import Wire
from snapshots import canonical
from snapshots.console import neutral, shorten
from snapshots.errors import CallError, StoreError, UsageError
from snapshots.store import Store

REPORT = "whichclock.capture-batch/1"
_MOST_REQUESTS = 50_000
"""Of one file; OpenAI takes that many, Anthropic 100,000."""
_MOST_BYTES = 190_000_000
"""Of one file; OpenAI takes 200 MB, Anthropic 256 MB."""


@dataclass(slots=True)
class Written:
    """What was written. ``refused``: (case id, target, trial, reason) of requests that cannot stand in a batch file."""

    planned: int
    recorded: int = 0
    files: dict[str, int] = field(default_factory=dict[str, int])
    refused: list[tuple[str, str, int, str]] = field(default_factory=list[tuple[str, str, int, str]])

    def as_dict(self) -> dict[str, Any]:
        """Return the one object that ``--format json`` prints."""
        written = sum(self.files.values())
        summary = {"planned": self.planned, "recorded": self.recorded, "written": written, "refused": len(self.refused)}
        names = ("case_id", "target", "trial", "error")
        rows = [dict(zip(names, row, strict=True)) for row in self.refused]
        return {"schema": REPORT, "summary": summary, "files": self.files, "rows": rows}

    def lines(self) -> Iterator[str]:
        """Yield the report for people, neutral."""
        for case_id, target, trial, error in self.refused:
            which = f"{shorten(neutral(case_id), 60)}  {neutral(target)}{f' trial {trial}' if trial else ''}"
            yield f"refused  {which}  {neutral(error)}"
        for name, count in self.files.items():
            yield f"{neutral(name)}: {count} request{'' if count == 1 else 's'}"
        written = sum(self.files.values())
        yield f"{self.planned} planned, {self.recorded} recorded already, {written} written, {len(self.refused)} refused"


def batch_out(suite: Suite, planned: Sequence[Planned], options: CaptureOptions, folder: Path) -> Written:
    """Write the batch files for what is not recorded yet, one or more for each target, and their manifest.

    Args:
        suite: the suite.
        planned: the rows, in suite order.
        options: ``environ`` is where variables are looked up.
        folder: where to write; it must not hold a manifest yet.

    Raises:
        UsageError: no row is planned, or the folder holds a batch already.
        StoreError: the disk refused.
    """
    if not planned:
        raise plan.nothing()
    if (folder / MANIFEST).exists():
        raise UsageError(f"{folder} holds a batch already", hint="name another folder, or take it away")
    environ = os.environ if options.environ is None else options.environ
    store, storable = Store(suite.snapshots), Storable(suite.redaction)
    made = Written(len(planned))
    bodies: dict[str, list[tuple[Job, bytes]]] = {}
    for job in plan.jobs(suite, planned):
        decision = decide(store, *job.identity, Mode.AUTO)
        if not isinstance(decision, Asking):
            made.recorded += len(job.rows)
            continue
        body = _body(job, environ, storable)
        if isinstance(body, str):
            made.refused.append((job.planned.case.id, job.planned.target.name, job.trial, body))
        else:
            bodies.setdefault(job.planned.target.name, []).append((job, body))
    _write(suite, folder, bodies, made)
    return made


def _body(job: Job, environ: Mapping[str, str], storable: Storable) -> bytes | str:
    """Return the body of a request, or why it must not or cannot stand in a batch file."""
    target = job.planned.target
    if target.type not in TYPES:
        return f"targets of type {target.type} have no batch files"
    if job.rendered.sent_hash != job.rendered.request_hash:
        return "redaction takes something out of it, and a batch file would hold that"
    if refused := storable.refuse_request(job.rendered.document):
        return refused.error or "it looks like a credential"
    try:
        wire = job.rendered.wire(environ)
    except CallError as error:
        return error.message
    if not isinstance(wire, Wire) or wire.body is None:
        return "it has no body"
    if job.rendered.document["body"].get("stream"):
        return "a batch cannot stream"
    values = {name: environ[name] for name in job.rendered.env if name in environ}
    if (name := scrubber(values).find(wire.body)) is not None:
        return f"its body holds the value of {{{{ env.{name} }}}}, and a batch file would hold it"
    return wire.body


def _write(suite: Suite, folder: Path, bodies: Mapping[str, list[tuple[Job, bytes]]], made: Written) -> None:
    if not bodies:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        head = canonical.encode_ordered({"schema": SCHEMA, "suite": suite.name})
        lines = [manifest_line(job) for jobs in bodies.values() for job, _ in jobs]
        for target, jobs in bodies.items():
            for number, piece in enumerate(_pieces([entry(*one) for one in jobs])):
                is_anthropic = suite.targets[target].type == ANTHROPIC
                name = f"{target}{f'-{number + 1}' if number else ''}.{'json' if is_anthropic else 'jsonl'}"
                data = (
                    b'{"requests":[\n' + b",\n".join(piece) + b"\n]}\n" if is_anthropic else b"\n".join(piece) + b"\n"
                )
                (folder / name).write_bytes(data)
                made.files[name] = len(piece)
        # Last, and whole or not at all: a folder without one is no batch.
        temporary = folder / f"{MANIFEST}.{os.getpid()}"
        temporary.write_bytes(b"\n".join([head, *lines]) + b"\n")
        temporary.replace(folder / MANIFEST)
    except OSError as error:
        raise StoreError(
            f"cannot write to {folder}: {error.strerror or error}", hint="check space and permissions"
        ) from error


def _pieces(entries: list[bytes]) -> Iterator[list[bytes]]:
    """Yield the entries in pieces that a provider takes as one file."""
    piece: list[bytes] = []
    size = 0
    for one in entries:
        if piece and (len(piece) == _MOST_REQUESTS or size + len(one) > _MOST_BYTES):
            yield piece
            piece, size = [], 0
        piece.append(one)
        size += len(one) + 1
    yield piece
