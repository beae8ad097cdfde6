"""The cases of a diff whose outcome moved, each told in one line: its verdict, its clocks, and what moved, the most telling part first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from diff.classify import outcome_differs
from diff.compare import Comparison
from diff.deed import Kind, deed
from diff.edits import Edit, Names, clocks_of, edits, is_silent, rows_of, signed
from diff.row import DiffRow
from diff.tallies import passing
from snapshots.console import json_text, neutral, shorten
from snapshots.pointer import differing, look_up

# Names of moves that say more than the clocks do.
_TOLD = frozenset(
    {
        "added", "removed", "renamed", "missing_snapshot", "judge_answer_moved_on_frozen_request", "runtime_moved",
        "impure_grader",
    }
)  # fmt: skip
_SETS = ("expected", "allowed_tools", "graders")
_FIRST = {"newly_failing": 0, "newly_passing": 1, "incomparable": 2}
_TURNED = {"newly_failing": ("pass", "fail"), "newly_passing": ("fail", "pass")}
_MOST = 3
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class MovedCase:
    """A case × target with its moved rows, by trial."""

    case_id: str
    target: str
    rows: list[DiffRow]

    @property
    def change(self) -> str:
        """Return the change of the case verdict."""
        return self.rows[0].verdict_change

    @property
    def clocks(self) -> list[str]:
        """Return the clocks that moved in any trial."""
        return clocks_of(self.rows)


def telling(trials: Sequence[DiffRow]) -> DiffRow:
    """Return the trial that explains a case: one that turned as the verdict did, else one whose outcome or anything moved."""
    turned = _TURNED.get(trials[0].verdict_change)
    for tells in (
        lambda row: turned is not None and statuses(row) == turned,
        lambda row: row.base is not None and row.head is not None and outcome_differs(row.base, row.head),
        lambda row: row.move != "none",
        lambda row: bool(row.clocks),
    ):
        found = next(filter(tells, trials), None)
        if found is not None:
            return found
    return trials[0]


def statuses(row: DiffRow) -> tuple[str | None, str | None]:
    """Return the statuses of both sides, ``None`` where one has no such row."""
    base, head = (None if side is None else str(side["status"]) for side in (row.base, row.head))
    return base, head


def moved_cases(comparison: Comparison) -> list[MovedCase]:
    """Return the cases whose outcome moved: changes of the verdict first, each kind in suite order where it is known."""
    order = {key: i for i, key in enumerate(comparison.head.order)}
    cases = [MovedCase(*key, rows) for key, rows in rows_of(comparison).items()]

    def rank(one: MovedCase) -> tuple[Any, ...]:
        place = order.get((one.case_id, one.target), len(order))
        return _FIRST.get(one.change, 3), place, one.case_id, one.target

    return sorted((one for one in cases if not _is_silent(comparison, one)), key=rank)


def _is_silent(comparison: Comparison, one: MovedCase) -> bool:
    """Tell whether nothing that people look for has moved: no verdict, status or finding, no case came or went."""
    told = one.change in _FIRST or any(row.move in _TOLD for row in one.rows)
    return not told and is_silent(comparison, one.rows)


class Teller:
    """Says of a case what moved. ``found`` are the comparison's edits, where they are at hand already."""

    def __init__(self, comparison: Comparison, found: list[Edit] | None = None) -> None:
        self._comparison = comparison
        self._names = Names(comparison)
        known = Counter(edit.clock for edit in found or edits(comparison) if edit.silent < edit.cases)
        self._named = {clock for clock, count in known.items() if count > 1}  # a single edit is no news in each case
        self._numbers = {(r.case_id, r.target): n for n, r in reversed(comparison.rows.items())}

    def told(self, one: MovedCase) -> str:
        """Return what moved in a case, in one neutral line."""
        return neutral("; ".join(dict.fromkeys(part for part in self._parts(one) if part)))

    def _parts(self, one: MovedCase) -> Iterator[str]:
        yield from _moves(one)
        yield self._shares(one)
        yield self._trials(one)
        yield from _codes(one.rows)
        for clock in one.clocks:
            if clock == "expectation":
                yield _expectation(next(row for row in one.rows if clock in row.clocks))
            elif clock in self._named and clock != "model":  # what a model answers is told by its findings
                yield " and ".join(self._names.of(one.rows, clock))
        yield from _evidence(one)

    def _trials(self, one: MovedCase) -> str:
        """Return how many trials pass on both sides, where there are several."""
        counts = self._comparison.tallies
        number = self._numbers.get((one.case_id, one.target))
        found = None if counts is None or number is None else passing(counts, number)
        if found is None or max(found[0][1], found[1][1]) < 2:
            return ""
        (before, of), (after, now) = found
        return f"{before}/{of} → {after}/{now} trials pass"

    def _shares(self, one: MovedCase) -> str:
        """Return what each clock did where several moved, in words where words are exact."""
        made = self._comparison.attributed
        known = None if made is None else made.cases.get((one.case_id, one.target))
        if known is None or len(known.shares or one.clocks) < 2:
            return ""
        if known.shares is None:
            return f"cause undetermined: {known.reason}"
        found = deed(known)
        names = found.names
        if found.kind is Kind.ALONE:
            return f"through {names[0]} alone"
        if found.kind is Kind.TOGETHER:
            return f"through {' and '.join(names)} only together"
        if found.kind is Kind.EACH:
            return f"through {' or '.join(names)}, each alone is enough"
        if found.kind is Kind.ALL:
            return f"through {' and '.join(names)}, all of them to be undone"
        told = ", ".join(f"{clock} {signed(share)}" for clock, share in known.shares.items() if share)
        return f"shares: {told}" if told else ""


def _moves(one: MovedCase) -> Iterator[str]:
    """Yield what the clocks do not tell: a case that came or went, a side without a verdict."""
    for row in one.rows:
        if row.move == "renamed" and row.base is not None:
            yield f"renamed, was {row.base['case_id']}"
        elif row.move in ("added", "removed"):
            yield row.move if row.reason == row.move else f"trials {row.move}"
        elif row.move in _TOLD and row.move != "missing_snapshot":  # the statuses say which side misses it
            yield row.move.replace("_", " ")
        for side, found in (("base", row.base), ("head", row.head)):
            if found is not None and found["status"] not in ("pass", "fail"):
                yield f"{side}: {found['status']}" + (f" {found['error']}" if found["status"] == "grader_error" else "")


def _codes(rows: list[DiffRow]) -> Iterator[str]:
    """Yield the finding codes that appeared (+) or vanished (-), with how many trials each, and the expected ones likewise."""
    judged = [(r.base, r.head) for r in rows if r.is_judged and r.base is not None and r.head is not None]
    found: Counter[str] = Counter()
    for old, new in judged:
        found.update(f"+{code}" for code in set(new["findings"]) - set(old["findings"]))
        found.update(f"-{code}" for code in set(old["findings"]) - set(new["findings"]))
    if found:
        several = len({row.trial for row in rows}) > 1
        wanted = {code for _, new in judged for code in new["expected"]}
        yield f"findings {', '.join(_code(code, n if several else 0, wanted) for code, n in sorted(found.items()))}"


def _code(code: str, trials: int, wanted: set[str]) -> str:
    marks = [
        *(["expected"] if code[1:] in wanted else []),
        *([f"{trials} trial{'' if trials == 1 else 's'}"] if trials else []),
    ]
    return f"{code} ({', '.join(marks)})" if marks else code


def _expectation(row: DiffRow) -> str:
    """Return what of a case's grading side is another one: names that came and went, values before and after."""
    old, new = ((side or {}).get("expectation") or {} for side in (row.base, row.head))
    told: list[str] = []
    for name in _SETS:
        before, after = set(old.get(name) or ()), set(new.get(name) or ())
        if before != after:
            moved = [f"+{one}" for one in sorted(after - before)] + [f"-{one}" for one in sorted(before - after)]
            told.append(f"{name} {' '.join(moved)}")
    rest_old, rest_new = ({n: v for n, v in side.items() if n not in _SETS} for side in (old, new))
    told += [_value(pointer, rest_old, rest_new) for pointer in differing(rest_old, rest_new)]
    return ", ".join(told[:_MOST]) + (f" and {len(told) - _MOST} more" if len(told) > _MOST else "")


def _value(pointer: str, old: Any, new: Any) -> str:
    (was, before), (is_, after) = look_up(old, pointer), look_up(new, pointer)
    name = pointer.removeprefix("/")
    if not was or not is_:
        return f"{'+' if is_ else '-'}{name} {_short(after if is_ else before)}"
    return f"{name} {_short(before)} → {_short(after)}"


def _short(value: Any) -> str:
    return shorten(neutral(value if isinstance(value, str) else json_text(value)), _LONGEST)


def _evidence(one: MovedCase) -> Iterator[str]:
    """Yield what else is known of a case; what the edits and the trials tell is left out."""
    for row in one.rows:
        for name, value in row.evidence.items():
            if name in ("request", "model", "observation", "judges"):
                yield f"{name}: {', '.join(map(str, value)) if isinstance(value, list) else value}"
