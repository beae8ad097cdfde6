"""Sides of a diff made by hand: rows that say what a test needs, and a store that holds the answers to them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from diff import cases
from diff.compare import Comparison, compare
from diff.side import Side
from grade import table

HOSTILE = [
    "<script>window.hit = 1</script>",
    "</script><script>window.hit = 1</script>",
    "<!--<script>",
    "<img src=x onerror=window.hit=1>",
    "]]>",
    "<![CDATA[x]]>",
    "&amp; &lt; &#0;",
    "\x1b[31mred\x1b[0m \x00 \x07",
    "\u202etxt.exe\u202c \u2066 \ufeff",
    "line\u2028separator\u2029",
    "{{ 7 * 7 }} {% raw %} ${7*7}",
    "'\" onmouseover=alert(1) x='",
    "\ufffe\uffff",
    "a\nb\r\nc\td",
    "::error::x%0A::warning::y",
    "line of one megabyte " * 50_000,
    "emoji 👩‍💻 and 漢字 and \U000e0041",
]


@dataclass
class Answers:
    """A store in memory: request document and response by integrity."""

    held: dict[str, tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=dict)
    requests: dict[str, dict[str, Any]] = field(default_factory=dict)
    root: Path = Path("nowhere")

    def find(self, request_hash: str, trial: int, integrity: str) -> str | None:
        return integrity if integrity in self.held else None

    def walk(self, request_hash: str) -> Iterator[str]:
        yield from [request_hash] if request_hash in self.requests else []

    def read(self, found: str) -> Any:
        if found in self.requests:
            return SimpleNamespace(request=self.requests[found])
        request, response = self.held[found]
        return SimpleNamespace(request=request, response=response)


def row(case_id: str, *, trial: int = 0, answer: str = "1", request: str = "1", code: str = "1", found: str = "",
        wanted: str = "", **others: Any) -> dict[str, Any]:  # fmt: skip
    """Return a row of a result table; ``found`` and ``wanted`` are finding codes."""
    findings, expected = found.split(), wanted.split()
    passes = findings == expected
    known = others.pop("known", None)
    expectation = {"expected": expected, "pass": "all", "graders": ["g"], **({"known": known} if known else {})}
    written = {
        "case_id": case_id, "target": "gpt", "trial": trial, "status": "pass" if passes else "fail", "case_passed": passes,
        "findings": findings, "expected": expected, "missing": sorted(set(expected) - set(findings)),
        "unexpected": sorted(set(findings) - set(expected)), "tags": [], "request_hash": request, "answer_hash": answer,
        "answer_rule": "openai-chat/1", "integrity": f"{request}/{answer}", "grader_digest": code,
        "expectation_digest": json.dumps(expectation), "expectation": json.dumps(expectation), "graders": json.dumps({"g": code}),
        "asked": "[]", "evidence": json.dumps({c: {"g": None} for c in findings}), "finish_reason": "stop",
    }  # fmt: skip
    return {name: {**written, **others}.get(name) for name in table.NAMES}


def side(name: str, *rows: dict[str, Any], store: Answers | None = None) -> Side:
    """Return a side with these rows, in the order of the key."""
    placed = sorted(rows, key=lambda r: (r["case_id"], r["target"], r["trial"]))
    columns = {column: [r[column] for r in placed] for column in table.NAMES}
    made = table.batch(columns, table.schema({"suite": "s", "selection": None, "runtime": {}, "tool": "t"}))
    stores: Any = [store or Answers()]
    return Side(name, name, made, "support", False, {}, stores)


def compared(base: list[dict[str, Any]], head: list[dict[str, Any]], store: Answers | None = None) -> Comparison:
    """Return the comparison of two lists of rows, attributed."""
    made = compare(side("main", *base, store=store), side("the working tree", *head, store=store))
    cases.attribute_rows(made)
    return made
