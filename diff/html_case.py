"""A case × target as the page's data: neutral texts alone, so that its script has nothing to escape. Empty members are left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from diff.compare import Comparison
from diff.gathered import Gathered
from diff.html_answer import answer
from diff.html_change import code_lines, expectation_values, judge_values, request_values
from diff.html_text import Texts, short
from diff.moved_cases import Teller
from diff.row import DiffRow

_FACTS = ("finish_reason", "reported_model", "recorded_at", "error")
_NUMBERS = ("input_tokens", "output_tokens", "latency_ms", "cost_usd")


def case_data(one: Gathered, comparison: Comparison, texts: Texts, teller: Teller) -> dict[str, Any]:
    """Return what the page knows of a case."""
    told = one.told
    either = [side for row in one.rows for side in (row.base, row.head) if side is not None]
    found = {
        "id": short(one.case_id),
        "target": short(one.target),
        "change": one.change,
        "move": told.move,
        "clocks": one.clocks,
        "reason": short(told.reason or ""),
        "known": short(one.known or ""),
        "tags": sorted({short(tag) for side in either for tag in side["tags"] or ()}),
        "codes": sorted({short(code) for side in either for code in side["findings"] or ()}),
        "what": short(teller.told(one.moved)),
        "trials": [_trial(row, comparison, texts) for row in one.rows],
    }
    if one.has_moved or one.clocks:
        found |= _moved(one, comparison, texts)
    return _without_empty(found)


def _moved(one: Gathered, comparison: Comparison, texts: Texts) -> dict[str, Any]:
    told = one.told
    made = comparison.attributed.cases.get((one.case_id, one.target)) if comparison.attributed is not None else None
    return {
        "shares": {short(clock): short(share) for clock, share in told.attribution.items()},
        "cures": [list(clocks) for clocks in made.cures] if made is not None else [],
        "request": request_values(told, comparison, texts),
        "code": code_lines(told, comparison, texts),
        "expectation": expectation_values(told, texts),
        "judges": judge_values(told, comparison, texts),
    }


def _trial(row: DiffRow, comparison: Comparison, texts: Texts) -> dict[str, Any]:
    base, head = row.base, row.head
    found: dict[str, Any] = {"trial": row.trial, "move": "" if row.move == "none" else row.move}
    moved = row.move != "none" or bool(row.clocks)
    if not moved and base is not None and head is not None:
        return _without_empty({**found, "both": _side(head)})
    found |= {"base": None if base is None else _side(base), "head": None if head is None else _side(head)}
    found["evidence"] = texts.of(row.evidence) if row.evidence else ""
    if base is not None and head is not None and base["integrity"] == head["integrity"]:
        found["answer"] = answer(comparison.head, head, texts)
    else:
        found["before"] = None if base is None else answer(comparison.base, base, texts)
        found["after"] = None if head is None else answer(comparison.head, head, texts)
    return _without_empty(found)


def _side(row: Mapping[str, Any]) -> dict[str, Any]:
    evidence = {
        short(f"{code} by {source}"): _evidence(value)
        for code, by in (row["evidence"] or {}).items()
        for source, value in by.items()
        if value is not None
    }
    return _without_empty(
        {
            "status": row["status"],
            "findings": [short(code) for code in row["findings"] or ()],
            "expected": [short(code) for code in row["expected"] or ()],
            "evidence": evidence,
            **{name: short(str(row[name])) for name in _FACTS if row[name] is not None},
            **{name: row[name] for name in _NUMBERS if row[name] is not None},
        }
    )


def _evidence(value: Any) -> str:
    return short(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _without_empty(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value not in (None, "", [], {})}
