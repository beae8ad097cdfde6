"""What a capture would write, before it writes or asks anything: for teams that may not keep everything a model says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from capture import plan
from capture.modes import Asking, decide
from capture.options import CaptureOptions
from capture.plan import Job
from capture.storable import Storable
from golden.model import Planned, Suite
from golden.redaction import Hit, Redaction
from golden.render import render
from snapshots.console import neutral, shorten
from snapshots.errors import CorruptSnapshot, JsonError, StoreError
from snapshots.response import KEPT_HEADERS
from snapshots.store import Store

SCHEMA = "whichclock.capture-audit/1"


@dataclass(frozen=True, slots=True)
class Line:
    """One request that would be written, and where redaction took something out of it.

    ``recorded`` is where today's rules would take something out of the answer that is recorded already; that file stays as it
    is. ``refused`` says why it would not be written.
    """

    case_id: str
    target: str
    trial: int
    path: str
    document: dict[str, Any]
    redacted: tuple[Hit, ...]
    recorded: tuple[Hit, ...]
    is_asked: bool
    refused: str | None


@dataclass(slots=True)
class Audit:
    """What would be written."""

    rules: Redaction
    planned: int
    lines: list[Line] = field(default_factory=list[Line])

    def as_dict(self) -> dict[str, Any]:
        """Return the one object that ``--dry-run --audit --format json`` prints."""
        rules = {"pointers": self.rules.pointers, "patterns": dict(self.rules.patterns), "kinds": self.rules.kinds}
        summary = {
            "planned": self.planned,
            "asked": sum(line.is_asked for line in self.lines),
            "refused": sum(line.refused is not None for line in self.lines),
            "redacted": sum(bool(line.redacted) for line in self.lines),
        }
        kept = {"headers": sorted(KEPT_HEADERS), "body": "whole, after the rules"}
        return {
            "schema": SCHEMA,
            "summary": summary,
            "rules": {"digest": self.rules.digest, **rules},
            "response": kept,
            "unredacted": ["context, in saved results"],
            "rows": [_row(line) for line in self.lines],
        }


def audit(suite: Suite, planned: Sequence[Planned], options: CaptureOptions) -> Audit:
    """Return what ``capture`` would write with the same arguments, without asking or writing anything.

    Raises:
        UsageError: no row is planned.
        ConfigError: a case cannot be rendered for its target.
    """
    if not planned:
        raise plan.nothing()
    store, storable = Store(suite.snapshots), Storable(suite.redaction)
    made = Audit(suite.redaction, len(planned))
    for job in plan.jobs(suite, planned):
        is_asked = isinstance(decide(store, *job.identity, options.mode), Asking)
        refused = storable.refuse_request(job.rendered.document)
        made.lines.append(
            Line(
                job.planned.case.id,
                job.planned.target.name,
                job.trial,
                f"sha256/{job.request_hash[:2]}/{job.request_hash[2:]}.{job.trial}.*.json",
                job.rendered.document,
                _taken(suite, job),
                _in_recorded(store, job, suite.redaction),
                is_asked,
                None if refused is None else refused.error,
            )
        )
    return made


def _taken(suite: Suite, job: Job) -> tuple[Hit, ...]:
    plain = render(replace(suite, redaction=Redaction()), job.planned.case, job.planned.target)
    return tuple(suite.redaction.request(plain.document)[1])


def _in_recorded(store: Store, job: Job, rules: Redaction) -> tuple[Hit, ...]:
    try:
        found = store.current(*job.identity)
        return () if found is None else tuple(rules.response(store.read(found).response)[1])
    except (CorruptSnapshot, StoreError, JsonError):
        return ()  # capture itself reports the damage


def audit_lines(made: Audit) -> Iterator[str]:
    """Yield the audit for people, neutral."""
    for line in made.lines:
        trial = f" trial {line.trial}" if line.trial else ""
        yield f"{shorten(neutral(line.case_id), 60)}  {neutral(line.target)}{trial}  {neutral(line.path)}"
        yield f"  request: {', '.join(neutral(name) for name in line.document)}{_places(line.redacted, 'takes out')}"
        if line.recorded:
            yield f"  recorded already{_places(line.recorded, 'would take out')}; that file stays as it is"
        if line.refused is not None:
            yield f"  refused: {neutral(line.refused)}"
    yield f"of each answer: its status, the headers {', '.join(sorted(KEPT_HEADERS))}, and the whole body after the rules"
    rules = [*made.rules.pointers, *(name for name, _ in made.rules.patterns), *made.rules.kinds]
    yield f"rules: {', '.join(map(neutral, rules)) if rules else 'none ([redact] in the configuration)'}"
    yield "context is not redacted: saved results hold it as it stands in the cases"
    yield "nothing was asked, nothing was written; --mode off asks and writes no answer"


def _places(hits: tuple[Hit, ...], verb: str) -> str:
    if not hits:
        return ""
    shown = dict.fromkeys(f"{neutral(hit.pointer)} ({neutral(hit.rule)})" for hit in hits)
    return f"; redaction {verb} {', '.join(shown)}"


def _row(line: Line) -> dict[str, Any]:
    return {
        "case_id": line.case_id,
        "target": line.target,
        "trial": line.trial,
        "path": line.path,
        "asked": line.is_asked,
        "request": line.document,
        "redacted": [{"pointer": hit.pointer, "rule": hit.rule} for hit in line.redacted],
        "recorded": [{"pointer": hit.pointer, "rule": hit.rule} for hit in line.recorded],
        "refused": line.refused,
    }
