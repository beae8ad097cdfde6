"""Statistics of verdicts, by case. Every figure comes with what it was computed from; a bare pass rate is never shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True, slots=True)
class Rate:
    """A pass rate: ``passed`` of ``cases``, with its 95 % Wilson interval. ``None`` bounds where there is no case."""

    passed: int
    cases: int
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class McNemar:
    """An exact McNemar test over paired case verdicts.

    ``worse`` passed before and fail now, ``better`` the reverse; ``smallest_p`` is the least p that this many flips can reach.
    """

    worse: int
    better: int
    p: float | None
    smallest_p: float | None


def wilson(passed: int, cases: int, confidence: float = 0.95) -> Rate:
    """Return a pass rate with its Wilson score interval (Wilson 1927; Brown, Cai and DasGupta 2001, eq. 4)."""
    if cases == 0:
        return Rate(0, 0, None, None)
    from scipy.special import ndtri  # late: half of a small diff's time would go into importing it

    z = float(ndtri(0.5 + confidence / 2))
    p, z2n = passed / cases, z * z / cases
    centre = (p + z2n / 2) / (1 + z2n)
    half = z / (1 + z2n) * sqrt(p * (1 - p) / cases + z2n / (4 * cases))
    # At 0 and n passes the bound is exactly 0 or 1; rounding must not push it beyond.
    return Rate(
        passed,
        cases,
        0.0 if passed == 0 else max(0.0, centre - half),
        1.0 if passed == cases else min(1.0, centre + half),
    )


def mcnemar(worse: int, better: int) -> McNemar:
    """Return the exact two-sided McNemar test: 2 · P(Binomial(b + c, ½) ≤ min(b, c)), at most 1 (McNemar 1947, exact form)."""
    flips = worse + better
    if flips == 0:
        return McNemar(0, 0, None, None)
    from scipy.special import bdtr

    p = min(1.0, 2.0 * float(bdtr(min(worse, better), flips, 0.5)))
    return McNemar(worse, better, p, min(1.0, 2.0 * 0.5**flips))


def holm(ps: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm's step-down method (Holm 1979), in the order given.

    Rejecting those up to α keeps the chance of any false rejection at most α, however the tests depend on one another.
    """
    order = sorted(range(len(ps)), key=ps.__getitem__)
    adjusted = [0.0] * len(ps)
    largest = 0.0
    for rank, number in enumerate(order):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[number]))
        adjusted[number] = largest
    return adjusted
