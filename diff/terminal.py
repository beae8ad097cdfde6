"""The terminal screen of a diff: the sentence first, then the edits, then the cases whose outcome moved, then what it adds up to."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from diff.compare import Comparison
from diff.drift import LEVEL, drift, drift_sentence
from diff.edits import Edit, edits
from diff.moved_cases import MovedCase, Teller, moved_cases
from diff.remedy import remedy
from diff.report import (
    EXACT,
    asked_again,
    interval,
    reported_sentence,
    sentence,
    share_sentence,
    test_of,
    test_sentence,
    together_lines,
    unjudged_sentence,
)
from diff.statistics import wilson
from snapshots.console import Console, neutral, shorten, table
from snapshots.console import width as cells_of

SHOWN = 40
EDITS = 10
_WIDEST = 120
_NARROWEST = 30


def lines(comparison: Comparison, console: Console, width: int | None = None) -> list[str]:
    """Return the lines of the screen.

    Args:
        comparison: attributed and measured.
        console: says whether there are colours.
        width: cells of a line; as long as the longest needs, up to a limit, if not given.
    """
    worse = bool(comparison.regressions)
    style = "red" if worse else "yellow" if comparison.head_unjudged else "green"
    found = edits(comparison)
    told = (share_sentence(comparison), remedy(comparison) or "", *_drift(comparison, known=True))
    return [
        console.paint(neutral(sentence(comparison)), style),
        *(neutral(line) for line in told if line),
        f"base: {neutral(comparison.base.name)}   head: {neutral(comparison.head.name)}   {_size(comparison)}",
        *(f"note: {neutral(note)}" for note in [*comparison.base.notes, *comparison.head.notes]),
        *_edits(found, width),
        *_cases(comparison, found, width),
        "",
        *_totals(comparison),
    ]


def _drift(comparison: Comparison, *, known: bool) -> list[str]:
    """Return what is said of the model, if that is (not) known to be drift or none."""
    found = drift(comparison) if comparison.clocks["model"] else None
    if found is None or (found.smallest_p is not None and found.smallest_p <= LEVEL) != known:
        return []
    return [f"{drift_sentence(found)}{'.' if known else ''}"]


def _size(comparison: Comparison) -> str:
    count = len(comparison)
    return f"{count} row{'' if count == 1 else 's'}"


def _edits(found: list[Edit], width: int | None) -> list[str]:
    if not found:
        return []
    head = ("clock", "cases", "no effect", "share", "edit")
    rows = [_edit(edit) for edit in found[:EDITS]]
    more = len(found) - len(rows)
    rest = [f"… and {more} more edit{'' if more == 1 else 's'} (--format json)"] if more else []
    return ["", *_fitted(head, rows, width, right=(1, 2, 3)), *rest]


def _edit(edit: Edit) -> tuple[str, ...]:
    silent = "all" if edit.silent == edit.cases else str(edit.silent)
    return edit.clock, str(edit.cases), silent, edit.share_words(), neutral(edit.name)


def _cases(comparison: Comparison, found: list[Edit], width: int | None) -> list[str]:
    cases = moved_cases(comparison)
    if not cases:
        return []
    teller = Teller(comparison, found)
    rows = [_case(one, teller) for one in cases[:SHOWN]]
    left = cases[SHOWN:]
    failing = sum(one.change == "newly_failing" for one in left)
    told = f", {failing} of them newly failing" if failing else ""
    rest = [f"… and {len(left)} more cases{told} (--format json, or --out FILE.parquet)"] if left else []
    return ["", *_fitted(("case", "verdict", "clocks", "what moved"), rows, width), *rest, *_why(comparison, cases[0])]


def _why(comparison: Comparison, one: MovedCase) -> list[str]:
    """Return the command that shows what exactly was changed; it compares with the working tree."""
    if comparison.head.loaded is None or comparison.head.ref.startswith("git:"):
        return []
    if neutral(one.case_id) != one.case_id:
        return []  # its name cannot be typed
    ends = ["--"] if one.case_id.startswith("-") else []
    return [f"what exactly changed: {shlex.join(['whichclock', 'why', *ends, one.case_id, comparison.base.ref])}"]


def _case(one: MovedCase, teller: Teller) -> tuple[str, ...]:
    name = f"{shorten(neutral(one.case_id), 48)} [{neutral(one.target)}]"
    return name, one.change.replace("_", " "), "+".join(one.clocks) or "-", teller.told(one)


def _fitted(
    head: tuple[str, ...], rows: list[tuple[str, ...]], width: int | None, *, right: tuple[int, ...] = ()
) -> list[str]:
    """Return a table whose last column takes the cells that the others leave it."""
    taken = sum(max(cells_of(row[i]) for row in (head, *rows)) + 2 for i in range(len(head) - 1))
    room = _WIDEST if width is None else max(_NARROWEST, width - taken)
    return table(head, [(*row[:-1], shorten(row[-1], room)) for row in rows], right=right)


def _totals(comparison: Comparison) -> Iterator[str]:
    base, head = wilson(*comparison.base_passed), wilson(*comparison.head_passed)
    changes = ", ".join(f"{n} {v}".replace("_", " ") for v, n in comparison.verdict_changes.items() if n)
    again = asked_again(comparison)
    yield f"cases passing: {interval(base)} → {interval(head)}"
    removed = f"; {comparison.removed_cases} removed" if comparison.removed_cases else ""
    yield f"verdicts: {changes or 'none'}{removed}"
    yield (test_sentence(test_of(comparison)) if again else EXACT)
    yield from _drift(comparison, known=False)
    if comparison.measures is not None:
        yield from map(neutral, comparison.measures.lines(asked_again=again))
    if reported := reported_sentence(comparison):
        yield neutral(reported)
    yield from together_lines(comparison)
    if comparison.stale_known:
        names = ", ".join(map(neutral, comparison.stale_known[:10]))
        yield f"stale: known: flaky, but all trials agree in both runs: {names}"
    if comparison.head_unjudged:
        yield unjudged_sentence(comparison)
