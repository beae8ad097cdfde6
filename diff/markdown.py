"""The diff as Markdown for a pull request: what models and authors wrote stays text."""

from __future__ import annotations

import re

from diff.compare import Comparison
from diff.remedy import remedy
from diff.report import (
    MEANING,
    SHOWN,
    detail,
    interval,
    model_lines,
    sentence,
    share_sentence,
    shown_rows,
    silent,
    test_of,
    test_sentence,
    unjudged_sentence,
)
from diff.row import DiffRow
from diff.statistics import wilson
from snapshots.console import neutral, shorten

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
    rows = shown_rows(comparison)
    cells = [_row(row) for row in rows[:SHOWN]]
    before, after, end = _before(comparison), _after(comparison), f"\n\n{marker(comparison.head.suite)}"
    text, room = "", MOST_BYTES - len(end)
    for count in range(len(cells), -1, -1):
        text = "\n".join([*before, *_table(rows, cells[:count]), *after])
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
        f"`base` {escape(comparison.base.name)} · `head` {escape(comparison.head.name)} · {len(comparison)} rows",
        "",
        f"Cases passing: {interval(wilson(*comparison.base_passed))} → {interval(wilson(*comparison.head_passed))}.",
        f"{test_sentence(test_of(comparison))}.",
        *(f"{line[0].upper()}{line[1:]}." for line in model_lines(comparison)),
        *(f"\n> {escape(note)}" for note in [*comparison.base.notes, *comparison.head.notes]),
    ]


def _table(rows: list[DiffRow], cells: list[str]) -> list[str]:
    more = len(rows) - len(cells)
    left_out = [f"\n… and {more} more row{'' if more == 1 else 's'}."] if more else []
    if not cells:
        return left_out
    moves = dict.fromkeys(row.move for row in rows[: len(cells)] if row.move != "none")
    head = ["", "| case | verdict | clocks | move | what moved |", "| --- | --- | --- | --- | --- |"]
    return [*head, *cells, *left_out, "", *(f"- `{move}`: {MEANING[move]}" for move in moves)]


def _after(comparison: Comparison) -> list[str]:
    lines: list[str] = []
    quiet = silent(comparison)
    if quiet:
        told = [f"{c} moved in {n} row{'s' if n != 1 else ''} and changed no finding" for c, n in quiet.items()]
        lines += ["", f"Silent: {', '.join(told)}."]
    if comparison.head_unjudged:
        lines += ["", f"**{escape(unjudged_sentence(comparison).capitalize())}.**"]
    return lines


def _row(row: DiffRow) -> str:
    name = f"{escape(shorten(row.case_id, 60))} \\[{escape(row.target)}{f' &#35;{row.trial}' if row.trial else ''}\\]"
    verdict = row.verdict_change.replace("_", " ")
    return (
        f"| {name} | {verdict} | {' + '.join(row.clocks) or '–'} | `{row.move}` | {escape(shorten(detail(row), 160))} |"
    )
