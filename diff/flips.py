"""Whether more verdicts flipped than sampling alone flips: flips behind unchanged requests against the rate of two equal runs.

The rate is the author's (``[drift] flip_rate``), and the test is the exact binomial one; or it is counted in the history of the label,
and the test is Fisher's exact one of the two counts, for a rate that was counted is itself uncertain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from diff.compare import Comparison
from diff.tallies import Tallies

LEVEL = 0.05
_OTHERS = frozenset({"request", "grader", "expectation"})
_NOT_THE_MODEL = frozenset({"renamed", "runtime_moved", "impure_grader"})


@dataclass(frozen=True, slots=True)
class Rate:
    """How often a case flips between two equal runs: ``flips`` of ``cases`` that were counted, or a rate that was set."""

    rate: float
    flips: int | None = None
    cases: int | None = None


@dataclass(frozen=True, slots=True)
class Flips:
    """The test of a comparison's flips.

    Attributes:
        flips: case × targets whose verdict flipped though nothing but the answer moved.
        cases: those of which nothing but the answer can have moved.
        expected: that many flips times the rate; ``None`` where no rate is known.
        p: the chance of as many flips or more without a change of the model.
        source: ``configured``, ``measured`` or ``unknown``.
    """

    flips: int
    cases: int
    rate: float | None
    expected: float | None
    p: float | None
    source: str

    @property
    def fires(self) -> bool:
        """Tell whether chance alone gives as many flips in at most one of twenty comparisons."""
        return self.p is not None and self.p <= LEVEL

    def as_dict(self) -> dict[str, Any]:
        """Return the member of the summary."""
        return {
            "flips": self.flips,
            "cases": self.cases,
            "rate": self.rate,
            "expected": self.expected,
            "p": self.p,
            "source": self.source,
            "fires": self.fires,
        }


def counted(comparison: Comparison, counts: Tallies) -> tuple[int, int]:
    """Return how many case verdicts flipped though nothing but the answer moved, and how many case × targets could have."""
    others: set[tuple[str, str]] = set()
    flipped: set[tuple[str, str]] = set()
    present: set[tuple[str, str]] = set()
    for row in comparison.rows.values():
        key = row.case_id, row.target
        if row.base is None or row.head is None:
            continue
        if row.base["case_passed"] is not None and row.head["case_passed"] is not None:
            present.add(key)
        if _OTHERS.intersection(row.clocks) or row.move in _NOT_THE_MODEL:
            others.add(key)
        elif "model" in row.clocks and row.verdict_change in ("newly_failing", "newly_passing"):
            flipped.add(key)
    return len(flipped - others), len(counts) - len(others & present)


def flips_test(flips: int, cases: int, rate: Rate | None) -> Flips:
    """Return the one-sided exact test of so many flips: binomial where the rate is set, Fisher's where it was counted."""
    if rate is None:
        return Flips(flips, cases, None, None, None, "unknown")
    if rate.flips is None or rate.cases is None:
        return Flips(flips, cases, rate.rate, cases * rate.rate, _binomial(flips, cases, rate.rate), "configured")
    p = fisher(flips, cases, rate.flips, rate.cases)
    return Flips(flips, cases, rate.rate, cases * rate.rate, p, "measured")


def _binomial(flips: int, cases: int, rate: float) -> float:
    """Return P(Binomial(cases, rate) ≥ flips)."""
    if flips == 0:
        return 1.0
    from scipy.special import bdtrc

    return float(bdtrc(flips - 1, cases, rate))


def fisher(flips: int, cases: int, before: int, cases_before: int) -> float:
    """Return the one-sided p of Fisher's exact test: that this share of flips is no larger than the one before.

    Given all flips, those of now are a draw without replacement (Fisher 1935): the upper tail of the hypergeometric law.
    """
    import numpy as np
    from scipy.special import gammaln

    total = flips + before
    if flips == 0 or cases == 0:
        return 1.0
    seen = np.arange(flips, min(total, cases) + 1)

    def choose(n: Any, k: Any) -> Any:
        return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)

    seen = seen[total - seen <= cases_before]
    logs = choose(cases, seen) + choose(cases_before, total - seen) - choose(cases + cases_before, total)
    return min(1.0, float(np.exp(logs).sum()))


def flips_sentence(found: Flips) -> str:
    """Return the test in words."""
    told = f"verdicts that flipped behind unchanged requests: {found.flips} of {found.cases}"
    if found.p is None or found.expected is None:
        return f"{told}; how many chance alone flips is not known (set drift.flip_rate, or save two runs of unchanged requests)"
    said = "more than sampling explains" if found.fires else "sampling explains them"
    return f"{told}, {found.expected:.1f} expected ({found.source} rate {found.rate:.3g}): {said}, p = {found.p:.3g}"
