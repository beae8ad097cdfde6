"""The size of a change: the paired difference of case pass fractions, with a standard error that knows which cases belong together.

Pairing removes what the cases have in common on both sides, the difficulty of the question (Miller 2024, "Adding Error Bars to Evals",
arXiv 2411.00640, sections 2 and 4). The trials of a case are averaged first, and its targets are one cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any

from diff.tallies import Tallies

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The mean change of the pass fraction over case × targets.

    Attributes:
        cases: case × targets that both sides could judge.
        clusters: cases; all targets of one are a cluster.
        mean: the change, negative for the worse; ``None`` without a case.
        error: its standard error, clustered by case; ``None`` with fewer than two clusters.
        low, high: its 95 % interval by Student's t; ``None`` where nothing differs between cases, for then nothing tells how far chance
            alone would carry it.
        design_effect: how many times larger the clustered variance is than that of cases that have nothing to do with one another.
    """

    cases: int
    clusters: int
    mean: float | None
    error: float | None = None
    low: float | None = None
    high: float | None = None
    design_effect: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the member of the summary."""
        return {
            "cases": self.cases,
            "clusters": self.clusters,
            "mean": self.mean,
            "error": self.error,
            "low": self.low,
            "high": self.high,
            "design_effect": self.design_effect,
        }


def paired(counts: Tallies) -> PairedDifference:
    """Return the paired difference of two runs; its interval ends where a pass fraction does."""
    found = paired_difference(counts.head_passed / counts.head - counts.base_passed / counts.base, counts.clusters)
    if found.low is None or found.high is None:
        return found
    return replace(found, low=max(-1.0, found.low), high=min(1.0, found.high))


def paired_difference(
    differences: np.ndarray[Any, Any], clusters: np.ndarray[Any, Any], confidence: float = 0.95
) -> PairedDifference:
    """Return the mean of some differences with its clustered standard error and t interval.

    Args:
        differences: head minus base, one for each case × target.
        clusters: the number of the cluster of each one.
        confidence: of the interval.

    Returns:
        With G clusters the error is sqrt(G / (G − 1) · Σ_g (Σ_{i∈g} (d_i − d̄))²) / n, and the interval has G − 1 degrees of freedom;
        with clusters of one that is the ordinary paired t interval.
    """
    import numpy as np

    count = len(differences)
    numbers, which = np.unique(clusters, return_inverse=True)
    groups = len(numbers)
    if count == 0:
        return PairedDifference(0, 0, None)
    mean = float(differences.mean())
    if groups < 2:
        return PairedDifference(count, groups, mean)
    away = differences - mean
    sums = np.bincount(which, weights=away)
    variance = groups / (groups - 1) * float(sums @ sums) / count**2
    plain = float(away @ away) / (count * (count - 1))
    # Equal differences leave rounding errors and no spread.
    if plain <= 1e-30:
        return PairedDifference(count, groups, mean, 0.0)
    from scipy.special import stdtrit  # late: half of a small diff's time would go into importing it

    half = float(stdtrit(groups - 1, 0.5 + confidence / 2)) * sqrt(variance)
    return PairedDifference(count, groups, mean, sqrt(variance), mean - half, mean + half, variance / plain)


def paired_sentence(found: PairedDifference) -> str:
    """Return the paired difference in words, never without its interval or the reason why there is none."""
    if found.mean is None:
        return "change of the pass fraction: no case was judged on both sides"
    told = f"change of the pass fraction: {100 * found.mean:+.1f} points over {found.cases} pair{'' if found.cases == 1 else 's'}"
    if found.low is None or found.high is None:
        return f"{told}; no interval: {'one case' if found.clusters < 2 else 'no case differs from another'}"
    return f"{told} (95 % interval {100 * found.low:+.1f} to {100 * found.high:+.1f}, by case)"
