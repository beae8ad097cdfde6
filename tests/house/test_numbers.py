"""The hand-bumped numbers of our checks and readers: when the code changes, the number must."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Collection
from functools import cache
from pathlib import Path

import pytest

from golden.asking_check import TARGETS
from golden.digest import serialise
from grade.checks import CHECKS, EMPTY_ANSWER_NUMBER
from snapshots import dialects, generic

ROOT = Path(__file__).parents[2]

# What each number stands for: the digest of the functions it covers. To change one of them: bump the number in the code, then record here.
CHECK_SOURCES = {
    "allowed_tools": (1, "764dbd52d176fa67"),
    "contains": (1, "531dcb897044db01"),
    "ends_with": (1, "4db8cd498d1a2b92"),
    "equals": (1, "33bce97ae7f7c28c"),
    "finish_reason": (1, "1d0bf2bb0b479073"),
    "is_json": (1, "1bfd94df5c7e5f3e"),
    "json_path": (1, "a17e21a650eee748"),
    "json_schema": (1, "aeb865527a080097"),
    "judge": (1, "803cdb006fcc00c6"),
    "length": (1, "5df6cd301e49dd63"),
    "max_cost_usd": (1, "41f7f7b4a99b88ee"),
    "max_input_tokens": (1, "256cd27295804f8d"),
    "max_latency_ms": (1, "aa7395ba87fda894"),
    "max_tokens": (1, "ce777f9f0d77417c"),
    "max_total_tokens": (1, "889df50aef46f799"),
    "not_contains": (1, "606eb0813c8a935a"),
    "not_regex": (1, "6eb4e9a005014cc8"),
    "not_tool_called": (1, "af6b61e6cc45799d"),
    "number": (1, "b6ab0a58d1ecbf03"),
    "program": (1, "bb376f948a67e820"),
    "refusal": (1, "d89c56cb1a9d2341"),
    "regex": (1, "615d66cc7541e561"),
    "similarity": (1, "217c2e791b10595e"),
    "starts_with": (1, "c597883aa22b26cf"),
    "tool_arguments": (1, "a2fcad37470cb1e9"),
    "tool_called": (1, "550ade7a87034dcd"),
    "tool_order": (1, "3328aa08652eb5a0"),
}
READER_SOURCES = {
    "anthropic": (1, "35988bf1efdc6fc2"),
    "anthropic/1": (1, "052c0217c69dca5f"),
    "bedrock-anthropic": (1, "4cb86535f873803d"),
    "bedrock-anthropic/1": (1, "79d7d620f17b099e"),
    "bedrock-converse": (1, "dd7ed188333d12eb"),
    "bedrock-converse/1": (1, "a77fea7a7e70982c"),
    "cohere": (1, "21dde9f9766fd7fe"),
    "cohere/1": (1, "91b087a27e845e23"),
    "embeddings": (1, "da62b49c291fe337"),
    "embeddings/1": (1, "aed60200087e85d1"),
    "empty_answer": (2, "8049d4f583d6c4c1"),
    "exec": (1, "bba8404f3e178c65"),
    "exec/1": (1, "6c381e9b44f10280"),
    "gemini": (1, "0a95aae021e84014"),
    "gemini/1": (1, "9545b4e5bf51a58f"),
    "http": (1, "4ede63f308d415ee"),
    "http/1": (1, "4438480fb2eb80f6"),
    "openai-chat": (3, "457367401aeada5c"),
    "openai-chat/1": (1, "57dc2dc1811f9d22"),
    "openai-completions": (1, "e4a3ee08bfcf637c"),
    "openai-completions/1": (1, "e6d3b5ff0a71c5ac"),
    "openai-responses": (1, "ff2a2b9d6ef8c2bf"),
    "openai-responses/1": (1, "187f5bc155f36f65"),
    "raw": (1, "3474cdc3703e4c4b"),
    "whole/1": (1, "7a14262594097bbb"),
}


# Modules whose code is part of the rules, readers and checks that call it; the canonical form, strict reading and the compiled schemas
# have vectors and tests of their own.
PARTS = {f"snapshots.{path.stem}": path for path in (ROOT / "snapshots").glob("*.py")}
for _outside in ("canonical", "errors", "pointer", "strict_json"):
    del PARTS[f"snapshots.{_outside}"]
# What an answer is for the checks is the readers' business, which have numbers of their own.
JUDGING = {f"grade.{path.stem}": path for path in (ROOT / "grade").glob("check_*.py")} | {
    f"{package}.{name}": ROOT / package / f"{name}.py"
    for package, name in (
        ("grade", "violation"),
        ("golden", "ask_judge"),
        ("golden", "ask_program"),
        ("golden", "ask_similarity"),
        ("golden", "asking_check"),
        ("golden", "json_path"),
        ("golden", "price"),
    )
}
PARTS.update(JUDGING)


@cache
def _names_of(dotted: str) -> tuple[dict[str, ast.stmt], dict[str, tuple[str, str]], dict[str, str]]:
    """Return what a module defines, what it imports out of our modules, and which of our modules it imports."""
    own: dict[str, ast.stmt] = {}
    imported: dict[str, tuple[str, str]] = {}
    modules: dict[str, str] = {}
    for node in ast.parse(PARTS[dotted].read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            own[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            own[node.targets[0].id] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            own[node.target.id] = node
        elif isinstance(node, ast.ImportFrom) and node.module in ("snapshots", "golden", "grade"):
            named = {n.asname or n.name: f"{node.module}.{n.name}" for n in node.names}
            modules.update({name: module for name, module in named.items() if module in PARTS})
        elif isinstance(node, ast.ImportFrom) and node.module in PARTS:
            imported.update({n.asname or n.name: (node.module, n.name) for n in node.names})
    return own, imported, modules


def whole_digest(dotted: str, name: str, within: Collection[str] = PARTS) -> str:
    """Return the digest of a function and of all that it is made of: functions, constants and records, in whichever of our modules."""
    seen: dict[tuple[str, str], str] = {}
    waiting = [(dotted, name)]
    while waiting:
        where, one = waiting.pop()
        if where not in within:
            continue
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


def check_digest(name: str) -> str:
    """Return the digest of a check's rule, and of what it asks for and how it reads that."""
    rule = whole_digest(CHECKS[name].rule.__module__, CHECKS[name].rule.__name__, JUDGING)
    if name not in TARGETS:
        return rule
    parts = [whole_digest(f"golden.ask_{name}", part, JUDGING) for part in ("subject", "requests", "is_usable")]
    declared = whole_digest("golden.asking_check", "grader", JUDGING)
    return hashlib.sha256(" ".join([rule, *parts, declared]).encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_a_check_whose_code_changed_has_another_number(name: str) -> None:
    """The number and the code move together, or every old verdict would lie about what judged it."""
    assert CHECK_SOURCES[name] == (CHECKS[name].number, check_digest(name))


@cache
def _sources() -> dict[str, tuple[int, str]]:
    found = {
        dialects.RAW_READER: (dialects.RAW_READER_NUMBER, whole_digest("snapshots.dialects", "_read_raw")),
        dialects.WHOLE: (1, whole_digest("snapshots.dialects", "_whole")),
        generic.READER: (generic.READER_NUMBER, whole_digest("snapshots.generic", "read")),
        generic.RULE: (1, whole_digest("snapshots.generic", "answer")),
    }
    for dialect in dialects.DIALECTS.values():
        module = str(dialect.__name__)  # type: ignore[attr-defined]
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
