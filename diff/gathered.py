"""The rows of a comparison gathered by case × target: a report has one entry for each, whatever its trials."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from diff.classify import CLOCKS
from diff.compare import Comparison
from diff.moved_cases import MovedCase, telling
from diff.row import DiffRow
from diff.table import as_rows

FIRST = {"newly_failing": 0, "newly_passing": 1, "incomparable": 2}


@dataclass(frozen=True, slots=True)
class Gathered:
    """A case × target with its rows, one for each trial, those that did not move included."""

    case_id: str
    target: str
    rows: list[DiffRow]

    @property
    def told(self) -> DiffRow:
        """Return the row that tells what happened: one that flipped as the case did, else the first that moved at all."""
        return telling(self.rows)

    @property
    def moved(self) -> MovedCase:
        """Return the same case as reports of moved ones tell it."""
        return MovedCase(self.case_id, self.target, self.rows)

    @property
    def change(self) -> str:
        """Return the change of the case verdict, which all rows tell alike."""
        return self.rows[0].verdict_change

    @property
    def clocks(self) -> list[str]:
        """Return the clocks that moved in any trial, in their order."""
        moved = {clock for row in self.rows for clock in row.clocks}
        return [clock for clock in CLOCKS if clock in moved]

    @property
    def known(self) -> str | None:
        """Return the known mark of the head side: such a case is never a regression."""
        head = self.rows[0].head
        return None if head is None else (head["expectation"] or {}).get("known")

    @property
    def has_moved(self) -> bool:
        """Tell whether a row moved or the verdict changed; silent clocks do not count."""
        return self.change in FIRST or any(row.move != "none" for row in self.rows)

    @property
    def passed(self) -> bool | None:
        """Return the case verdict of the head side, ``None`` where there is none."""
        return next((row.head["case_passed"] for row in self.rows if row.head is not None), None)


def gathered(comparison: Comparison) -> Iterator[Gathered]:
    """Yield every case × target in the order of the key."""
    rows: list[DiffRow] = []
    for row in _rows(comparison):
        if rows and (rows[0].case_id, rows[0].target) != (row.case_id, row.target):
            yield Gathered(rows[0].case_id, rows[0].target, rows)
            rows = []
        rows.append(row)
    if rows:
        yield Gathered(rows[0].case_id, rows[0].target, rows)


def ordered(comparison: Comparison) -> list[Gathered]:
    """Return every case × target: changes of the verdict first, then what moved, then the rest; each in suite order if it is known."""
    order = {key: i for i, key in enumerate(comparison.head.order)}

    def rank(one: Gathered) -> tuple[object, ...]:
        place = order.get((one.case_id, one.target), len(order))
        return FIRST.get(one.change, 3), not one.has_moved, not one.clocks, place, one.case_id, one.target

    return sorted(gathered(comparison), key=rank)


def _rows(comparison: Comparison) -> Iterator[DiffRow]:
    for number, plain in enumerate(as_rows(comparison)):
        row = comparison.rows.get(number)
        if row is None:
            key = {name: plain[name] for name in ("case_id", "target", "trial")}
            base, head = ({**key, **plain[side]} if plain[side] else None for side in ("base", "head"))
            told = {name: plain[name] for name in ("verdict_change", "reason")}
            row = DiffRow(**key, move="none", clocks=[], request_changes=[], evidence={}, base=base, head=head, **told)
        yield row
