"""Run a plan: feed the workers, turn their facts into rows in order, and add up the verdicts. Memory stays flat."""

from __future__ import annotations

import hashlib
import os
import platform
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from golden.price import Price
from grade import problem
from grade.plan import Plan, PlanRow, digests
from grade.pool import Chunk, Columns, Job, Loaded, Pool
from grade.reuse import Reuse
from grade.verdict import Tally, case_passed
from snapshots import canonical, strict_json

CHUNK = 256
BATCH = 8_192
NAMES = (
    "case_id", "target", "trial", "status", "case_passed", "findings", "expected", "missing", "unexpected", "tags", "request_hash",
    "answer_hash", "answer_rule", "integrity", "recorded_at", "grader_digest", "expectation_digest", "graders", "expectation", "asked",
    "evidence", "error", "reported_model", "finish_reason", "input_tokens", "output_tokens", "cost_usd", "latency_ms",
)  # fmt: skip
Rows = dict[str, list[Any]]
Sink = Callable[[Rows], None]
MOST_PROBLEMS = 10_000


@dataclass(slots=True)
class Outcome:
    """What a run came to. ``problems`` tell of the first rows that did not pass, by (case_id, target, trial)."""

    tally: Tally = field(default_factory=Tally)
    problems: dict[tuple[str, str, int], dict[str, Any]] = field(
        default_factory=dict[tuple[str, str, int], dict[str, Any]]
    )
    loaded: Loaded = field(default_factory=lambda: Loaded({}, {}, {}))
    reused: int = 0
    asked_moved: int = 0

    @property
    def is_full(self) -> bool:
        """Tell whether no more problems are kept: memory stays flat."""
        return len(self.problems) >= MOST_PROBLEMS

    def problem(self, row: Mapping[str, Any], known: str | None) -> None:
        """Keep what people are told of a row of the table."""
        self.problems[row["case_id"], row["target"], row["trial"]] = problem.of(row, known)


def runtime(loaded: Loaded) -> dict[str, str]:
    """Return what graders ran on: the Python minor version and the versions of the packages that their modules import."""
    major, minor, _ = platform.python_version_tuple()
    return {"python": f"{major}.{minor}", **loaded.runtime}


def workers_for(rows: int, jobs: int) -> int:
    """Return how many workers to start: as asked, or (0) one unless there is work enough to pay for starting more."""
    return jobs if jobs > 0 else 1 if rows < 4000 else os.cpu_count() or 1


def run(
    plan: Plan,
    job: Job,
    jobs: int,
    start: Callable[[Loaded], Sink],
    *,
    tick: Callable[[int], None] | None = None,
    reuse: Callable[[Loaded], Reuse | None] | None = None,
) -> Outcome:
    """Judge a plan.

    Args:
        plan: rows in the table's order.
        job: what the workers need.
        jobs: number of workers, 0 for a choice by size.
        start: called once the graders are loaded; returns what takes the finished rows, in order, in batches.
        tick: called with the number of rows done since the last call.
        reuse: called once the graders are loaded; returns the saved run to take rows from, if there is one.

    Raises:
        ConfigError: the graders do not load.
    """
    outcome = Outcome()
    count = workers_for(len(plan.rows), jobs)
    with Pool(job, count) as pool:
        outcome.loaded = pool.loaded
        sink = start(pool.loaded)
        saved = None if reuse is None else reuse(pool.loaded)
        batch: Rows = {name: [] for name in NAMES}
        for piece, facts in _judged(plan, pool, count, saved):
            _finish(piece, facts, batch, outcome, plan.prices)
            if tick is not None:
                tick(len(piece))
            while len(batch["case_id"]) >= BATCH:  # at the same rows whatever the pieces are, for equal bytes
                sink({name: values[:BATCH] for name, values in batch.items()})
                batch = {name: values[BATCH:] for name, values in batch.items()}
        if batch["case_id"] or len(plan.rows) < BATCH:
            sink(batch)
    outcome.reused = 0 if saved is None else saved.taken
    return outcome


def _pieces(rows: list[PlanRow], size: int) -> Iterator[list[PlanRow]]:
    """Yield pieces of about ``size`` rows that never part the trials of a case × target: the case verdict needs all of them."""
    start = 0
    while start < len(rows):
        end = min(start + size, len(rows))
        while end < len(rows) and (rows[end].case_id, rows[end].target) == (
            rows[end - 1].case_id,
            rows[end - 1].target,
        ):
            end += 1
        yield rows[start:end]
        start = end


def _judged(plan: Plan, pool: Pool, count: int, saved: Reuse | None) -> Iterator[tuple[list[PlanRow], Columns]]:
    """Yield the plan piece by piece with the facts of its rows, in order; rows without a file, or taken over, need no worker."""
    size = max(16, min(CHUNK, len(plan.rows) // (count * 4) + 1))
    pieces = list(_pieces(plan.rows, size))
    known: deque[list[Known | None]] = deque()

    def chunks() -> Iterator[Chunk]:
        for piece in pieces:
            taken = [None] * len(piece) if saved is None else saved.facts(piece, pool.loaded)
            known.append([_MISSING if row.found is None else facts for row, facts in zip(piece, taken, strict=True)])
            yield _chunk([row for row, facts in zip(piece, known[-1], strict=True) if facts is None])

    for piece, columns in zip(pieces, pool.run(chunks()), strict=True):
        facts = known.popleft()
        yield piece, columns if not any(facts) else _completed(facts, columns)


def _chunk(rows: list[PlanRow]) -> Chunk:
    chunk = Chunk()
    for row in rows:
        if row.found is not None:
            chunk.add(row.side.expectation, row.found, row.asked)
    return chunk


Known = dict[str, Any]
_MISSING: Known = {"status": "missing_snapshot", "error": "no answer is recorded for this request and trial"}


def _completed(facts: list[Known | None], columns: Columns) -> Columns:
    """Return the facts of all rows of a piece: those of the worker, and those that are known without it."""
    given = {name: iter(values) for name, values in columns.items()}
    return {name: [next(given[name]) if known is None else known.get(name) for known in facts] for name in columns}


def _finish(rows: list[PlanRow], facts: Columns, batch: Rows, outcome: Outcome, prices: Mapping[str, Price]) -> None:
    """Add what the plan knows, decide statuses and case verdicts, and append the rows to the batch."""
    _decide(rows, facts)
    _fill(rows, facts, outcome.loaded)
    if prices:
        _price(rows, facts, prices)
    facts["case_passed"] = _case_verdicts(rows, facts["status"], outcome)
    for name in NAMES:
        batch[name].extend(facts[name])
    outcome.asked_moved += sum(
        row.asked is not None and _asked_more(row.asked, asked) for row, asked in zip(rows, facts["asked"], strict=True)
    )
    for i, status in enumerate(facts["status"]):
        if status != "pass" and not outcome.is_full:
            outcome.problem({name: facts[name][i] for name in NAMES}, rows[i].side.known)


def _asked_more(listed: list[tuple[str, int, str]], asked: str) -> bool:
    """Tell whether a frozen row's graders read an answer that the saved run does not list: their questions moved."""
    if asked == "[]":
        return False
    known = {(request_hash, trial) for request_hash, trial, _ in listed}
    return any((one["request_hash"], one["trial"]) not in known for one in strict_json.loads(asked))


def _decide(rows: list[PlanRow], facts: Columns) -> None:
    """Decide the status of the rows that were judged: findings equal expected, or what is missing and what is too much."""
    statuses, findings, evidence = facts["status"], facts["findings"], facts["evidence"]
    missing: list[Any] = [None] * len(rows)
    unexpected: list[Any] = [None] * len(rows)
    for i, row in enumerate(rows):
        if statuses[i] is None:
            found, expected = findings[i], row.side.expected
            if found == expected:
                statuses[i], missing[i], unexpected[i] = "pass", [], []
            else:
                missing[i] = sorted(set(expected) - set(found))
                unexpected[i] = sorted(set(found) - set(expected))
                statuses[i] = "fail"
        elif statuses[i] != "grader_error":
            findings[i] = evidence[i] = None  # nobody looked
    facts["missing"], facts["unexpected"] = missing, unexpected


def _fill(rows: list[PlanRow], facts: Columns, loaded: Loaded) -> None:
    sides = [row.side for row in rows]
    facts.update(
        case_id=[row.case_id for row in rows],
        target=[row.target for row in rows],
        trial=[row.trial for row in rows],
        expected=[side.expected for side in sides],
        tags=[side.tags for side in sides],
        expectation=[side.expectation for side in sides],
        expectation_digest=[side.expectation_digest for side in sides],
        asked=[asked or "[]" for asked in facts["asked"]],
    )
    graders, request_hashes = facts["graders"], facts["request_hash"]
    for i, row in enumerate(rows):
        if graders[i] is None:
            text = canonical.encode(digests(row.side, loaded.digests)).decode()
            graders[i], facts["grader_digest"][i] = text, hashlib.sha256(text.encode()).hexdigest()
        if request_hashes[i] is None:
            request_hashes[i] = row.request_hash


def _price(rows: list[PlanRow], facts: Columns, prices: Mapping[str, Price]) -> None:
    """Say what each answer cost by the price of its target's model, unless a program said so itself."""
    used = [facts[name] for name in ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens")]
    costs = facts["cost_usd"]
    for i, row in enumerate(rows):
        if costs[i] is None and (price := prices.get(row.target)) is not None:
            costs[i] = price.cost(*(column[i] for column in used))


def _case_verdicts(rows: list[PlanRow], statuses: list[str], outcome: Outcome) -> list[bool | None]:
    """Return the case verdict of each row and count it once for its case × target."""
    verdicts: list[bool | None] = []
    start = 0
    for i in range(1, len(rows) + 1):
        if i == len(rows) or (rows[i].case_id, rows[i].target) != (rows[start].case_id, rows[start].target):
            trials = statuses[start:i]
            passed = case_passed(trials, rows[start].side.pass_rule)
            outcome.tally.add(rows[start].case_id, trials, passed, rows[start].side.known)
            verdicts += [passed] * len(trials)
            start = i
    return verdicts
