"""The project's Markdown, taken apart: code blocks, links, and the whichclock command lines in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^(?P<indent> *)```(?P<lang>\w*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"`(?P<file>[\w./-]+)`:\n\n\Z")
_INLINE = re.compile(r"`(whichclock [^`]*)`")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<to>[^)\s]+)\)")
_STARTS = frozenset({"|", "&&", "||", ";", "!", "if", "then", "else", "do", "("})
_ENDS = frozenset({"|", "&&", "||", ";", "&", ">", ">>", "<", ")", ");"})


@dataclass(frozen=True)
class Block:
    """A fenced code block; ``file`` is the name that stands before it, as in "`whichclock.toml`:"."""

    page: str
    line: int
    lang: str
    text: str
    file: str | None

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[Path]:
    """Return every Markdown page of the project's prose."""
    top = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
    return [*top, *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(path: Path) -> list[Block]:
    """Return the code blocks of a page in order."""
    text = path.read_text("utf-8")
    found: list[Block] = []
    for match in _FENCE.finditer(text):
        named = _NAMED.search(text, 0, match.start())
        line = text.count("\n", 0, match.start()) + 1
        indent = match["indent"]
        body = "".join(part.removeprefix(indent) for part in match["text"].splitlines(keepends=True))
        found.append(
            Block(
                path.relative_to(ROOT).as_posix(), line, match["lang"], body, None if named is None else named["file"]
            )
        )
    return found


def all_blocks(*langs: str) -> list[Block]:
    """Return the code blocks of every page that are of one of these languages."""
    return [block for path in pages() for block in blocks(path) if block.lang in langs]


def is_program(block: Block) -> bool:
    """Tell whether a block of Python is a program of an exec target, and no grader."""
    return "sys.stdin" in block.text


def written_files(path: Path, folder: Path) -> None:
    """Write the files that a page gives by name into a folder."""
    for block in blocks(path):
        if block.file is not None:
            file = folder / block.file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")


def links(path: Path) -> Iterator[str]:
    """Yield the targets of the links of a page."""
    text = _FENCE.sub("", path.read_text("utf-8"))
    yield from (match["to"] for match in _LINK.finditer(text))


def inline_commands(path: Path) -> Iterator[str]:
    """Yield the inline code that begins with ``whichclock``."""
    text = _FENCE.sub("", path.read_text("utf-8"))
    yield from (match[1] for match in _INLINE.finditer(text))


def command_lines(shell: str) -> Iterator[list[str]]:
    """Yield the arguments of every ``whichclock`` call in a shell text."""
    for line in shell.replace("\\\n", " ").splitlines():
        if "whichclock" not in line:
            continue  # other programs' lines may quote over several lines
        lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
        for i, word in enumerate(words):
            if word == "whichclock" and (i == 0 or words[i - 1] in _STARTS):
                yield list(takewhile(lambda w: w not in _ENDS, words[i + 1 :]))


@dataclass(frozen=True)
class Step:
    """One command of a console block, and what the page shows that it prints."""

    command: str
    shown: str


def steps_of(block: Block) -> list[Step]:
    """Return the commands of a console block with their outputs."""
    steps: list[Step] = []
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        steps.append(Step(command, shown))
    return steps
