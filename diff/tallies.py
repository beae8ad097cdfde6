"""How many trials of each case × target both sides have, and how many pass: column by column, as rows are too many to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from diff.compare import Comparison, first_rows
from grade.arrow import pc
from grade.columns import scalar

if TYPE_CHECKING:
    import numpy as np

    Counts = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class Tallies:
    """Whole numbers for each case × target that both sides have and could judge, over all trials of each side.

    Attributes:
        firsts: the number of its first row in the comparison; they rise.
        clusters: equal for all targets of one case.
        base, head: how many trials there are.
        base_passed, head_passed: how many of them pass.
    """

    firsts: Counts
    clusters: Counts
    base: Counts
    head: Counts
    base_passed: Counts
    head_passed: Counts

    def __len__(self) -> int:
        return len(self.firsts)


def tallies(comparison: Comparison) -> Tallies:
    """Return the tallies of a comparison, in the order of its rows."""
    import numpy as np

    starts = np.flatnonzero(_numbers(first_rows(comparison)))
    base, base_passed, base_judged = _counted(comparison.base.rows, comparison.pairs.base, starts)
    head, head_passed, head_judged = _counted(comparison.head.rows, comparison.pairs.head, starts)
    both = base_judged & head_judged
    clusters = _clusters(comparison, starts)
    return Tallies(starts[both], clusters[both], base[both], head[both], base_passed[both], head_passed[both])


def passing(counts: Tallies, number: int) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return (passing, trials) of both sides of the case × target that a row belongs to, or ``None`` where one was not judged."""
    import numpy as np

    place = int(np.searchsorted(counts.firsts, number, side="right")) - 1
    if place < 0 or number >= counts.firsts[place] + max(counts.base[place], counts.head[place]):
        return None
    return (
        (int(counts.base_passed[place]), int(counts.base[place])),
        (int(counts.head_passed[place]), int(counts.head[place])),
    )


def _counted(rows: pa.Table, numbers: pa.Array, starts: Counts) -> tuple[Counts, Counts, Any]:
    """Return rows and passing rows of each case × target, and whether all of its rows were judged."""
    status = rows.column("status").cast(pa.string()).take(numbers)
    count = _sums(pc.is_valid(numbers), starts)
    passed = _sums(pc.equal(status, scalar(pa.string(), "pass")), starts)
    failed = _sums(pc.equal(status, scalar(pa.string(), "fail")), starts)
    return count, passed, (count > 0) & (passed + failed == count)


def _sums(flags: Any, starts: Counts) -> Counts:
    import numpy as np

    counts = _numbers(pc.fill_null(flags, scalar(pa.bool_(), False)))
    return np.add.reduceat(counts, starts) if len(counts) else counts


def _numbers(flags: Any) -> Counts:
    """Return truth values as 0 and 1. Not to_numpy: that imports pandas."""
    import numpy as np

    flags = flags.combine_chunks() if isinstance(flags, pa.ChunkedArray) else flags
    bytes_ = flags.cast(pa.uint8())
    found = (
        np.frombuffer(bytes_.buffers()[1], dtype=np.uint8, count=len(bytes_) + bytes_.offset)
        if len(bytes_)
        else np.zeros(0)
    )
    return found[bytes_.offset :].astype(np.int64)


def _clusters(comparison: Comparison, starts: Counts) -> Counts:
    """Return a number for each case × target that is the same for all targets of a case: they stand together."""
    import numpy as np

    if not len(starts):
        return starts
    # Not pa.array: that imports pandas.
    chosen = pa.Array.from_buffers(pa.int64(), len(starts), [None, pa.py_buffer(starts.astype(np.int64).tobytes())])
    new = comparison.head.rows.column("case_id").take(comparison.pairs.head.take(chosen))
    old = comparison.base.rows.column("case_id").take(comparison.pairs.base.take(chosen))
    names = pc.coalesce(new.cast(pa.string()), old.cast(pa.string()))
    names = names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names
    other = _numbers(pc.not_equal(names.slice(1), names.slice(0, len(names) - 1)))
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(other)])
