"""Run a plan: feed the workers, turn their facts into rows in order, and add up the verdicts. Memory stays flat."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from grade.plan import Plan, PlanRow, digests
from grade.pool import Chunk, Columns, Job, Loaded, Pool
from grade.verdict import Tally, case_passed
from snapshots import canonical

CHUNK = 256
BATCH = 16_384
NAMES = (
    "case_id", "target", "trial", "status", "case_passed", "findings", "expected", "missing", "unexpected", "tags", "request_hash",
    "answer_hash", "answer_rule", "integrity", "recorded_at", "grader_digest", "expectation_digest", "graders", "expectation", "asked",
    "evidence", "error", "reported_model", "finish_reason", "input_tokens", "output_tokens", "cost_usd", "latency_ms",
)  # fmt: skip
Rows = dict[str, list[Any]]
Sink = Callable[[Rows], None]


@dataclass(slots=True)
class Outcome:
    """What a run came to. ``problems`` are the rows that did not pass, by (case_id, target, trial)."""

    tally: Tally = field(default_factory=Tally)
    problems: dict[tuple[str, str, int], dict[str, Any]] = field(
        default_factory=dict[tuple[str, str, int], dict[str, Any]]
    )
    loaded: Loaded = field(default_factory=lambda: Loaded({}, {}, {}))


def runtime(loaded: Loaded) -> dict[str, str]:
    """Return what graders ran on: the Python minor version and the versions of the packages that their modules import."""
    major, minor, _ = platform.python_version_tuple()
    return {"python": f"{major}.{minor}", **loaded.runtime}


def workers_for(rows: int, jobs: int) -> int:
    """Return how many workers to start: as asked, or (0) one unless there is work enough to pay for starting more."""
    return jobs if jobs > 0 else 1 if rows < 4000 else os.cpu_count() or 1


def run(
    plan: Plan, job: Job, jobs: int, start: Callable[[Loaded], Sink], *, tick: Callable[[int], None] | None = None
) -> Outcome:
    """Judge a plan.

    Args:
        plan: rows in the table's order.
        job: what the workers need.
        jobs: number of workers, 0 for a choice by size.
        start: called once the graders are loaded; returns what takes the finished rows, in order, in batches.
        tick: called with the number of rows done since the last call.

    Raises:
        ConfigError: the graders do not load.
    """
    outcome = Outcome()
    count = workers_for(len(plan.rows), jobs)
    with Pool(job, count) as pool:
        outcome.loaded = pool.loaded
        sink = start(pool.loaded)
        batch: Rows = {name: [] for name in NAMES}
        for group in _groups(_judged(plan, pool, count, tick)):
            _finish(group, batch, outcome)
            if len(batch["case_id"]) >= BATCH:
                sink(batch)
                batch = {name: [] for name in NAMES}
        sink(batch)
    return outcome


Judged = tuple[PlanRow, dict[str, Any]]


def _judged(plan: Plan, pool: Pool, count: int, tick: Callable[[int], None] | None) -> Iterator[Judged]:
    """Yield every row of the plan with its facts, in order; rows without a file need no worker."""
    size = max(16, min(CHUNK, len(plan.rows) // (count * 4) + 1))
    pieces = [plan.rows[i : i + size] for i in range(0, len(plan.rows), size)]
    answers = pool.run(_chunk(piece) for piece in pieces)
    for piece, columns in zip(pieces, answers, strict=True):
        facts = _rows_of(columns)
        for row in piece:
            yield row, _missing(row, pool.loaded) if row.found is None else next(facts)
        if tick is not None:
            tick(len(piece))


def _chunk(rows: list[PlanRow]) -> Chunk:
    chunk = Chunk()
    numbers: dict[str, int] = {}
    for row in rows:
        if row.found is not None:
            number = numbers.setdefault(row.side.expectation, len(numbers))
            if number == len(chunk.expectations):
                chunk.expectations.append(row.side.expectation)
            chunk.rows.append((number, row.found.path, row.found.folder, row.found.name, row.found.shown))
    return chunk


def _rows_of(columns: Columns) -> Iterator[dict[str, Any]]:
    names = tuple(columns)
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(names, values, strict=True))


def _missing(row: PlanRow, loaded: Loaded) -> dict[str, Any]:
    return {"status": "missing_snapshot", "error": "no answer is recorded for this request and trial"}


def _groups(rows: Iterator[Judged]) -> Iterator[list[Judged]]:
    """Yield the rows of one case × target together: the case verdict needs all its trials."""
    group: list[Judged] = []
    for row in rows:
        if group and (group[0][0].case_id, group[0][0].target) != (row[0].case_id, row[0].target):
            yield group
            group = []
        group.append(row)
    if group:
        yield group


def _finish(group: list[Judged], batch: Rows, outcome: Outcome) -> None:
    side = group[0][0].side
    for row, facts in group:
        _decide(row, facts, outcome.loaded)
    statuses = [facts["status"] for _, facts in group]
    passed = case_passed(statuses, side.pass_rule)
    outcome.tally.add(group[0][0].case_id, statuses, passed, side.known)
    for row, facts in group:
        facts["case_passed"] = passed
        for name in NAMES:
            batch[name].append(facts.get(name))
        if facts["status"] != "pass":
            outcome.problems[row.case_id, row.target, row.trial] = facts


def _decide(row: PlanRow, facts: dict[str, Any], loaded: Loaded) -> None:
    """Add to the facts of a row what the plan knows, and decide its status."""
    side = row.side
    if facts["status"] is None:
        found, expected = facts["findings"], list(side.expected)
        facts["missing"] = sorted(set(expected) - set(found))
        facts["unexpected"] = sorted(set(found) - set(expected))
        facts["status"] = "fail" if facts["missing"] or facts["unexpected"] else "pass"
    elif facts["status"] != "grader_error":
        facts["findings"] = facts["evidence"] = None  # nobody looked
    facts.update(
        case_id=row.case_id,
        target=row.target,
        trial=row.trial,
        expected=list(side.expected),
        tags=list(side.tags),
        expectation=side.expectation,
        expectation_digest=side.expectation_digest,
        asked="[]",
    )
    if facts.get("graders") is None:
        text = canonical.encode(digests(side, loaded.digests)).decode()
        facts["graders"], facts["grader_digest"] = text, hashlib.sha256(text.encode()).hexdigest()
    if facts.get("request_hash") is None:
        facts["request_hash"] = row.request_hash
