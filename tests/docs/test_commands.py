"""The docs know every command, and know no command that there is not."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

import whichclock
from snapshots.errors import ExitCode
from tests.docs.page import ROOT, all_blocks, command_lines, inline_commands, pages
from tests.docs.workflow import WORKFLOWS, load, steps

DOOR: Any = typer.main.get_command(whichclock.app)
PAGE = (ROOT / "docs" / "commands.md").read_text("utf-8")


def leaves() -> Iterator[tuple[str, Any]]:
    """Yield every command that does something, by its words: ``snapshots ls``, ``snapshots import vcr``."""
    for name in whichclock.COMMANDS:
        yield from _below(name, DOOR.get_command(None, name))


def _below(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield words, command
        return
    for inner in command.commands:
        yield from _below(f"{words} {inner}", command.commands[inner])


def find(words: list[str]) -> tuple[Any, list[str]]:
    """Return the command that words name, and the arguments after it."""
    command: Any = DOOR.get_command(None, words[0])
    rest = words[1:]
    while hasattr(command, "commands") and rest:
        command, rest = command.commands.get(rest[0]), rest[1:]
    return command, rest


def documented(words: str) -> str:
    """Return what the page says of a command: its section, or its row in its group's table."""
    group = words.split()[0]
    section = PAGE.split(f"## whichclock {group}\n", 1)[1].split("\n## ", 1)[0]
    if group == words:
        return section
    return next(line for line in section.splitlines() if line.startswith(f"| `whichclock {words}"))


LEAVES = dict(leaves())
CALLS = sorted(
    {
        (str(block), " ".join(words), tuple(words))
        for block in all_blocks("sh", "console")
        for words in command_lines(block.text)
    }
    | {
        (path.name, " ".join(words), tuple(words))
        for path in WORKFLOWS
        for step in steps(load(path))
        for words in command_lines(step.get("run", ""))
    }
)


@pytest.mark.parametrize("words", LEAVES, ids=lambda w: w)
def test_every_command_is_documented_with_all_its_options_and_choices(words: str) -> None:
    """A new option is not done before its row in docs/commands.md is."""
    shown = documented(words)
    options = [p for p in LEAVES[words].params if p.param_type_name == "option" and "--help" not in p.opts]

    missing = [max(p.opts, key=len) for p in options if f"`{max(p.opts, key=len)}" not in shown]
    choices = [
        f"{p.opts[0]} {choice.value}"
        for p in options
        for choice in (type(p.default) if isinstance(p.default, enum.Enum) else ())
        if f"`{choice.value}`" not in shown + PAGE.split("## ", 1)[0]
    ]

    assert ([], []) == (missing, choices)


@pytest.mark.parametrize("words", LEAVES, ids=lambda w: w)
def test_the_page_names_no_option_that_a_command_lacks(words: str) -> None:
    """What was taken out of a command is taken out of its row too."""
    known = {name for p in LEAVES[words].params for name in p.opts}

    assert [] == sorted(set(re.findall(r"`(--[a-z-]+)", documented(words))) - known)


@pytest.mark.parametrize(("place", "line", "words"), CALLS, ids=lambda v: v if isinstance(v, str) else "")
def test_every_command_line_in_a_code_block_is_one_that_the_tool_takes(
    place: str, line: str, words: tuple[str, ...]
) -> None:
    """Command lines are parsed by the real command, and not run."""
    command, rest = find(list(words))

    assert command is not None, place
    with command.make_context("whichclock", rest) as context:
        assert context.params


def test_commands_within_sentences_exist() -> None:
    """A command that is named in a sentence has the name and the options that the sentence gives it."""
    wrong: list[str] = []
    for path in pages():
        for text in inline_commands(path):
            command, rest = (
                find(text.split()[1:]) if text.split()[1] in whichclock.COMMANDS else (DOOR, text.split()[1:])
            )
            known = {name for p in command.params for name in p.opts} if command is not None else set()
            wrong += [
                f"{path.name}: {text}" for word in rest if word.startswith("--") and word not in known | {"--help"}
            ]
            wrong += [f"{path.name}: {text}"] if command is None else []

    assert [] == wrong


def test_every_exit_code_is_documented() -> None:
    """README and commands page list the exit codes."""
    for text in (PAGE, (ROOT / "README.md").read_text("utf-8")):
        assert [] == [code for code in ExitCode if f"\n| {code.value} |" not in text]
