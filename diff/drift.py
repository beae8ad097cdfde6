"""Whether the model of a whole suite has drifted: a test over cases, for a single answer that moved may be chance.

The change of a case is that of its pass fraction over the trials that both sides have. Only cases whose request, grader and expectation
stand still are looked at, so that nothing but the model can have changed them. If it did not, each change is as likely as its opposite:
the exact sign-flip permutation test (Fisher 1935; Ernst 2004, "Permutation methods: a basis for exact inference"), clustered by case. With
one trial a case it is the exact McNemar test.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, sqrt

import pyarrow as pa

from diff.compare import Comparison
from diff.row import DiffRow
from grade.arrow import pc
from grade.columns import column, scalar

LEVEL = 0.05
_OTHERS = frozenset({"request", "grader", "expectation"})
_JUDGED = frozenset({"pass", "fail"})
# Counting all sign flips takes bits by the product of cases, their changes and their sum; beyond this the normal law does as well.
_MOST_BITS = 10**11
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Drift:
    """The drift test of a suite.

    Attributes:
        cases: case × targets that were compared.
        worse: those that pass less often now.
        better: those that pass more often now.
        change: the mean change of the pass fraction over all that were compared.
        p: two-sided; ``None`` where none changed.
        smallest_p: the least p that so many changes can reach.
    """

    cases: int
    worse: int
    better: int
    change: Fraction
    p: float | None
    smallest_p: float | None

    @property
    def fires(self) -> bool:
        """Tell whether chance alone would do this in at most one of twenty comparisons."""
        return self.p is not None and self.p <= LEVEL

    def as_dict(self) -> dict[str, object]:
        """Return the member of the summary."""
        return {
            "cases": self.cases,
            "worse": self.worse,
            "better": self.better,
            "change": str(self.change),
            "p": self.p,
            "smallest_p": self.smallest_p,
            "fires": self.fires,
        }


def drift(comparison: Comparison) -> Drift:
    """Return the drift test of a comparison."""
    moved: dict[Key, int] = {}
    left_out: set[Key] = set()
    paired: set[Key] = set()
    for row in comparison.rows.values():
        key = row.case_id, row.target
        if row.base is None or row.head is None:
            continue  # a trial or case that one side lacks: only what both have is compared
        step = _step(row)
        paired.add(key)
        if step is None:
            left_out.add(key)
        elif step:
            moved[key] = moved.get(key, 0) + step
    changed = {key: steps for key, steps in moved.items() if steps and key not in left_out}
    trials = _trials(comparison, {case for case, _ in changed})
    changes = [Fraction(steps, trials[key]) for key, steps in changed.items()]
    compared = _pairs(comparison) - len(left_out & paired)
    return Drift(
        cases=max(compared, len(changes)),
        worse=sum(change < 0 for change in changes),
        better=sum(change > 0 for change in changes),
        change=sum(changes, Fraction(0)) / max(compared, 1),
        p=sign_flip_p(changes),
        smallest_p=min(1.0, 2.0 * 0.5 ** len(changes)) if changes else None,
    )


def _step(row: DiffRow) -> int | None:
    """Return by how many passes a row changed, or ``None`` where more than the model may have changed its case."""
    assert row.base is not None
    assert row.head is not None
    if _OTHERS & set(row.clocks):
        return None
    statuses = row.base["status"], row.head["status"]
    if not _JUDGED.issuperset(statuses):
        return None
    return (statuses[1] == "pass") - (statuses[0] == "pass")


def _trials(comparison: Comparison, cases: set[str]) -> Counter[Key]:
    """Return how many trials of each case both sides have."""
    if not cases:
        return Counter()
    both = pc.and_(pc.is_valid(comparison.pairs.base), pc.is_valid(comparison.pairs.head))
    chosen = comparison.head.rows.select(["case_id", "target"]).take(comparison.pairs.head.filter(both))
    chosen = chosen.filter(pc.is_in(chosen.column("case_id"), value_set=column(pa.string(), sorted(cases))))
    return Counter((row["case_id"], row["target"]) for row in chosen.to_pylist())


def _pairs(comparison: Comparison) -> int:
    """Return how many case × targets both sides have."""
    both = pc.and_(pc.is_valid(comparison.pairs.base), pc.is_valid(comparison.pairs.head))
    trial = comparison.head.rows.column("trial").take(comparison.pairs.head.filter(both))
    return pc.sum(pc.equal(trial, scalar(pa.int64(), 0))).as_py() or 0


def sign_flip_p(changes: list[Fraction]) -> float | None:
    """Return the exact two-sided p of the sum of some changes when each sign is a coin; ``None`` for none.

    The normal law stands in where counting would take too long.
    """
    sizes = [abs(change) for change in changes if change]
    if not sizes:
        return None
    unit = lcm(*(size.denominator for size in sizes))
    weights = [int(size * unit) for size in sizes]
    whole, total = sum(weights), abs(int(sum(changes, Fraction(0)) * unit))
    slot = -(-(len(weights) + 1) // 8)  # bytes for a count of up to 2^n
    if len(weights) * whole * slot * 8 > _MOST_BITS:
        return _normal_p(total, weights)
    if total == 0:
        return 1.0
    counts = 1  # one number holds the counts of all sums, a slot each
    for weight in weights:
        counts += counts << (8 * slot * weight)
    lowest = (
        whole - total
    ) // 2  # sums of the flipped ones up to here are at least as far out, and as many on the other side
    low = counts & ((1 << (8 * slot * (lowest + 1))) - 1)
    data = low.to_bytes(slot * (lowest + 1), "little")
    tail = sum(int.from_bytes(data[i : i + slot], "little") for i in range(0, len(data), slot))
    return min(1.0, float(Fraction(2 * tail, 1 << len(weights))))


def _normal_p(total: int, weights: list[int]) -> float:
    from scipy.special import ndtr

    return min(1.0, 2.0 * float(ndtr(-total / sqrt(sum(weight * weight for weight in weights)))))


def drift_sentence(found: Drift) -> str:
    """Return the test in words; a suite that may have drifted, or not, is told as neither."""
    cases = f"{found.cases} case{'' if found.cases == 1 else 's'}"
    counted = f"{found.worse} pass less often, {found.better} more often, of {cases}"
    if not found.cases:
        return "the model: in every case whose answer moved another clock moved too, so that drift cannot be told"
    if found.p is None or found.smallest_p is None:
        return f"the model: no verdict moved over {cases}"
    if found.smallest_p > LEVEL:
        return f"the model: {counted}; too few to tell drift from chance (the least p they can reach is {found.smallest_p:.2g})"
    said = "drift" if found.fires else "no drift"
    return f"the model: {said}: {counted}, pass fraction {float(found.change):+.3f}, sign-flip p = {found.p:.3g}"
