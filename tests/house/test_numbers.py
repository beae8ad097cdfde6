"""The hand-bumped numbers of our checks and readers: when the code changes, the number must."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

import pytest

from golden.digest import serialise
from grade.checks import CHECKS, EMPTY_ANSWER_NUMBER
from snapshots import dialects, generic

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
    "anthropic": (1, "35988bf1efdc6fc2"),
    "anthropic/1": (1, "052c0217c69dca5f"),
    "embeddings": (1, "da62b49c291fe337"),
    "embeddings/1": (1, "aed60200087e85d1"),
    "empty_answer": (2, "8049d4f583d6c4c1"),
    "exec": (1, "bba8404f3e178c65"),
    "exec/1": (1, "6c381e9b44f10280"),
    "gemini": (1, "79927f55e479b055"),
    "gemini/1": (1, "7e2a74b789db5505"),
    "http": (1, "4ede63f308d415ee"),
    "http/1": (1, "4438480fb2eb80f6"),
    "openai-chat": (2, "1c202877a514bd46"),
    "openai-chat/1": (1, "31f52842cf14e2f0"),
    "openai-responses": (1, "ff2a2b9d6ef8c2bf"),
    "openai-responses/1": (1, "187f5bc155f36f65"),
    "raw": (1, "3474cdc3703e4c4b"),
    "whole/1": (1, "7a14262594097bbb"),
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


def _module(name: str) -> Path:
    return ROOT / "snapshots" / f"{name}.py"


# Modules whose code is part of the rules and readers that call it; the canonical form and strict reading have vectors of their own.
PARTS = frozenset(path.stem for path in (ROOT / "snapshots").glob("*.py")) - {
    "canonical",
    "errors",
    "pointer",
    "strict_json",
}


@cache
def _names_of(name: str) -> tuple[dict[str, ast.stmt], dict[str, tuple[str, str]], dict[str, str]]:
    """Return what a module defines, what it imports out of our modules, and which of our modules it imports."""
    own: dict[str, ast.stmt] = {}
    imported: dict[str, tuple[str, str]] = {}
    modules: dict[str, str] = {}
    for node in ast.parse(_module(name).read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            own[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            own[node.targets[0].id] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            own[node.target.id] = node
        elif isinstance(node, ast.ImportFrom) and node.module == "snapshots":
            modules.update({n.asname or n.name: n.name for n in node.names if n.name in PARTS})
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("snapshots."):
            module = str(node.module).removeprefix("snapshots.")
            imported.update({n.asname or n.name: (module, n.name) for n in node.names if module in PARTS})
    return own, imported, modules


def whole_digest(module: str, name: str) -> str:
    """Return the digest of a function and of all that it is made of: functions, constants and records, in whichever of our modules."""
    seen: dict[tuple[str, str], str] = {}
    waiting = [(module, name)]
    while waiting:
        where, one = waiting.pop()
        own, imported, modules = _names_of(where)
        if one not in own or (where, one) in seen:
            continue
        seen[where, one] = serialise(own[one])
        for node in ast.walk(own[one]):
            if isinstance(node, ast.Name):
                waiting.append(imported.get(node.id, (where, node.id)))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                waiting.append((modules[node.value.id], node.attr))
    # By name and not by module: a function that moves does the same.
    texts = sorted((name, text) for (_, name), text in seen.items())
    return hashlib.sha256("\n".join(text for _, text in texts).encode()).hexdigest()[:16]


@cache
def _sources() -> dict[str, tuple[int, str]]:
    found = {
        dialects.RAW_READER: (dialects.RAW_READER_NUMBER, whole_digest("dialects", "_read_raw")),
        dialects.WHOLE: (1, whole_digest("dialects", "_whole")),
        generic.READER: (generic.READER_NUMBER, whole_digest("generic", "read")),
        generic.RULE: (1, whole_digest("generic", "answer")),
    }
    for dialect in dialects.DIALECTS.values():
        module = str(dialect.__name__).removeprefix("snapshots.")  # type: ignore[attr-defined]
        found[dialect.READER] = dialect.READER_NUMBER, whole_digest(module, "read")
        found[dialect.RULE] = 1, whole_digest(module, "answer")
    return found


@pytest.mark.parametrize("name", sorted(_sources()))
def test_a_reader_or_rule_whose_code_changed_has_another_number(name: str) -> None:
    """A reader gets a new number; a published answer rule is never edited at all: a fix is a new rule."""
    assert READER_SOURCES[name] == _sources()[name]


def test_the_rule_of_empty_answers_has_its_number() -> None:
    """The properties that call an answer empty are covered too, and the words that explain one."""
    tree = ast.parse((ROOT / "snapshots" / "reading.py").read_text("utf-8"))
    rules = [
        n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name in ("is_empty", "is_unexplained_empty")
    ]
    words = [n for n in tree.body if isinstance(n, ast.Assign)]
    code = hashlib.sha256("\n".join(map(serialise, [*rules, *words])).encode()).hexdigest()[:16]

    assert READER_SOURCES["empty_answer"] == (EMPTY_ANSWER_NUMBER, code)
