"""What people are told of a row that does not pass: its status, both sets, and a line or two of evidence for what should not be there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from snapshots import strict_json
from snapshots.console import json_text, neutral, shorten

_EVIDENCE_LINES = 2
_LONGEST = 160
_PLACES = 6
_TOLD = ("status", "case_passed", "expected", "missing", "unexpected", "error", "request_hash", "answer_hash")


def of(row: Mapping[str, Any], known: str | None) -> dict[str, Any]:
    """Return what is told of a row of the result table.

    Args:
        row: the row's members; ``evidence`` is canonical JSON text, as in the table.
        known: the mark of its case.
    """
    told = {name: row[name] for name in _TOLD}
    evidence = list(evidence_lines(row["evidence"], row["unexpected"] or ())) if row["status"] == "fail" else []
    return {**told, "known": known, "evidence": evidence}


def evidence_lines(evidence: str | Mapping[str, Any] | None, unexpected: Sequence[str]) -> Iterator[str]:
    """Yield at most two neutral lines that say who found what should not be there, and by what.

    Args:
        evidence: code → source → evidence, as canonical JSON text or parsed.
        unexpected: the codes that are found and not expected.
    """
    if evidence is None or not unexpected:
        return
    held = strict_json.loads_own(evidence.encode()) if isinstance(evidence, str) else evidence
    sources = [(code, *item) for code in unexpected for item in held.get(code, {}).items()]
    for code, source, value in sources[:_EVIDENCE_LINES]:
        shown = "" if value is None else f": {neutral(json_text(_rounded(value)))}"
        yield shorten(f"{code} by {neutral(source)}{shown}", _LONGEST)


def _rounded(value: Any) -> Any:
    """Return a value whose fractions are written for people: 0.19339999999999993 is 0.1934."""
    if isinstance(value, float):
        return round(value, _PLACES)
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value
