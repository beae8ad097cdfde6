"""All that is measured of a comparison beside its rows: sizes, tests, what the cases could show, gaps, and gates by clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from diff.code_changes import CodeChange, code_changes, code_lines
from diff.compare import Comparison
from diff.coverage import Coverage, coverage, coverage_lines
from diff.flake import flake_lines, mark_flakes
from diff.flips import Flips, Rate, counted, flips_sentence, flips_test
from diff.gates import Gates, gates
from diff.paired import PairedDifference, paired, paired_sentence
from diff.pass_at_k import pass_at, pass_at_sentence
from diff.power import Power, power, power_sentence
from diff.sequence import History, history_of, sequence_sentence
from diff.tallies import tallies
from golden.model import Suite
from snapshots.errors import RefError


@dataclass(frozen=True, slots=True)
class Measures:
    """The measures of a comparison."""

    paired: PairedDifference
    codes: list[CodeChange]
    pass_at: dict[str, dict[str, Any]]
    trials: list[dict[str, Any]]
    power: Power
    flips: Flips
    history: History | None
    coverage: Coverage
    gates: Gates

    def as_dict(self) -> dict[str, Any]:
        """Return the member ``statistics`` of the summary."""
        return {
            "paired": self.paired.as_dict(),
            "codes": {one.code: one.as_dict() for one in self.codes},
            "pass_at": self.pass_at,
            "trials": self.trials,
            "power": self.power.as_dict(),
            "flips": self.flips.as_dict(),
            "sequence": None if self.history is None else self.history.sequence.as_dict(),
            "coverage": self.coverage.as_dict(),
            "gates": self.gates.as_dict(),
        }

    def lines(self, *, asked_again: bool = True) -> list[str]:
        """Return the measures in words, each on a line; what has nothing to say is left out.

        Args:
            asked_again: whether chance has a part in the difference; without one no test of it is told.
        """
        told = self._chances() if asked_again else []
        return [*told, *coverage_lines(self.coverage), *self.gates.lines()]

    def _chances(self) -> list[str]:
        told = [paired_sentence(self.paired), power_sentence(self.power)]
        if self.pass_at:
            told.append(pass_at_sentence(self.pass_at))
        told += code_lines(self.codes)
        told += flake_lines(self.trials)
        if self.flips.flips and self.flips.p is not None:
            told.append(flips_sentence(self.flips))
        if self.history is not None and len(self.history.steps) > 1:
            told.append(sequence_sentence(self.history.sequence, self.history.label))
        return told


def measure(comparison: Comparison, suite: Suite, gate_clocks: Sequence[str] = ()) -> Measures:
    """Measure a comparison, remember it there, and mark its rows with what their trials say.

    Args:
        comparison: attributed, so that gates know who has which share.
        suite: whose saved runs are the history, and whose configuration may hold the flip rate and the gates' clocks.
        gate_clocks: clocks to gate by; the configuration's where there are none.
    """
    counts = comparison.tallies = tallies(comparison)
    before, watched = _history(comparison, suite, base=True), _history(comparison, suite, base=False)
    rate = None if before is None else before.flip_rate
    if suite.flip_rate is not None:
        rate = Rate(suite.flip_rate)
    comparison.measures = Measures(
        paired(counts),
        code_changes(comparison, counts),
        pass_at(counts),
        mark_flakes(comparison.rows, counts),
        power(counts),
        flips_test(*counted(comparison, counts), rate),
        watched if watched is not None else before,
        coverage(comparison, counts),
        gates(comparison, gate_clocks or suite.gate_clocks),
    )
    return comparison.measures


def _history(comparison: Comparison, suite: Suite, *, base: bool) -> History | None:
    """Return the history of a side's label, or ``None``; a run that cannot be read becomes a note, for the diff stands without it."""
    side = comparison.base if base else comparison.head
    try:
        return history_of(suite, side.ref)
    except RefError as error:
        side.notes.append(f"the history is left out: {error.message}")
        return None
