"""Gates by clock: a regression fails a diff only where one of the chosen clocks has a share of the blame.

A clock is to blame where its share of the change of the case is below zero; ``request+model`` is both of them. Where the shares are not
determined, every clock that moved in the case is to blame, and the report says so: a gate must not open because something is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from diff.attribution import Attribution
from diff.compare import Comparison
from diff.statistics import McNemar, holm, mcnemar

Key = tuple[str, str]
# Moves that no clock of the case tells of, and whose gate they fall under.
_BY_MOVE = {"runtime_moved": "grader", "impure_grader": "grader", "judge_answer_moved_on_frozen_request": "model"}


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of one clock.

    Attributes:
        worse: the regressions in which it has a share of the blame, sorted.
        undetermined: those of them whose shares are not determined.
        better: how many cases newly pass by a share of it.
        test: the exact McNemar test of worse against better.
        adjusted: its p by Holm, over all gates; ``None`` where nothing flipped.
    """

    clock: str
    worse: list[Key]
    undetermined: list[Key]
    better: int
    test: McNemar
    adjusted: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the member of the summary."""
        return {
            "worse": len(self.worse),
            "undetermined": len(self.undetermined),
            "better": self.better,
            "p": self.test.p,
            "holm": self.adjusted,
        }

    def sentence(self) -> str:
        """Return it in words."""
        told = f"gate {self.clock}: {len(self.worse)} newly failing, {self.better} newly passing"
        if self.undetermined:
            told += f"; {len(self.undetermined)} of them gate though the shares are undetermined"
        if self.test.p is None or self.adjusted is None:
            return told
        return f"{told}; exact McNemar p = {self.test.p:.3g}, Holm p = {self.adjusted:.3g}"


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates of a comparison, and the regressions that none of them holds back."""

    gates: list[Gate] = field(default_factory=list[Gate])
    passed_over: list[Key] = field(default_factory=list[Key])

    @property
    def regressions(self) -> list[Key]:
        """Return the regressions that fail the diff, sorted."""
        return sorted({key for gate in self.gates for key in gate.worse})

    @property
    def better(self) -> int:
        """Return how many gates have an improvement."""
        return sum(gate.better for gate in self.gates)

    def as_dict(self) -> dict[str, Any]:
        """Return the member of the summary."""
        return {"clocks": {gate.clock: gate.as_dict() for gate in self.gates}, "passed_over": len(self.passed_over)}

    def lines(self) -> list[str]:
        """Return the gates in words."""
        told = [gate.sentence() for gate in self.gates]
        if self.passed_over:
            count = len(self.passed_over)
            told.append(
                f"not gated: {count} newly failing case{'' if count == 1 else 's'} in which no chosen clock has a share"
            )
        return told


def gates(comparison: Comparison, clocks: Sequence[str]) -> Gates:
    """Return the gates of some clocks.

    Args:
        comparison: attributed, so that shares are known.
        clocks: ``request``, ``model``, ``grader`` or ``expectation``; no gates where there are none.
    """
    if not clocks:
        return Gates()
    moved = _moved(comparison)
    blamed = {key: _blamed(comparison, key, moved, -1) for key in comparison.regressions}
    praised = [
        _blamed(comparison, key, moved, 1)[0]
        for key, (change, _) in comparison.verdicts.items()
        if change == "newly_passing"
    ]
    made: list[Gate] = []
    for clock in dict.fromkeys(clocks):
        worse = [key for key, (names, _) in blamed.items() if clock in names]
        unsure = [key for key in worse if not blamed[key][1]]
        better = sum(clock in names for names in praised)
        made.append(Gate(clock, worse, unsure, better, mcnemar(len(worse), better)))
    return Gates(_adjusted(made), [key for key, (names, _) in blamed.items() if not names.intersection(clocks)])


def _adjusted(made: list[Gate]) -> list[Gate]:
    """Return the gates with p-values adjusted for how many of them there are."""
    tested = [gate.clock for gate in made if gate.test.p is not None]
    ps = [gate.test.p for gate in made if gate.test.p is not None]
    found = dict(zip(tested, holm(ps), strict=True))
    return [Gate(g.clock, g.worse, g.undetermined, g.better, g.test, found.get(g.clock)) for g in made]


def _moved(comparison: Comparison) -> dict[Key, set[str]]:
    """Return case × target → the clocks that moved in any of its rows, on both sides of which it stands."""
    found: dict[Key, set[str]] = {}
    for row in comparison.rows.values():
        if row.base is None or row.head is None:
            continue
        moved = found.setdefault((row.case_id, row.target), set())
        moved.update(row.clocks)
        if row.move in _BY_MOVE:
            moved.add(_BY_MOVE[row.move])
    return found


def _blamed(comparison: Comparison, key: Key, moved: dict[Key, set[str]], sign: int) -> tuple[frozenset[str], bool]:
    """Return the clocks that turned a case for the worse (−1) or the better (1), and whether their shares are determined."""
    attributed = comparison.attributed
    one: Attribution | None = None if attributed is None else attributed.cases.get(key)
    shares: dict[str, Fraction] = {} if one is None or one.shares is None else one.shares
    names = {part for name, share in shares.items() if share * sign > 0 for part in name.split("+")}
    if names:
        return frozenset(names), True
    # No share of the pass fraction: it is unknown, or another pass rule turned the same trials. Whoever moved may have done it.
    return frozenset(moved.get(key, ())), False
