"""Which finding codes are found in more or fewer cases than before: a test for each code, adjusted for how many codes there are.

A code's change in a case is that of the share of its paired trials that have it. With one trial a case the test is the exact McNemar one,
with several the sign-flip test over cases; the p-values are adjusted by Holm over all codes that changed anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from diff.compare import Comparison
from diff.drift import sign_flip_p
from diff.row import DiffRow
from diff.statistics import holm
from diff.tallies import Tallies

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class CodeChange:
    """The test of one finding code.

    Attributes:
        appeared, vanished: case × targets in which it is found more often, and less often.
        p: two-sided; ``adjusted``: by Holm, over all codes.
    """

    code: str
    appeared: int
    vanished: int
    p: float
    adjusted: float

    def as_dict(self) -> dict[str, Any]:
        """Return the member of the summary."""
        return {"appeared": self.appeared, "vanished": self.vanished, "p": self.p, "holm": self.adjusted}


def code_changes(comparison: Comparison, counts: Tallies) -> list[CodeChange]:
    """Return the test of every finding code that changed, the smallest p first."""
    changes = _changes(comparison.rows.items(), counts)
    names = sorted(changes)
    ps = [sign_flip_p(changes[name]) or 1.0 for name in names]
    made = [
        CodeChange(name, sum(c > 0 for c in changes[name]), sum(c < 0 for c in changes[name]), p, adjusted)
        for name, p, adjusted in zip(names, ps, holm(ps), strict=True)
    ]
    return sorted(made, key=lambda one: (one.p, one.code))


def _changes(rows: Iterable[tuple[int, DiffRow]], counts: Tallies) -> dict[str, list[Fraction]]:
    """Return code → its change in each case where it changed; a case of which a trial was not judged is left out."""
    import numpy as np

    steps: dict[tuple[int, str], int] = {}
    for number, row in rows:
        if row.base is None or row.head is None or row.base["findings"] is None or row.head["findings"] is None:
            continue
        place = int(np.searchsorted(counts.firsts, number, side="right")) - 1
        if place < 0 or number >= counts.firsts[place] + max(counts.base[place], counts.head[place]):
            continue
        old, new = set(row.base["findings"]), set(row.head["findings"])
        for code in old ^ new:
            steps[place, code] = steps.get((place, code), 0) + (1 if code in new else -1)
    changes: dict[str, list[Fraction]] = {}
    for (place, code), step in steps.items():
        trials = int(min(counts.base[place], counts.head[place]))
        if step:
            changes.setdefault(code, []).append(Fraction(step, trials))
    return changes


def code_lines(found: list[CodeChange], most: int = 5) -> list[str]:
    """Return the tests in words: codes that chance does not explain, and how many others changed."""
    sure = [one for one in found if one.adjusted <= LEVEL]
    told = [
        f"finding {one.code}: {one.appeared} more, {one.vanished} fewer cases, Holm p = {one.adjusted:.3g}"
        for one in sure[:most]
    ]
    if len(sure) > most:
        told.append(f"… and {len(sure) - most} more finding codes that changed")
    return told
