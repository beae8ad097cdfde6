"""Markdown: what models and authors wrote stays text."""

from __future__ import annotations

import pytest

from diff.markdown import MOST_BYTES, escape, markdown, marker
from tests.diff.sides import compared, row


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert\\(1\\)&lt;/script&gt;"),
        ("[x](javascript:alert(1))", "\\[x\\]\\(javascript&#58;alert\\(1\\)\\)"),
        ("a | b", "a \\| b"),
        ("line\nbreak", "line\\\\nbreak"),
        ("@everyone", "&#64;everyone"),
        ("#1", "&#35;1"),
        ("`code`", "\\`code\\`"),
        ("\x1b[31m\u202e", "\\\\x1b\\[31m\\\\u202e"),
        ("![i](https://example.com/x.png)", "\\!\\[i\\]\\(https&#58;//example.com/x.png\\)"),
    ],
)
def test_every_character_with_a_meaning_is_escaped(text: str, shown: str) -> None:
    """No tag, link, image, mention, table cell or control character of theirs is obeyed."""
    assert shown == escape(text)


def test_a_report_fits_into_a_comment_whatever_stands_in_it() -> None:
    """Forty rows of ids and findings that are escaped to many times their length would need more than GitHub takes."""
    ids = [f"{i:02} " + "@" * 200 for i in range(40)]
    found = " ".join(f"{'x' * 30}_{i}" for i in range(9))
    targets = "<" * 300
    base = [row(i, target=targets) for i in ids]
    made = markdown(compared(base, [row(i, target=targets, answer="2", found=found) for i in ids]))
    shown = sum(line.startswith("| ") for line in made.splitlines()) - 5  # two heads, one edit

    assert len(made.encode()) <= MOST_BYTES
    assert 0 < shown < 40
    assert f"… and {40 - shown} more case" in made
    assert made.endswith("\n<!-- whichclock diff support -->")


def test_the_marker_of_a_suite_cannot_be_ended_by_its_name() -> None:
    """Two dashes and a bracket end a comment of HTML."""
    assert "<!-- whichclock diff a-b-c.d -->" == marker("a-->b --!> c.d".replace(" --!> ", "--!>"))
