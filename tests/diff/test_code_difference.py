"""The difference of two source bundles: what counts for a digest, and nothing of what does not."""

from __future__ import annotations

from typing import Any

import pytest

from diff.code_difference import code_difference

GRADER = '''\
"""Graders of refunds."""
import re

# what a refund is called
WORD = "refund"  # in English


def found(text):
    """Tell whether a text names a refund."""
    return WORD in text
'''


def bundle(text: str, name: str = "g.py") -> dict[str, Any]:
    return {"entry": name, "files": {name: text}}


def difference(old: str, new: str, name: str = "g.py") -> list[str]:
    """Return the difference without the names of the files."""
    lines = code_difference(bundle(old, name), bundle(new, name), context=1)

    assert [f"--- {name}", f"+++ {name}"] == lines[:2]
    return lines[2:]


def test_comments_docstrings_and_empty_lines_are_left_out() -> None:
    """Three of them changed and one line of code did: that one is shown, at its places in both files."""
    new = GRADER.replace("is called", "is named\n# in our shop").replace("in English", "as in English")
    new = new.replace("Tell whether", "Say whether").replace("in text", "in text.lower()")

    assert [
        "@@ -8,3 +9,3 @@",
        " def found(text):",
        "-    return WORD in text",
        "+    return WORD in text.lower()",
    ] == difference(GRADER, new)


def test_a_line_whose_comment_changed_is_shown_where_its_code_did_too() -> None:
    """As its author wrote it."""
    new = GRADER.replace('"refund"  # in English', '"Refund"  # in German')

    assert ['-WORD = "refund"  # in English', '+WORD = "Refund"  # in German'] == difference(GRADER, new)[2:4]


def test_what_looks_like_a_comment_within_a_text_is_code() -> None:
    """A text of several lines is compared line by line, its empty ones too."""
    old, new = ('TEXT = """\n# ' + word + '\n\n"""\n' for word in ("one", "two"))

    assert ["@@ -1,3 +1,3 @@", ' TEXT = """', "-# one", "+# two", " "] == difference(old, new)


@pytest.mark.parametrize("broken", ["x = (1\n", "  x = 1\n y = 2\n", 'x = """\n', "x = 1\0\n"])
def test_a_file_that_does_not_tokenize_is_compared_as_plain_text(broken: str) -> None:
    """Comments too: nothing can tell them from code."""
    told = difference("# one\n" + broken, "# two\n" + broken)

    assert ["-# one", "+# two"] == told[1:3]


def test_where_only_comments_differ_the_plain_text_is_better_than_nothing() -> None:
    """The digest moved all the same, and something must show why."""
    assert ["@@ -1,2 +1,2 @@", "-# one", "+# two", " x = 1"] == difference("# one\nx = 1\n", "# two\nx = 1\n")


def test_a_file_of_comments_alone_is_left_out_beside_one_whose_code_changed() -> None:
    """The bundle's digest moved by the other file."""
    old, new = ({"files": {"a.py": f"# {n}\nx = 1\n", "b.py": f"y = {n}\n"}} for n in (1, 2))

    assert ["--- b.py", "+++ b.py", "@@ -1 +1 @@", "-y = 1", "+y = 2"] == code_difference(old, new, context=1)


def test_data_that_a_grader_reads_is_compared_line_by_line() -> None:
    """A number sign starts no comment there."""
    assert ["@@ -1 +1 @@", "-# one", "+# two"] == difference("# one\n", "# two\n", "words.txt")


def test_a_file_on_one_side_only_is_all_new() -> None:
    """Its lines are counted from the first."""
    lines = code_difference({"files": {}}, bundle("x = 1\n"), context=1)

    assert ["--- g.py", "+++ g.py", "@@ -0,0 +1 @@", "+x = 1"] == lines


def test_bytes_that_are_no_text_are_said_to_differ() -> None:
    """Their letters would tell nobody anything."""
    old, new = ({"files": {"model.bin": {"base64": data}}} for data in ("AAAA", "AAAB"))

    assert ["--- model.bin", "+++ model.bin", "other bytes"] == code_difference(old, new, context=1)


def test_line_ends_are_no_difference() -> None:
    """CRLF counts as LF, as in the digest; other characters that end a line elsewhere do not end one here."""
    old, new = 'x = "a\u2028b"\r\ny = 1\r\n', 'x = "a\u2028b"\ny = 2\n'

    assert ["@@ -1,2 +1,2 @@", ' x = "a\u2028b"', "-y = 1", "+y = 2"] == difference(old, new)


def test_without_one_of_the_sources_there_is_nothing_to_show() -> None:
    """An old run without bundles."""
    assert [[], []] == [
        code_difference(None, bundle("x\n"), context=1),
        code_difference(bundle("x\n"), None, context=1),
    ]
