"""The hand-bumped numbers of our checks and readers: when the code changes, the number must."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

import pytest

from golden.digest import serialise
from grade.checks import CHECKS, EMPTY_ANSWER_NUMBER
from snapshots import dialects, openai_chat, openai_stream

ROOT = Path(__file__).parents[2]

# What each number stands for: the digest of the functions it covers. To change one of them: bump the number in the code, then record here.
CHECK_SOURCES = {
    "allowed_tools": (1, "bc77d90335894212"),
    "contains": (1, "40dc605b4fd49f91"),
    "equals": (1, "0cc47c1643b79447"),
    "finish_reason": (1, "8dbc5521665a263b"),
    "json_schema": (1, "865fc8fd4ac5e461"),
    "max_tokens": (1, "deda380cbcc219b4"),
    "not_contains": (1, "07aaf05ca2ae144c"),
    "not_tool_called": (1, "c6ccd20ff05ee5aa"),
    "regex": (1, "84307f2262f42166"),
    "tool_called": (1, "ba529c02800df470"),
}
READER_SOURCES = {
    "openai-chat": (1, "14fb0702e18d23c5"),
    "openai-chat/1": (1, "866e852089707543"),
    "openai-chat/1 streams": (1, "56c39f5421f44720"),
    "raw": (1, "6d821489a3637a05"),
    "empty_answer": (1, "1f30c6719e7b2178"),
}


def functions_of(path: Path) -> dict[str, ast.FunctionDef]:
    """Return the top-level functions of a module."""
    return {n.name: n for n in ast.parse(path.read_text()).body if isinstance(n, ast.FunctionDef)}


def source_digest(path: Path, name: str) -> str:
    """Return the digest of a function and of the module's functions that it calls, directly or not."""
    functions = functions_of(path)
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one in functions and one not in seen:
            seen.add(one)
            waiting += [n.id for n in ast.walk(functions[one]) if isinstance(n, ast.Name)]
    return hashlib.sha256("\n".join(serialise(functions[n]) for n in sorted(seen)).encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_a_check_whose_code_changed_has_another_number(name: str) -> None:
    """The number and the code move together, or every old verdict would lie about what judged it."""
    check = CHECKS[name]
    code = source_digest(ROOT / "grade" / "checks.py", check.rule.__name__)

    assert CHECK_SOURCES[name] == (check.number, code)


@pytest.mark.parametrize(
    ("reader", "function"),
    [("openai-chat", "read"), ("openai-chat/1", "answer"), ("openai-chat/1 streams", "assemble"), ("raw", "_read_raw")],
)
def test_a_reader_or_rule_whose_code_changed_has_another_number(reader: str, function: str) -> None:
    """A reader gets a new number; a published answer rule is never edited at all: a fix is a new rule."""
    module = {"raw": dialects, "openai-chat/1 streams": openai_stream}.get(reader, openai_chat)
    numbers = {"openai-chat": openai_chat.READER_NUMBER, "raw": dialects.RAW_READER_NUMBER}
    code = source_digest(Path(str(module.__file__)), function)

    assert READER_SOURCES[reader] == (numbers.get(reader, 1), code)


def test_the_rule_of_empty_answers_has_its_number() -> None:
    """The property that calls an answer empty is covered too."""
    tree = ast.parse((ROOT / "snapshots" / "reading.py").read_text())
    rules = [
        n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name in ("is_empty", "is_unexplained_empty")
    ]
    code = hashlib.sha256("\n".join(map(serialise, rules)).encode()).hexdigest()[:16]

    assert READER_SOURCES["empty_answer"] == (EMPTY_ANSWER_NUMBER, code)
