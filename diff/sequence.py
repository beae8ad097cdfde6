"""A suite that is watched for ever: a test that may be looked at every night and still raises a false alarm in one of twenty suites only.

After b cases that turned for the worse and c for the better the e-value is E = 2^(b + c) · B(b + 1, c + 1): the likelihood of the turns
under every chance of "worse", mixed evenly, over that of a coin. Where each turn is as likely one way as the other, E is a martingale from
1, and it ever reaches 1/α with a chance of at most α (Ville 1939; Robbins 1970; Johari, Pekelis and Walsh 2015). A case that wavers turns
back as often as it turns, which keeps b and c nearer to one another than coins would. The state is two whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import exp, lgamma, log
from pathlib import Path
from typing import Any

import pyarrow as pa

from diff.flips import Rate
from diff.pairs import pair_numbers
from golden import labels
from golden.model import Suite
from grade.arrow import pc
from grade.columns import scalar
from snapshots.columnar import parquet_file
from snapshots.errors import RefError

LEVEL = 0.05
# A history is read on the side: it must not take longer than the diff itself.
_MOST_ROWS = 5_000_000
_STILL = ("request_hash", "grader_digest", "expectation_digest")
_READ = ("case_id", "target", "trial", "case_passed", "answer_hash", *_STILL)


def log_e(worse: int, better: int) -> float:
    """Return the natural logarithm of the e-value after so many turns: ln(2^(b + c) · B(b + 1, c + 1))."""
    return (worse + better) * log(2) + lgamma(worse + 1) + lgamma(better + 1) - lgamma(worse + better + 2)


@dataclass(frozen=True, slots=True)
class Sequence:
    """The test of a whole history.

    Attributes:
        runs: how many runs were walked.
        worse, better: the turns of case verdicts from run to run.
        e: the e-value now.
        p: the always-valid p-value: the least 1/E that ever was, at most 1.
    """

    runs: int
    worse: int
    better: int
    e: float
    p: float

    @property
    def fires(self) -> bool:
        """Tell whether E ever reached 1/α."""
        return self.p <= LEVEL

    def as_dict(self) -> dict[str, Any]:
        """Return the member of the summary."""
        return {
            "runs": self.runs,
            "worse": self.worse,
            "better": self.better,
            "e": self.e,
            "p": self.p,
            "fires": self.fires,
        }


@dataclass(frozen=True, slots=True)
class Step:
    """One step from a run to the next, over the case × targets of which nothing but the answer can have moved.

    Attributes:
        worse, better: how many verdicts turned.
        cases: how many could have turned.
        moved: how many plain answers are others; where there are none, nobody was asked again.
    """

    worse: int
    better: int
    cases: int
    moved: int


@dataclass(frozen=True, slots=True)
class History:
    """The steps through a label's runs, oldest first."""

    label: str
    steps: tuple[Step, ...]

    @property
    def sequence(self) -> Sequence:
        """Return the test over all steps."""
        return walk((step.worse, step.better) for step in self.steps)

    @property
    def flip_rate(self) -> Rate | None:
        """Return how often a case flips from run to run, counted where the model was asked again; ``None`` where it never was."""
        asked = [step for step in self.steps if step.moved]
        flips, cases = sum(s.worse + s.better for s in asked), sum(s.cases for s in asked)
        return Rate(flips / cases, flips, cases) if cases else None


def walk(nights: Iterable[tuple[int, int]]) -> Sequence:
    """Return the test after some steps.

    Args:
        nights: for each step from one run to the next, how many cases turned for the worse and how many for the better.
    """
    worse = better = steps = 0
    largest = 0.0
    for lost, won in nights:
        steps += 1
        worse, better = worse + lost, better + won
        largest = max(largest, log_e(worse, better))
    # Beyond the doubles an e-value is as good as endless, and JSON knows no infinity.
    return Sequence(steps + 1, worse, better, exp(min(700.0, log_e(worse, better))), exp(-largest))


def history_of(suite: Suite, ref: str) -> History | None:
    """Return the steps through the runs of a label up to the one that a REF names.

    Returns:
        ``None`` where the REF is no label, there are no two runs, or so many rows that walking them would take longer than the diff.

    Raises:
        RefError: a run cannot be read.
    """
    if ref.endswith(".parquet") or ref.startswith("git:"):
        return None
    try:
        last = labels.resolve(ref, suite.results).path
    except RefError:
        return None  # the working tree, or a name for what is not saved
    runs = [path for path in labels.runs(suite.results, last.parent.name) if path.name <= last.name]
    if len(runs) < 2 or _rows(last) * len(runs) > _MOST_ROWS:
        return None
    return History(last.parent.name, tuple(_steps(runs)))


def _rows(path: Path) -> int:
    try:
        with parquet_file(path) as file:
            return file.metadata.num_rows
    except (OSError, pa.ArrowException) as error:
        raise _broken(path, error) from None


def _steps(runs: list[Path]) -> Iterator[Step]:
    before = _read(runs[0])
    for path in runs[1:]:
        after = _read(path)
        yield step(before, after)
        before = after


def _read(path: Path) -> pa.Table:
    """Return the plain trials of a run: one row for each case × target, which holds the case verdict."""
    try:
        with parquet_file(path) as file:
            rows = file.read(columns=list(_READ))
        missing = [name for name in _READ if name not in rows.column_names]
        if missing:
            raise _broken(path, f"it has no column {missing[0]}")
        return rows.filter(pc.equal(rows.column("trial"), scalar(pa.int64(), 0)))
    except (OSError, pa.ArrowException) as error:
        raise _broken(path, error) from None


def _broken(path: Path, error: Exception | str) -> RefError:
    return RefError(
        f"the run {path.name} of {path.parent.name} cannot be read: {str(error).splitlines()[0][:200]}",
        hint="move the file away; the label's other runs stay",
    )


def step(before: pa.Table, after: pa.Table) -> Step:
    """Return what turned between two tables of plain trials, where request, grader and expectation are the same."""
    old_numbers, new_numbers = pair_numbers(before, after)
    old, new = before.take(old_numbers), after.take(new_numbers)
    still: Any = pc.and_(pc.is_valid(old.column("case_passed")), pc.is_valid(new.column("case_passed")))
    for name in _STILL:
        still = pc.and_(still, pc.equal(old.column(name), new.column(name)))
    passed, passes = old.column("case_passed"), new.column("case_passed")
    found = (
        pc.and_(still, pc.and_(passed, pc.invert(passes))),
        pc.and_(still, pc.and_(passes, pc.invert(passed))),
        still,
        pc.and_(still, pc.not_equal(old.column("answer_hash"), new.column("answer_hash"))),
    )
    return Step(*(int(pc.sum(flags).as_py() or 0) for flags in found))


def sequence_sentence(found: Sequence, label: str) -> str:
    """Return the test in words."""
    turned = f"{found.worse} worse, {found.better} better over the {found.runs} runs of {label}"
    said = "a lasting change" if found.fires else "no lasting change"
    return f"run after run: {said}: {turned}, e-value {found.e:.3g}, always-valid p = {found.p:.3g}"
