"""Markdown: what models and authors wrote stays text."""

from __future__ import annotations

import pytest

from diff.markdown import escape


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
