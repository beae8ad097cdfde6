"""How many cases it takes to see a change, and how small a change so many cases can show.

n = (z_{α/2} + z_β)² · (ω² + σ_A²/K_A + σ_B²/K_B) / δ² (Miller 2024, arXiv 2411.00640, section 5), where ω² is the variance between cases
of the change that a case would show with endless trials, σ² the variance within a case, and K how many trials a side has.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

from diff.tallies import Tallies

LEVEL = 0.05
POWER = 0.8


@dataclass(frozen=True, slots=True)
class Spread:
    """Where the variance of a paired difference comes from.

    Attributes:
        between: ω², the variance between cases of the change that endless trials would show.
        within_base, within_head: σ_A² and σ_B², the mean variance within a case.
        trials_base, trials_head: K_A and K_B, how many trials a case has.
    """

    between: float
    within_base: float = 0.0
    within_head: float = 0.0
    trials_base: float = 1.0
    trials_head: float = 1.0

    @property
    def variance(self) -> float:
        """Return the variance of the change that one case shows."""
        return self.between + self.within_base / self.trials_base + self.within_head / self.trials_head

    def with_trials(self, trials: float) -> Spread:
        """Return the spread that so many trials on both sides would have."""
        return Spread(self.between, self.within_base, self.within_head, trials, trials)


def required_cases(effect: float, spread: Spread, *, level: float = LEVEL, power: float = POWER) -> int:
    """Return how many cases show a change of ``effect`` with this power.

    Args:
        effect: the change of the pass fraction, above 0.
        spread: where the variance comes from.
        level: the two-sided chance of a false alarm.
        power: the chance of seeing the change.
    """
    return max(2, ceil(_quantiles(level, power) ** 2 * spread.variance / effect**2))


def detectable_effect(cases: int, spread: Spread, *, level: float = LEVEL, power: float = POWER) -> float:
    """Return the least change of the pass fraction that so many cases show with this power: the inverse of ``required_cases``."""
    return _quantiles(level, power) * sqrt(spread.variance / cases)


def power_of(cases: int, effect: float, spread: Spread, *, level: float = LEVEL) -> float:
    """Return the chance that so many cases show a change of ``effect``: the formula solved for the power."""
    from scipy.special import ndtr, ndtri

    return float(ndtr(effect / sqrt(spread.variance / cases) - ndtri(1 - level / 2)))


def _quantiles(level: float, power: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(1 - level / 2) + ndtri(power))


def spread_of(counts: Tallies) -> Spread | None:
    """Return the spread that two runs show, or ``None`` where nothing differs between cases, for then it is not known.

    With one trial a case the parts cannot be told apart, and all of it counts as between cases.
    """
    import numpy as np

    if len(counts) < 2:
        return None
    base, head = counts.base_passed / counts.base, counts.head_passed / counts.head
    total = float(np.var(head - base, ddof=1))
    if total <= 1e-30:
        return None
    several = (counts.base > 1) & (counts.head > 1)
    if not several.all():
        return Spread(total)
    within_base = float(np.mean(base * (1 - base) * counts.base / (counts.base - 1)))
    within_head = float(np.mean(head * (1 - head) * counts.head / (counts.head - 1)))
    # The harmonic mean of the trials: a case with few of them has the larger part of the noise.
    trials_base, trials_head = (float(1 / np.mean(1 / side)) for side in (counts.base, counts.head))
    between = max(0.0, total - within_base / trials_base - within_head / trials_head)
    return Spread(between, within_base, within_head, trials_base, trials_head)


@dataclass(frozen=True, slots=True)
class Power:
    """What the cases of a comparison can show.

    Attributes:
        cases: pairs that were judged.
        effect: the least change of the pass fraction that they show; ``None`` where the spread is not known.
        needed: change in points → cases that show it.
    """

    cases: int
    effect: float | None
    needed: dict[int, int]

    def as_dict(self) -> dict[str, Any]:
        """Return the member of the summary."""
        return {
            "cases": self.cases,
            "detectable_effect": self.effect,
            "level": LEVEL,
            "power": POWER,
            "cases_needed": {str(points): cases for points, cases in self.needed.items()},
        }


def power(counts: Tallies) -> Power:
    """Return what the cases of a comparison can show, and what changes of 1, 5 and 10 points would take."""
    spread = spread_of(counts)
    if spread is None:
        return Power(len(counts), None, {})
    needed = {points: required_cases(points / 100, spread) for points in (1, 5, 10)}
    return Power(len(counts), detectable_effect(len(counts), spread), needed)


def power_sentence(found: Power) -> str:
    """Return in words what the cases can show."""
    if found.effect is None:
        return "what these cases could show is not known: no case differs from another"
    if found.effect > 1:
        return f"{found.cases} pairs are too few for any change; one of 5 points needs {found.needed[5]:,} cases"
    pairs = f"{found.cases} pair{'' if found.cases == 1 else 's'}"
    return (
        f"with {pairs} a change of {100 * found.effect:.1f} points is found in four of five comparisons; "
        f"one of 5 points needs {found.needed[5]:,} cases"
    )
