"""The diff as Markdown for a pull request: what models and authors wrote stays text."""

from __future__ import annotations

import re

from diff.compare import Comparison
from diff.edits import Edit, edits
from diff.moved_cases import MovedCase, Teller, moved_cases
from diff.remedy import remedy
from diff.report import (
    EXACT,
    asked_again,
    interval,
    model_lines,
    reported_sentence,
    sentence,
    share_sentence,
    test_of,
    test_sentence,
    together_lines,
    unjudged_sentence,
)
from diff.statistics import wilson
from snapshots.console import neutral, shorten

SHOWN = 40
EDITS = 10
MOST_BYTES = 60_000  # GitHub refuses a comment of more than 65,536 characters
_NO_NAME = re.compile("[^A-Za-z0-9._]+")  # so that no name of a suite ends the comment
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~<>@$:-])")


def escape(text: str) -> str:
    """Return text that Markdown shows as it is: every character with a meaning is escaped, HTML and mentions included."""
    plain = neutral(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(_entity, plain)


def _entity(found: re.Match[str]) -> str:
    # GitHub looks for mentions and links before it looks for backslashes: those characters become entities.
    character = found[1]
    return f"&#{ord(character)};" if character in "@:<>$#" else f"\\{character}"


def markdown(comparison: Comparison) -> str:
    """Return the whole report, with as many rows as a comment on a pull request can hold."""
    moved, teller = moved_cases(comparison), Teller(comparison)
    cells = [_row(one, teller) for one in moved[:SHOWN]]
    before, after, end = _before(comparison), _after(comparison), f"\n\n{marker(comparison.head.suite)}"
    text, room = "", MOST_BYTES - len(end)
    for count in range(len(cells), -1, -1):
        text = "\n".join([*before, *_table(len(moved), cells[:count]), *after])
        if len(text.encode()) <= room:
            break
    return text.encode()[:room].decode("utf-8", "ignore") + end


def marker(suite: str) -> str:
    """Return the last line of the report, by which a job finds the comment that it wrote before."""
    return f"<!-- whichclock diff {_NO_NAME.sub('-', suite)} -->"


def _before(comparison: Comparison) -> list[str]:
    cure, shares = remedy(comparison), share_sentence(comparison)
    return [
        f"### {sentence(comparison)}",
        "",
        *([f"{escape(shares)}", ""] if shares else []),
        *([f"**{escape(cure)}**", ""] if cure else []),
        *(f"{line[0].upper()}{line[1:]}.\n" for line in model_lines(comparison)),
        f"`base` {escape(comparison.base.name)} · `head` {escape(comparison.head.name)} · {len(comparison)} rows",
        *(f"\n> {escape(note)}" for note in [*comparison.base.notes, *comparison.head.notes]),
        *_edits(edits(comparison)),
    ]


def _edits(found: list[Edit]) -> list[str]:
    if not found:
        return []
    head = ["", "| clock | cases | no effect | share | edit |", "| --- | --: | --: | --: | --- |"]
    more = len(found) - EDITS
    rest = [f"\n… and {more} more edit{'' if more == 1 else 's'}."] if more > 0 else []
    return [*head, *(_edit(edit) for edit in found[:EDITS]), *rest]


def _edit(edit: Edit) -> str:
    name = escape(shorten(neutral(edit.name), 200))
    return f"| {edit.clock} | {edit.cases} | {'all' if edit.silent == edit.cases else edit.silent} | {edit.share_words()} | {name} |"


def _table(count: int, cells: list[str]) -> list[str]:
    more = count - len(cells)
    left_out = [f"\n… and {more} more case{'' if more == 1 else 's'}."] if more else []
    if not cells:
        return left_out
    return ["", "| case | verdict | clocks | what moved |", "| --- | --- | --- | --- |", *cells, *left_out]


def _after(comparison: Comparison) -> list[str]:
    rates = f"{interval(wilson(*comparison.base_passed))} → {interval(wilson(*comparison.head_passed))}"
    lines = ["", f"Cases passing: {rates}."]
    if asked_again(comparison):
        lines += [f"{test_sentence(test_of(comparison))}."]
    else:
        lines += [f"{EXACT[0].upper()}{EXACT[1:]}."]
    if reported := reported_sentence(comparison):
        lines += ["", f"{escape(reported[0].upper() + reported[1:])}."]
    lines += [f"\n{escape(line)}." for line in together_lines(comparison)]
    if comparison.head_unjudged:
        lines += ["", f"**{escape(unjudged_sentence(comparison).capitalize())}.**"]
    return lines


def _row(one: MovedCase, teller: Teller) -> str:
    name = f"{escape(shorten(one.case_id, 60))} \\[{escape(one.target)}\\]"
    clocks = " + ".join(one.clocks) or "–"
    return f"| {name} | {one.change.replace('_', ' ')} | {clocks} | {escape(shorten(teller.told(one), 160))} |"
