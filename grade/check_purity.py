"""Whether graders are pure: everything is graded twice under circumstances that must not matter, and every difference is told.

The two lives differ in the date (for cases that set no ``context.now``), the working directory, the hash seed, the order of rows and the
order of the graders of a row. It finds what no sandbox can: memory from call to call, set order, files that exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from golden.model import Suite
from golden.worker_process import FIRST_LIFE, Life
from grade.command import job_of
from grade.plan import Plan, PlanRow
from grade.pool import Chunk, Columns, Job, Pool
from grade.report import counted
from grade.run import CHUNK, workers_for
from snapshots.console import neutral, shorten
from snapshots.errors import ExitCode

SCHEMA = "whichclock.purity/1"
_COMPARED = ("status", "findings", "evidence", "error", "asked")
_OTHER_DATE = "2031-10-11T12:13:14Z"
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Difference:
    """A row that came out otherwise the second time: ``what`` → the two values."""

    case_id: str
    target: str
    trial: int
    what: dict[str, tuple[Any, Any]]


@dataclass(slots=True)
class Purity:
    """What the two gradings differ in. ``locks`` are those that held around the graders."""

    rows: int
    locks: tuple[str, ...]
    differences: list[Difference] = field(default_factory=list[Difference])

    @property
    def exit_code(self) -> int:
        """Return 3 where a grader is impure, else 0."""
        return ExitCode.UNJUDGED if self.differences else ExitCode.OK

    def as_dict(self) -> dict[str, Any]:
        """Return the one object that ``--check-purity --format json`` prints."""
        rows = [
            {
                "case_id": d.case_id,
                "target": d.target,
                "trial": d.trial,
                "differs": {n: list(v) for n, v in d.what.items()},
            }
            for d in self.differences
        ]
        summary = {"rows": self.rows, "impure": len(rows), "purity": list(self.locks)}
        return {"schema": SCHEMA, "summary": summary, "rows": rows}

    def lines(self) -> Iterator[str]:
        """Yield the report for people, neutral."""
        for one in self.differences[:_SHOWN]:
            name = f"{shorten(neutral(one.case_id), 60)} [{neutral(one.target)}{f' trial {one.trial}' if one.trial else ''}]"
            told = "; ".join(f"{what}: {_shown(old)} → {_shown(new)}" for what, (old, new) in one.what.items())
            yield f"impure  {name}: {told}"
        if len(self.differences) > _SHOWN:
            yield f"… and {len(self.differences) - _SHOWN} more (--format json lists all)"
        held = ", ".join(self.locks)
        if self.differences:
            depend = "depends" if len(self.differences) == 1 else "depend"
            yield f"{len(self.differences)} of {counted(self.rows, 'row')} {depend} on date, folder, hash seed or order ({held})"
        else:
            are = "is" if self.rows == 1 else "are"
            yield f"pure: {counted(self.rows, 'row')} {are} the same under another date, folder, hash seed and order ({held})"


def _shown(value: Any) -> str:
    return shorten(neutral(str(value)), 80)


def check(suite: Suite, plan: Plan, jobs: int) -> Purity:
    """Grade a plan twice and return what differs; rows without an answer are left out.

    Args:
        suite: the suite.
        plan: what to judge.
        jobs: number of worker processes, 0 for a choice by size.

    Raises:
        ConfigError: the graders do not load.
    """
    rows = [row for row in plan.rows if row.found is not None]
    job = job_of(suite, plan)
    count = workers_for(len(rows), jobs)
    with TemporaryDirectory(prefix="whichclock-") as folder:
        other = Life(hash_seed="1", folder=Path(folder).resolve(), date=_OTHER_DATE, backwards=True)
        first, locks = _graded(replace(job, life=FIRST_LIFE), rows, count)
        second, _ = _graded(replace(job, life=other), rows[::-1], count)
    second = {name: values[::-1] for name, values in second.items()}
    found = Purity(len(rows), locks)
    for i, row in enumerate(rows):
        what = {name: (first[name][i], second[name][i]) for name in _COMPARED if first[name][i] != second[name][i]}
        if what:
            found.differences.append(Difference(row.case_id, row.target, row.trial, what))
    return found


def _graded(job: Job, rows: list[PlanRow], count: int) -> tuple[Columns, tuple[str, ...]]:
    columns: Columns = {name: [] for name in _COMPARED}
    with Pool(job, count) as pool:
        for facts in pool.run(_chunk(rows[start : start + CHUNK]) for start in range(0, len(rows), CHUNK)):
            for name in _COMPARED:
                columns[name] += facts[name]
        return columns, pool.loaded.locks


def _chunk(rows: list[PlanRow]) -> Chunk:
    chunk = Chunk()
    for row in rows:
        if row.found is not None:
            chunk.add(row.side.expectation, row.found, row.asked)
    return chunk
