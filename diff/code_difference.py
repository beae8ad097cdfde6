"""In which lines the code of two source bundles differs: comments and docstrings leave no trace in a digest, and so none here."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

Bundle = Mapping[str, Any]
_NO_CODE = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)
_BEFORE_DOCSTRING = frozenset({tokenize.INDENT, None})


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that counts: where it stands, how it reads, and what of it is compared."""

    number: int
    text: str
    code: str


def code_difference(old: Bundle | None, new: Bundle | None, *, context: int) -> list[str]:
    """Return the lines in which two source bundles differ, as a unified diff of each file; none where one is not at hand.

    Comments, docstrings and empty lines are left out. If nothing else differs, or a file is no Python, its plain text is compared: the
    digest has moved all the same, and something must show why. What is shown is the author's text, not yet neutral.
    """
    if old is None or new is None:
        return []
    for read in (_code, _plain):
        found = [
            line for name in sorted({*old["files"], *new["files"]}) for line in _file(name, old, new, context, read)
        ]
        if found:
            return found
    return []


def _file(name: str, old: Bundle, new: Bundle, context: int, read: Any) -> Iterator[str]:
    before, after = old["files"].get(name, ""), new["files"].get(name, "")
    if not isinstance(before, str) or not isinstance(after, str):
        if before != after:
            yield from (f"--- {name}", f"+++ {name}", "other bytes")
        return
    lines = read(name, before), read(name, after)
    if None in lines:  # both by one rule, or all of a file that does not tokenize would seem new
        lines = _plain(name, before), _plain(name, after)
    hunks = list(_hunks(*lines, context))
    if hunks:
        yield from (f"--- {name}", f"+++ {name}", *hunks)


def _hunks(old: list[_Line], new: list[_Line], context: int) -> Iterator[str]:
    matcher = SequenceMatcher(None, [line.code for line in old], [line.code for line in new])
    for group in matcher.get_grouped_opcodes(context):
        (_, i1, _, j1, _), (_, _, i2, _, j2) = group[0], group[-1]
        yield f"@@ -{_span(old, i1, i2)} +{_span(new, j1, j2)} @@"
        for kind, start, end, new_start, new_end in group:
            if kind == "equal":
                yield from (f" {line.text}" for line in new[new_start:new_end])
            else:
                yield from (f"-{line.text}" for line in old[start:end])
                yield from (f"+{line.text}" for line in new[new_start:new_end])


def _span(lines: list[_Line], start: int, end: int) -> str:
    """Return where a part of a file stands in it, from its first line to its last, with what is left out between them."""
    if start == end:
        return f"{lines[start - 1].number if start else 0},0"
    first, last = lines[start].number, lines[end - 1].number
    return str(first) if first == last else f"{first},{last - first + 1}"


def _plain(_name: str, text: str) -> list[_Line]:
    return [_Line(number, line, line) for number, line in enumerate(_lines(text), 1)]


def _code(name: str, text: str) -> list[_Line] | None:
    """Return the lines that hold code, each without its comment; ``None`` where a Python file does not tokenize."""
    if not name.endswith(".py"):
        return _plain(name, text)
    lines = _lines(text)
    try:
        held = _held("\n".join(lines))
    except (tokenize.TokenError, SyntaxError):
        return None
    return [_Line(n, line, line[: held[n]].rstrip()) for n, line in enumerate(lines, 1) if n in held]


def _lines(text: str) -> list[str]:
    """Return the lines that Python sees: other characters that end a line elsewhere may stand in its texts."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def _held(text: str) -> dict[int, int | None]:
    """Return the numbers of the lines that hold code, and where a comment begins in each."""
    found: dict[int, int | None] = {}
    comments: dict[int, int] = {}
    tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="\n").readline))
    before: int | None = None
    for i, token in enumerate(tokens):
        is_docstring = token.type == tokenize.STRING and before in _BEFORE_DOCSTRING and _ends(tokens, i)
        if token.type == tokenize.COMMENT:
            comments[token.start[0]] = token.start[1]
        elif token.type not in _NO_CODE and not is_docstring:
            found.update(dict.fromkeys(range(token.start[0], token.end[0] + 1)))
        before = before if token.type in (tokenize.COMMENT, tokenize.NL) else token.type
    return {n: comments.get(n) for n in found}


def _ends(tokens: list[tokenize.TokenInfo], i: int) -> bool:
    """Tell whether the statement ends after a token."""
    return next((t.type == tokenize.NEWLINE for t in tokens[i + 1 :] if t.type != tokenize.COMMENT), False)
