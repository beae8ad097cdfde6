"""Compare two sides: pair the rows, classify those that differ, and add up what a diff says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from diff.answers import program_rule, programs_moved, same_answer
from diff.classify import CLOCKS, MOVES, Classified, Facts, classify, differing_codes, is_unreadable
from diff.confirm import old_code_agrees
from diff.pairs import Pairs, pair
from diff.renames import renames
from diff.request_changes import request_changes
from diff.row import DiffRow
from diff.side import Side
from diff.trials import mark_sampling, stale_flaky
from diff.verdicts import LoneVerdicts, lone_verdicts
from grade import table
from grade.arrow import pc
from grade.columns import column, scalar

if TYPE_CHECKING:
    from diff.cases import Attributed
    from diff.measures import Measures
    from diff.tallies import Tallies

VERDICTS = ("newly_failing", "newly_passing", "still_failing", "still_passing", "incomparable")
Row = dict[str, Any]


@dataclass(slots=True)
class Comparison:
    """A diff: the pairs, the rows that moved in any way by their number, and the counts.

    ``attributed`` is there once ``diff.cases.attribute_rows`` has graded again what several clocks touched, ``measures`` and ``tallies``
    once ``diff.measures.measure`` has measured it.
    """

    base: Side
    head: Side
    pairs: Pairs
    rows: dict[int, DiffRow]
    plain_verdicts: pa.Array
    moves: dict[str, int] = field(default_factory=dict[str, int])
    clocks: dict[str, int] = field(default_factory=dict[str, int])
    verdict_changes: dict[str, int] = field(default_factory=dict[str, int])
    verdicts: dict[tuple[str, str], tuple[str, bool]] = field(default_factory=dict[tuple[str, str], tuple[str, bool]])
    removed_cases: int = 0
    base_passed: tuple[int, int] = (0, 0)
    head_passed: tuple[int, int] = (0, 0)
    head_unjudged: int = 0
    stale_known: list[str] = field(default_factory=list[str])
    only_common: bool = False
    attributed: Attributed | None = None
    measures: Measures | None = None
    tallies: Tallies | None = None

    def __len__(self) -> int:
        return len(self.pairs.base)

    @property
    def regressions(self) -> list[tuple[str, str]]:
        """Return the case × targets that newly fail and are not marked known, sorted."""
        return sorted(key for key, (change, known) in self.verdicts.items() if change == "newly_failing" and not known)


def compare(base: Side, head: Side) -> Comparison:
    """Compare two sides of one suite.

    Raises:
        RefError: a table holds a key twice.
    """
    only_common = base.selected or head.selected
    pairs = pair(base.rows, head.rows, only_common=only_common)
    comparison = Comparison(base, head, pairs, {}, _plain_verdicts(head.rows, pairs), only_common=only_common)
    numbers, olds, news = _moved_rows(base, head, pairs)
    facts = _facts(base, head, olds, news)
    lone = lone_verdicts(base.rows, head.rows, olds, news)
    renamed = renames(*lone.without_namesake(olds, news))
    gone = {
        (o["case_id"], o["target"], o["trial"]): (n, o) for n, o in zip(numbers, olds, strict=True) if o is not None
    }
    taken = set(renamed.values())
    beside: dict[int, int] = {}
    for number, old, new, known in zip(numbers, olds, news, facts, strict=True):
        if new is None and old is not None and (old["case_id"], old["target"]) in taken:
            continue  # this old row stands beside its new name
        key = (new["case_id"], new["target"]) if old is None and new is not None else None
        if key in renamed and new is not None:
            beside[number], old = gone[(*renamed[key], new["trial"])]
        comparison.rows[number] = _row(old, new, known, base, head, lone, renamed=number in beside)
    comparison.pairs = _with_renamed(comparison, beside)
    mark_sampling(comparison.base.rows, comparison.rows.values())
    comparison.stale_known = stale_flaky(base.rows, head.rows)
    _count(comparison)
    return comparison


def _moved_rows(base: Side, head: Side, pairs: Pairs) -> tuple[list[int], list[Row | None], list[Row | None]]:
    numbers = pc.indices_nonzero(pairs.moved)
    olds = _rows(base.rows, pairs.base.take(numbers))
    news = _rows(head.rows, pairs.head.take(numbers))
    return numbers.to_pylist(), olds, news


def _rows(rows: pa.Table, numbers: pa.Array) -> list[Row | None]:
    wanted = numbers.to_pylist()
    found = iter(table.as_rows(rows.take(numbers.drop_null())))
    return [None if n is None else next(found) for n in wanted]


def _facts(base: Side, head: Side, olds: list[Row | None], news: list[Row | None]) -> list[Facts | None]:
    runtime_moved = dict(base.runtime) != dict(head.runtime)
    facts: list[Facts | None] = []
    accused: dict[int, tuple[Row, Row]] = {}
    for i, (old, new) in enumerate(zip(olds, news, strict=True)):
        if old is None or new is None:
            facts.append(None)
            continue
        comparable = old["request_hash"] == new["request_hash"] and not is_unreadable(old) and not is_unreadable(new)
        same = same_answer(old, new, base, head) if comparable else None
        program = programs_moved(old, new, base, head) if same is False and new["answer_rule"] == program_rule else []
        facts.append(Facts(same, runtime_moved, programs=program))
        code_moved = (
            old["grader_digest"] != new["grader_digest"] or old["expectation_digest"] != new["expectation_digest"]
        )
        if same and code_moved and differing_codes(old, new):
            accused[i] = old, new
    agrees = old_code_agrees(list(accused.values()), base, head)
    for i, agree in zip(accused, agrees, strict=True):
        facts[i] = Facts(True, runtime_moved, agree)
    return facts


def _row(
    old: Row | None, new: Row | None, facts: Facts | None, base: Side, head: Side, lone: LoneVerdicts, *, renamed: bool
) -> DiffRow:
    either = new or old
    if either is None:
        raise ValueError("a row of neither side")
    changes: list[dict[str, str]] = []
    if old is not None and new is not None:
        if facts is None:
            facts = Facts(old["answer_hash"] == new["answer_hash"])
        found = classify(old, new, facts, renamed=renamed)
        if "request" in found.clocks:
            before, after = base.document(old["request_hash"]), head.document(new["request_hash"])
            if before is None or after is None:
                found.evidence["request"] = (
                    "a request document is not at hand: it was never recorded or its file is gone"
                )
            else:
                changes = request_changes(before, after)
    else:
        found = Classified("removed" if new is None else "added")
    change, reason = lone.change(old, new)
    return DiffRow(
        either["case_id"],
        either["target"],
        either["trial"],
        found.move,
        found.clocks,
        changes,
        change,
        reason,
        found.evidence,
        old,
        new,
    )


def _plain_verdicts(head: pa.Table, pairs: Pairs) -> pa.Array:
    """Return the verdict change of rows that did not move: still passing, still failing, or incomparable."""
    passed = head.column("case_passed").take(pairs.head)
    passed = passed.combine_chunks() if isinstance(passed, pa.ChunkedArray) else passed
    passing, failing, neither = (scalar(pa.string(), v) for v in ("still_passing", "still_failing", "incomparable"))
    return pc.coalesce(pc.if_else(passed, passing, failing), neither)


def _with_renamed(comparison: Comparison, renamed: dict[int, int]) -> Pairs:
    """Return the pairs with each renamed row beside its old one, which then has no row of its own.

    Args:
        comparison: its ``rows`` and ``plain_verdicts`` are renumbered.
        renamed: number of a new row → number of its old one.
    """
    pairs = comparison.pairs
    if not renamed:
        return pairs
    base = pairs.base.to_pylist()
    for new, old in renamed.items():
        base[new] = base[old]
    dropped = set(renamed.values())
    kept = [n for n in range(len(base)) if n not in dropped]
    comparison.rows = {i: comparison.rows[n] for i, n in enumerate(kept) if n in comparison.rows}
    chosen = column(pa.int64(), kept)
    comparison.plain_verdicts = comparison.plain_verdicts.take(chosen)
    return Pairs(column(pa.int64(), [base[n] for n in kept]), pairs.head.take(chosen), pairs.moved.take(chosen))


def _count(comparison: Comparison) -> None:
    rows = comparison.rows
    moves = Counter(row.move for row in rows.values())
    moves["none"] += len(comparison) - len(rows)
    comparison.moves = {m: moves[m] for m in MOVES if moves[m]}
    clocks = Counter(clock for row in rows.values() for clock in row.clocks)
    comparison.clocks = {c: clocks[c] for c in CLOCKS}
    _count_verdicts(comparison)
    comparison.base_passed = _passed(comparison.base.rows, comparison.pairs.base)
    comparison.head_passed = _passed(comparison.head.rows, comparison.pairs.head)
    status = comparison.head.rows.column("status").take(comparison.pairs.head.drop_null()).cast(pa.string())
    judged = pc.or_(*(pc.equal(status, scalar(pa.string(), judged)) for judged in ("pass", "fail")))
    comparison.head_unjudged = len(status) - (pc.sum(judged).as_py() or 0)


def _count_verdicts(comparison: Comparison) -> None:
    """Count the verdict change of each case × target once, at its first row; every trial of a case tells the same."""
    firsts = first_rows(comparison)
    plain = comparison.plain_verdicts.filter(firsts)
    changes: Counter[str] = Counter()
    for counted in pc.value_counts(plain).to_pylist():
        changes[counted["values"]] += counted["counts"]
    flags = firsts.to_pylist() if len(comparison.rows) > 1000 else None
    for number, row in comparison.rows.items():
        if not (flags[number] if flags is not None else firsts[number].as_py()):
            continue
        changes[comparison.plain_verdicts[number].as_py()] -= 1
        if row.reason == "removed":
            comparison.removed_cases += 1  # counted apart: a removed case never gates
            continue
        changes[row.verdict_change] += 1
        comparison.verdicts[row.case_id, row.target] = row.verdict_change, row.is_known
    comparison.verdict_changes = {v: changes[v] for v in VERDICTS}


def first_rows(comparison: Comparison) -> pa.Array:
    """Return which rows are the first of their case × target; rows stand in the order of the key."""
    count = len(comparison)
    if count == 0:
        return column(pa.bool_(), [])
    same: Any = None
    for name in ("case_id", "target"):
        values = _key_column(comparison, name)
        equal = pc.equal(values.slice(1), values.slice(0, count - 1))
        same = equal if same is None else pc.and_(same, equal)
    return pa.concat_arrays([column(pa.bool_(), [True]), pc.invert(same)])


def _key_column(comparison: Comparison, name: str) -> pa.Array:
    new = comparison.head.rows.column(name).take(comparison.pairs.head)
    old = comparison.base.rows.column(name).take(comparison.pairs.base)
    values = pc.coalesce(new.cast(pa.string()), old.cast(pa.string()))
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _passed(rows: pa.Table, numbers: pa.Array) -> tuple[int, int]:
    """Return (cases that pass, cases that were judged), each case × target counted once, at its plain trial."""
    chosen = rows.select(["trial", "case_passed"]).take(numbers.drop_null())
    passed = chosen.column("case_passed").filter(pc.equal(chosen.column("trial"), scalar(pa.int64(), 0))).drop_null()
    return pc.sum(passed).as_py() or 0, len(passed)
