"""Whether a case changed or its trials only fell otherwise: the flake model of one case.

Of n trials k pass; with Jeffreys' prior the chance of passing has the law Beta(½ + k, ½ + n − k) (Jeffreys 1946; Brown, Cai and DasGupta
2001). A change is said where the chance of passing is lower at head, or higher, with a probability of 0.99: then at most one of twenty
unchanged cases is called changed, whatever its chance of passing and for any number of trials up to thirty.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import asin, lgamma, log, pi, sqrt
from typing import Any

from diff.row import DiffRow
from diff.tallies import Tallies, passing

SURE = 0.99
_NODES = 96
# Beyond so many standard deviations no double holds what is left of a Beta law.
_WIDE = 14


def p_worse(base: tuple[int, int], head: tuple[int, int]) -> float:
    """Return the probability that a case passes less often at head than at base.

    Args:
        base: (passing trials, trials).
        head: likewise.
    """
    import numpy as np
    from scipy.special import betainc, roots_legendre

    a, b = base[0] + 0.5, base[1] - base[0] + 0.5
    # In the angle of sin² the density is a smooth one even at 0 and 1, so that few nodes integrate it to twelve digits.
    middle, spread = asin(sqrt(a / (a + b))), 0.5 / sqrt(a + b)
    low, high = max(0.0, middle - _WIDE * spread), min(pi / 2, middle + _WIDE * spread)
    nodes, weights = roots_legendre(_NODES)
    angles = low + (high - low) * (nodes + 1) / 2
    scale = log(2) + lgamma(a + b) - lgamma(a) - lgamma(b)
    density = np.exp((2 * a - 1) * np.log(np.sin(angles)) + (2 * b - 1) * np.log(np.cos(angles)) + scale)
    below = betainc(head[0] + 0.5, head[1] - head[0] + 0.5, np.sin(angles) ** 2)
    return min(1.0, max(0.0, float((weights * density * below).sum() * (high - low) / 2)))


@dataclass(frozen=True, slots=True)
class Flake:
    """What the trials of a case say of its change.

    Attributes:
        base, head: (passing trials, trials).
        p_worse: the probability that it passes less often now.
        verdict: ``worse``, ``better``, ``sampling``, or ``undecided`` where no outcome of so many trials could have shown a change.
    """

    base: tuple[int, int]
    head: tuple[int, int]
    p_worse: float
    verdict: str

    def as_dict(self) -> dict[str, Any]:
        """Return the member of the summary."""
        return {"base": list(self.base), "head": list(self.head), "p_worse": self.p_worse, "verdict": self.verdict}

    def sentence(self) -> str:
        """Return it in words."""
        told = (
            f"{self.base[0]} of {self.base[1]} → {self.head[0]} of {self.head[1]} trials, P(worse) = {self.p_worse:.3f}"
        )
        if self.verdict == "undecided":
            count = min(self.base[1], self.head[1])
            return f"{told}: cannot be decided with {count} trial{'' if count == 1 else 's'}"
        return f"{told}: {'sampling' if self.verdict == 'sampling' else f'changed for the {self.verdict}'}"


def flake(base: tuple[int, int], head: tuple[int, int]) -> Flake:
    """Return what the trials of a case say of its change: of chance, of a change, or that they are too few to say."""
    p = p_worse(base, head)
    if p >= SURE or p <= 1 - SURE:
        return Flake(base, head, p, "worse" if p >= SURE else "better")
    # Could any outcome at head have decided? The furthest one is that all trials pass, or that none does.
    reachable = p_worse(base, (0, head[1])) >= SURE or p_worse(base, (head[1], head[1])) <= 1 - SURE
    return Flake(base, head, p, "sampling" if reachable else "undecided")


def mark_flakes(rows: dict[int, DiffRow], counts: Tallies) -> list[dict[str, Any]]:
    """Mark the moved answers of cases with several trials with what their trials say, and return one entry for each such case.

    Args:
        rows: the moved rows by number; the evidence ``trials`` of those whose model moved is set.
        counts: the tallies of the comparison.
    """
    found: dict[tuple[str, str], Flake] = {}
    for key, numbers in _moved(rows).items():
        counted = passing(counts, min(numbers))
        if counted is None or min(counted[0][1], counted[1][1]) < 2:
            continue
        found[key] = flake(*counted)
        for number in numbers:
            rows[number].evidence["trials"] = found[key].sentence()
    return [{"case_id": case, "target": target, **one.as_dict()} for (case, target), one in sorted(found.items())]


def _moved(rows: dict[int, DiffRow]) -> dict[tuple[str, str], list[int]]:
    """Return case × target → the numbers of its rows whose answer moved, where nothing else did."""
    others = {"request", "grader", "expectation"}
    moved: dict[tuple[str, str], list[int]] = {}
    spoilt: set[tuple[str, str]] = set()
    for number, row in rows.items():
        key = row.case_id, row.target
        if others.intersection(row.clocks) or row.base is None or row.head is None:
            spoilt.add(key)
        elif "model" in row.clocks:
            moved.setdefault(key, []).append(number)
    return {key: numbers for key, numbers in moved.items() if key not in spoilt}


def flake_lines(found: Iterable[dict[str, Any]]) -> list[str]:
    """Return how many cases with several trials changed, are sampling, or cannot be decided; nothing where there are none."""
    verdicts = [one["verdict"] for one in found]
    if not verdicts:
        return []
    words = {
        "worse": "worse",
        "better": "better",
        "sampling": "within what sampling does",
        "undecided": "with too few trials to tell",
    }
    told = ", ".join(f"{verdicts.count(name)} {word}" for name, word in words.items() if name in verdicts)
    return [f"moved cases with several trials ({len(verdicts)}), one by one: {told}; the test over the suite sees more"]
