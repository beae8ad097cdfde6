"""The attribution of a whole suite: case shares added up, with added and removed cases as lines of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from diff.attribution import Attribution

_NOTHING = Fraction(0)


@dataclass(slots=True)
class SuiteShares:
    """What moved the suite's pass fraction.

    Attributes:
        pairs: case × targets that both sides have and could judge.
        base, head: the mean of their pass fractions.
        shares: clock → share; they and ``undetermined`` add up to the change over the pairs.
        undetermined: the change of the cases whose shares are undetermined, and how many by reason.
        added, removed: what cases on one side only do to the mean over all cases of a side.
        codes: finding code → clock → share of the change of how often it is found.
    """

    pairs: int
    base: Fraction
    head: Fraction
    shares: dict[str, Fraction]
    undetermined: Fraction
    reasons: dict[str, int]
    added: Fraction
    removed: Fraction
    codes: dict[str, dict[str, Fraction]] = field(default_factory=dict[str, dict[str, Fraction]])

    @property
    def change(self) -> Fraction:
        """Return the change over the pairs."""
        return self.head - self.base

    def as_dict(self) -> dict[str, object]:
        """Return the summary's ``pass_fraction``: exact texts, whose lines add up."""
        return {
            "pairs": self.pairs,
            "base": str(self.base),
            "head": str(self.head),
            "change": str(self.change),
            "undetermined": str(self.undetermined),
            "undetermined_cases": dict(sorted(self.reasons.items())),
            "added": str(self.added),
            "removed": str(self.removed),
            "codes": {code: {c: str(s) for c, s in by.items()} for code, by in sorted(self.codes.items())},
        }

    def attribution(self) -> dict[str, str]:
        """Return the summary's ``attribution``: clock → share of the change, or why there is none."""
        if self.reasons and not self.shares:
            reason, count = max(self.reasons.items(), key=lambda item: (item[1], item[0]))
            return {"undetermined": f"{reason} ({count} case{'s' if count != 1 else ''})"}
        return {clock: str(share) for clock, share in self.shares.items()}


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums of pass fractions over case × targets that could be judged: those on both sides, and those on one only."""

    pairs: int
    base: Fraction
    head: Fraction
    only_base: int
    only_base_sum: Fraction
    only_head: int
    only_head_sum: Fraction


def add_up(moved: Iterable[Attribution], totals: Totals) -> SuiteShares:
    """Return the suite's shares.

    Args:
        moved: the attributions of the cases in which a clock moved or the pass fraction changed.
        totals: of all cases.
    """
    count = max(1, totals.pairs)
    shares: dict[str, Fraction] = {}
    codes: dict[str, dict[str, Fraction]] = {}
    reasons: Counter[str] = Counter()
    undetermined = _NOTHING
    for one in moved:
        if one.shares is None:
            reasons[one.reason] += 1
            undetermined += one.change or _NOTHING
            continue
        for clock, share in one.shares.items():
            shares[clock] = shares.get(clock, _NOTHING) + share / count
        for code, by in one.codes.items():
            total = codes.setdefault(code, {})
            for clock, share in by.items():
                total[clock] = total.get(clock, _NOTHING) + share / count
    base, head = totals.base / count, totals.head / count
    return SuiteShares(
        pairs=totals.pairs,
        base=base,
        head=head,
        shares=shares,
        undetermined=undetermined / count,
        reasons=dict(reasons),
        added=_mean(totals.head + totals.only_head_sum, totals.pairs + totals.only_head) - head,
        removed=base - _mean(totals.base + totals.only_base_sum, totals.pairs + totals.only_base),
        codes={code: by for code, by in codes.items() if any(by.values())},
    )


def _mean(total: Fraction, count: int) -> Fraction:
    return total / count if count else _NOTHING
