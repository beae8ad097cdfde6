"""Talking to people: data to stdout, talk to stderr, colours on terminals only, and no control character from anybody's text."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

import orjson

# ESC and the other C0 controls, DEL, C1, and the characters that reorder or hide text on a line.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_UNSAFE_IN_BLOCK = re.compile(_UNSAFE.pattern.replace("\x00-\x1f", "\x00-\x09\x0b-\x1f"))
_STYLES = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "bold": "1", "dim": "2"}


def neutral(text: str) -> str:
    """Return text for one line of a terminal: controls and bidi marks are shown as escapes, nothing is interpreted."""
    return text if text.isascii() and text.isprintable() else _UNSAFE.sub(_escape, text)


def neutral_block(text: str) -> str:
    """Return text of several lines for a terminal: as ``neutral``, but line feeds stay."""
    return _UNSAFE_IN_BLOCK.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    short = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(found[0])
    return short or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def width(text: str) -> int:
    """Return how many terminal cells a neutral text takes (Unicode standard annex 11; combining marks take none)."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def shorten(text: str, limit: int) -> str:
    """Return a neutral text of at most ``limit`` cells, its end replaced by ``…`` where it is longer."""
    if width(text) <= limit:
        return text
    kept = text[: limit - 1]
    while width(kept) > limit - 1:
        kept = kept[:-1]
    return kept + "…"


class Console:
    """Where a command writes. ``color`` is ``auto``, ``always`` or ``never``; ``quiet`` drops the talk."""

    def __init__(self, color: str = "auto", *, quiet: bool = False) -> None:
        self.color = color
        self.quiet = quiet

    @property
    def width(self) -> int | None:
        """Return how many cells a line of stdout has, ``None`` where nothing says so: a file or pipe without ``COLUMNS``."""
        found = shutil.get_terminal_size((0, 0)).columns
        return found or None

    def out(self, text: str) -> None:
        """Write one line of data, already neutral, to stdout."""
        sys.stdout.write(text + "\n")

    def json(self, value: Any) -> None:
        """Write one JSON document to stdout, the same bytes for equal values, in UTF-8 whatever the locale says (RFC 8259)."""
        write_utf8(json_text(value) + "\n")

    def say(self, text: str) -> None:
        """Write one line of talk, already neutral, to stderr unless quiet."""
        if not self.quiet:
            self.complain(text)

    def complain(self, text: str) -> None:
        """Write one line, already neutral, to stderr, quiet or not. Where it cannot be written, nobody can be told so either."""
        with contextlib.suppress(OSError):
            sys.stderr.write(text + "\n")

    def warn(self, text: str) -> None:
        """Write a warning to stderr, quiet or not."""
        self.complain(f"{self.paint('warning:', 'yellow', stream=sys.stderr)} {neutral(text)}")

    def paint(self, text: str, style: str, *, stream: TextIO | None = None) -> str:
        """Return text in a style where colours are wanted on the stream (stdout if not given)."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._coloured(stream or sys.stdout) else text

    def _coloured(self, stream: TextIO) -> bool:
        if self.color != "auto":
            return self.color == "always"
        return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def write_utf8(text: str) -> None:
    """Write text for machines to stdout: UTF-8, and the line ends that it has."""
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    buffer.write(text.encode())


def json_text(value: Any) -> str:
    """Return a JSON document as text, the same for equal values; integers of any size keep their digits."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        import json

        return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> list[str]:
    """Return the lines of a plain table. Cells must be neutral; columns in ``right`` are right-aligned."""
    lines = [list(head), *(list(r) for r in rows)]
    widths = [max(width(line[i]) for line in lines) for i in range(len(head))]

    def pad(cell: str, i: int) -> str:
        space = " " * (widths[i] - width(cell))
        return space + cell if i in right else cell + space

    return ["  ".join(pad(cell, i) for i, cell in enumerate(line)).rstrip() for line in lines]
