"""The cases of a comparison: which rows belong together, what they pass, and which clocks moved in any of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from diff.attribution import REQUEST, Attribution, Case, Key, attribute
from diff.classify import is_unreadable, outcome_differs
from diff.compare import Comparison, first_rows
from diff.control import Controls
from diff.row import DiffRow
from diff.suite_shares import SuiteShares, Totals, add_up
from grade import table
from grade.arrow import pc
from grade.columns import scalar

if TYPE_CHECKING:
    import numpy as np

Row = dict[str, Any]


@dataclass(slots=True)
class Attributed:
    """The attribution of a comparison: by case × target, and of the suite."""

    cases: dict[Key, Attribution]
    suite: SuiteShares


def attribute_rows(comparison: Comparison) -> None:
    """Tell how much of the change each clock has, in every row that moved and in the comparison as a whole."""
    made = attributed(comparison)
    for row in comparison.rows.values():
        one = made.cases.get((row.case_id, row.target))
        if one is not None:
            row.attribution = one.as_dict()
    comparison.attributed = made


def attributed(comparison: Comparison) -> Attributed:
    """Return how much of the change each clock has, case by case and in all."""
    regions = _Regions(comparison)
    moved = _moved(comparison, regions)
    quick = {number: _quiet(rows, regions.controls) for number, rows in moved.items()}
    wanted = [number for number, known in quick.items() if known is None]
    cases = _cases(comparison, regions, wanted, moved)
    found = dict(zip(wanted, attribute(cases, comparison.base, comparison.head), strict=True))
    every = [known or found[number] for number, known in quick.items()]
    return Attributed({one.key: one for one in every}, add_up(every, regions.totals()))


def _moved(comparison: Comparison, regions: _Regions) -> dict[int, list[DiffRow]]:
    """Return region → its moved rows, for the case × targets that both sides have."""
    found: dict[int, list[DiffRow]] = {}
    for number, row in comparison.rows.items():
        found.setdefault(regions.of(number), []).append(row)
    return {number: rows for number, rows in found.items() if regions.is_pair(number)}


def _quiet(rows: list[DiffRow], controls: Controls) -> Attribution | None:
    """Return the attribution of a case whose outcome no row changed and in which at most one clock moved, or ``None``.

    Where a control may tell two effects that cancel each other out, nothing is known so quickly.
    """
    clocks = {clock for row in rows for clock in row.clocks}
    if REQUEST in clocks and controls:
        return None
    for row in rows:
        if row.base is None or row.head is None or outcome_differs(row.base, row.head) or is_unreadable(row.head):
            return None
    case = Case((rows[0].case_id, rows[0].target), [], [], clocks)
    players = case.players
    if len(players) > 1:
        return None
    return Attribution(case.key, Fraction(0), {case.name(player): Fraction(0) for player in players})


def _cases(comparison: Comparison, regions: _Regions, wanted: list[int], moved: dict[int, list[DiffRow]]) -> list[Case]:
    """Return the cases of some regions with all their rows."""
    spans = [regions.rows(number) for number in wanted]
    bases = _rows(comparison.base.rows, comparison.pairs.base, spans)
    heads = _rows(comparison.head.rows, comparison.pairs.head, spans)
    cases: list[Case] = []
    for number, base, head in zip(wanted, bases, heads, strict=True):
        rows = moved[number]
        case = Case((rows[0].case_id, rows[0].target), base, head, {clock for row in rows for clock in row.clocks})
        if REQUEST in case.clocks:
            case.control = _control(base, regions.controls)
        cases.append(case)
    return cases


def _rows(rows: pa.Table, numbers: pa.Array, spans: list[tuple[int, int]]) -> Iterator[list[Row]]:
    """Yield the rows of each span. They are taken all at once: taking a few from a large table takes as long as taking many."""
    chosen = [numbers.slice(start, end - start).drop_null() for start, end in spans]
    if not chosen:
        return
    found = iter(table.as_rows(rows.take(pa.concat_arrays(chosen))))
    for one in chosen:
        yield [next(found) for _ in range(len(one))]


def _control(base: list[Row], controls: Controls) -> list[Row] | None:
    """Return today's answers to the old requests of a case, or ``None`` where one was not asked again."""
    found: list[Row] = []
    for row in base:
        seen = controls.observation(row)
        if seen is None:
            return None
        found.append({"request_hash": seen.request_hash, "trial": seen.trial, "integrity": seen.integrity, "asked": []})
    return found


class _Regions:
    """The rows of each case × target: they stand together, in the order of the key."""

    def __init__(self, comparison: Comparison) -> None:
        import numpy as np

        first = _flags(first_rows(comparison)).astype(bool)
        self._starts = np.append(np.flatnonzero(first), len(first))
        self._region = np.cumsum(first) - 1
        base = _Counts(comparison.base.rows, comparison.pairs.base, self._starts)
        head = _Counts(comparison.head.rows, comparison.pairs.head, self._starts)
        self._base, self._head = base, head
        self.controls = Controls([*comparison.head.stores, *comparison.base.stores])

    def of(self, number: int) -> int:
        """Return the region of a row."""
        return int(self._region[number])

    def rows(self, region: int) -> tuple[int, int]:
        """Return the first row of a region and the first one after it."""
        return int(self._starts[region]), int(self._starts[region + 1])

    def is_pair(self, region: int) -> bool:
        """Tell whether both sides have rows of a region."""
        return bool(self._base.rows[region] and self._head.rows[region])

    def totals(self) -> Totals:
        """Return the sums over all case × targets that could be judged."""
        old, new = self._base, self._head
        pairs = old.is_judged & new.is_judged
        only_old, only_new = old.is_judged & (new.rows == 0), new.is_judged & (old.rows == 0)
        return Totals(
            int(pairs.sum()), old.total(pairs), new.total(pairs),
            int(only_old.sum()), old.total(only_old), int(only_new.sum()), new.total(only_new),
        )  # fmt: skip


class _Counts:
    """How many rows of each region one side has, and how many of them pass."""

    def __init__(self, rows: pa.Table, numbers: pa.Array, starts: np.ndarray[Any, Any]) -> None:
        status = rows.column("status").cast(pa.string()).take(numbers)
        self.rows = _sums(pc.is_valid(numbers), starts)
        self.passed = _sums(pc.equal(status, scalar(pa.string(), "pass")), starts)
        failed = _sums(pc.equal(status, scalar(pa.string(), "fail")), starts)
        self.is_judged = (self.rows > 0) & (self.passed + failed == self.rows)

    def total(self, chosen: np.ndarray[Any, Any]) -> Fraction:
        """Return the exact sum of the pass fractions of some regions."""
        import numpy as np

        rows, passed = self.rows[chosen], self.passed[chosen]
        return sum((Fraction(int(passed[rows == count].sum()), int(count)) for count in np.unique(rows)), Fraction(0))


def _sums(flags: Any, starts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    import numpy as np

    values = pc.fill_null(flags, scalar(pa.bool_(), False))
    counts = _flags(values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values).astype(np.int64)
    return np.add.reduceat(counts, starts[:-1]) if len(counts) else counts


def _flags(values: pa.Array) -> np.ndarray[Any, Any]:
    """Return truth values without a gap as numbers. By their buffer, for ``to_numpy`` imports pandas."""
    import numpy as np

    if not len(values):
        return np.zeros(0, dtype=np.uint8)
    numbers = values.cast(pa.uint8())
    return np.frombuffer(numbers.buffers()[1], dtype=np.uint8, count=len(numbers), offset=numbers.offset)
