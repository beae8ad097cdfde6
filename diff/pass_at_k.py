"""pass@k: the chance that at least one of k answers passes, without bias from the n trials that there are.

1 − C(n − c, k) / C(n, k) for c passing trials of n (Chen et al. 2021, "Evaluating Large Language Models Trained on Code",
arXiv 2107.03374, equation 1), by case, and the mean over cases.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any

from diff.tallies import Tallies

if TYPE_CHECKING:
    import numpy as np

_SIZES = (1, 2, 3, 5, 10, 20, 50, 100)


def pass_at_k(passed: int, trials: int, k: int) -> Fraction:
    """Return the unbiased estimate of pass@k of one case.

    Args:
        passed: how many trials pass.
        trials: how many there are.
        k: how many answers are drawn, from 1 to ``trials``.

    Raises:
        ValueError: ``k`` or ``passed`` is out of range.
    """
    if not 0 < k <= trials or not 0 <= passed <= trials:
        raise ValueError(f"pass@{k} of {passed} in {trials} trials is not defined")
    return 1 - Fraction(comb(trials - passed, k), comb(trials, k))


def mean_pass_at_k(passed: np.ndarray[Any, Any], trials: np.ndarray[Any, Any], k: int) -> Fraction:
    """Return the exact mean of pass@k over cases; each has at least ``k`` trials and there is at least one."""
    import numpy as np

    kinds, counts = np.unique(np.stack([passed, trials]), axis=1, return_counts=True)
    total = sum(
        (count * pass_at_k(int(c), int(n), k) for c, n, count in zip(*kinds, map(int, counts), strict=True)),
        Fraction(0),
    )
    return total / len(trials)


def pass_at(counts: Tallies) -> dict[str, dict[str, Any]]:
    """Return k → ``base``, ``head`` and ``cases`` for the usual k that the trials allow; nothing where every case has one trial.

    A case counts for a k if both sides have as many trials; a k is given up to the most trials that any case has.
    """
    import numpy as np

    fewest = np.minimum(counts.base, counts.head)
    most = int(fewest.max(initial=0))
    if most < 2:
        return {}
    found: dict[str, dict[str, Any]] = {}
    for k in (k for k in _SIZES if k <= most):
        chosen = fewest >= k
        found[str(k)] = {
            "base": float(mean_pass_at_k(counts.base_passed[chosen], counts.base[chosen], k)),
            "head": float(mean_pass_at_k(counts.head_passed[chosen], counts.head[chosen], k)),
            "cases": int(chosen.sum()),
        }
    return found


def pass_at_sentence(found: dict[str, dict[str, Any]]) -> str:
    """Return the figures in words; pass@1 of all cases is the pass fraction, which is told elsewhere."""
    told = [
        f"pass@{k} {f['base']:.3f} → {f['head']:.3f} ({f['cases']} case{'' if f['cases'] == 1 else 's'})"
        for k, f in found.items()
        if k != "1"
    ]
    return f"cases with several trials: {', '.join(told)}"
