"""What was compared: a case that one side lacks is a gap, never a regression and never an improvement."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from diff.compare import Comparison
from diff.tallies import Tallies
from grade.arrow import pc
from grade.columns import scalar


@dataclass(frozen=True, slots=True)
class Coverage:
    """Case × targets of a comparison.

    Attributes:
        base, head: how many each side has.
        compared: how many both have.
        judged: how many of these could be judged on both sides.
        selected: whether a side was graded for some of its cases only, so that the others say nothing.
    """

    base: int
    head: int
    compared: int
    judged: int
    selected: bool

    def as_dict(self) -> dict[str, int | bool]:
        """Return the member of the summary."""
        return {
            "base": self.base,
            "head": self.head,
            "compared": self.compared,
            "judged": self.judged,
            "selected": self.selected,
        }


def coverage(comparison: Comparison, counts: Tallies) -> Coverage:
    """Return the coverage of a comparison."""
    both = pc.and_(pc.is_valid(comparison.pairs.base), pc.is_valid(comparison.pairs.head))
    plain = comparison.head.rows.column("trial").take(comparison.pairs.head.filter(both))
    return Coverage(
        _plain(comparison.base.rows.column("trial")),
        _plain(comparison.head.rows.column("trial")),
        _plain(plain),
        len(counts),
        comparison.only_common,
    )


def _plain(trials: pa.ChunkedArray) -> int:
    """Return how many trials are the plain one: each case × target has one."""
    return int(pc.sum(pc.equal(trials, scalar(pa.int64(), 0))).as_py() or 0)


def coverage_lines(found: Coverage) -> list[str]:
    """Return the gaps in words; nothing where every case was compared and judged."""
    if found.base == found.head == found.compared == found.judged:
        return []
    told = f"coverage: {found.compared} of {found.base} cases of the base and of {found.head} of the head were compared"
    if found.selected:
        told += " (a side was graded for some of them only; the others keep their verdicts)"
    if found.judged < found.compared:
        told += f"; {found.compared - found.judged} could not be judged"
    return [told]
