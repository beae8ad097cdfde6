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
    """Return the whole report."""
    cure = remedy(comparison)
    lines = [
        f"### {sentence(comparison)}",
        "",
        *([f"{escape(share_sentence(comparison))}", ""] if share_sentence(comparison) else []),
        *([f"**{escape(cure)}**", ""] if cure else []),
        f"`base` {escape(comparison.base.name)} · `head` {escape(comparison.head.name)} · {len(comparison)} rows",
        "",
        f"Cases passing: {interval(wilson(*comparison.base_passed))} → {interval(wilson(*comparison.head_passed))}.",
        f"{test_sentence(test_of(comparison))}.",
        *(f"{line[0].upper()}{line[1:]}." for line in model_lines(comparison)),
    ]
    lines += [f"\n> {escape(note)}" for note in [*comparison.base.notes, *comparison.head.notes]]
    rows = shown_rows(comparison)
    if rows:
        lines += ["", "| case | verdict | clocks | move | what moved |", "| --- | --- | --- | --- | --- |"]
        lines += [_row(row) for row in rows[:SHOWN]]
        if len(rows) > SHOWN:
            lines.append(f"\n… and {len(rows) - SHOWN} more rows.")
        lines += [
            "",
            *(f"- `{move}`: {MEANING[move]}" for move in dict.fromkeys(r.move for r in rows[:SHOWN]) if move != "none"),
        ]
    quiet = silent(comparison)
    if quiet:
        lines += [
            "",
            "Silent: "
            + ", ".join(f"{c} moved in {n} row{'s' if n != 1 else ''} and changed no finding" for c, n in quiet.items())
            + ".",
        ]
    if comparison.head_unjudged:
        lines += ["", f"**{escape(unjudged_sentence(comparison).capitalize())}.**"]
    return "\n".join(lines)


def _row(row: DiffRow) -> str:
    name = f"{escape(shorten(row.case_id, 60))} \\[{escape(row.target)}{f' &#35;{row.trial}' if row.trial else ''}\\]"
    verdict = row.verdict_change.replace("_", " ")
    return (
        f"| {name} | {verdict} | {' + '.join(row.clocks) or '–'} | `{row.move}` | {escape(shorten(detail(row), 160))} |"
    )
