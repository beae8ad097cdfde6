"""The cube read aloud: which edit, taken back, makes how many regressions vanish. The smallest sets of edits first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from diff.attribution import TOGETHER
from diff.compare import Comparison
from diff.row import DiffRow

Key = tuple[str, str]
Edits = tuple[str, ...]
_SHOWN = 4
_MODEL = "the model's new answers"


def remedy(comparison: Comparison) -> str | None:
    """Return the sentence, or ``None`` where there is no regression or nothing is known to cure one."""
    cures = cures_of(comparison)
    regressions = len(comparison.regressions)
    if not regressions or not cures:
        return None
    told = [_told(edits, count, regressions if i == 0 else None) for i, (edits, count) in enumerate(cures[:_SHOWN])]
    more = len(cures) - _SHOWN
    return f"Undo {'; undo '.join(told)}{f'; and {more} more ways' if more > 0 else ''}."


def _told(edits: Edits, count: int, of: int | None) -> str:
    which = " together with ".join(edits)
    if of is None:
        return f"{which} and {count} {'does' if count == 1 else 'do'}"
    if of == 1:
        return f"{which} and the regression vanishes"
    if count == of:
        return f"{which} and all {of} regressions vanish"
    return f"{which} and {count} of {of} regressions vanish{'es' if count == 1 else ''}"


def cures_of(comparison: Comparison) -> list[tuple[Edits, int]]:
    """Return each smallest set of edits with the number of regressions that it cures alone: small sets first, then the most cured."""
    if comparison.attributed is None:
        return []
    rows = rows_of(comparison)
    found: Counter[Edits] = Counter()
    for key in comparison.regressions:
        one = comparison.attributed.cases.get(key)
        for undone in () if one is None else one.cures:
            found[tuple(_edit(comparison, rows[key], clock) for clock in undone)] += 1
    return sorted(found.items(), key=lambda item: (len(item[0]), -item[1], item[0]))


def rows_of(comparison: Comparison) -> dict[Key, list[DiffRow]]:
    """Return the moved rows of each case × target."""
    rows: dict[Key, list[DiffRow]] = {}
    for row in comparison.rows.values():
        rows.setdefault((row.case_id, row.target), []).append(row)
    return rows


def _edit(comparison: Comparison, rows: list[DiffRow], clock: str) -> str:
    """Return what moved a clock of a case, as an author would name it."""
    if clock == "grader":
        return _graders(comparison, rows)
    if clock == "expectation":
        return _expectation(rows)
    if clock == "model":
        return _MODEL
    request = _request(comparison, rows)
    return f"{request} (or {_MODEL})" if clock == TOGETHER else request


def _graders(comparison: Comparison, rows: list[DiffRow]) -> str:
    names = {name: None for row in rows for name in row.evidence.get("graders", ())}
    told = [_grader(comparison, rows[0].head or {}, name) for name in names]
    asked = {name: None for row in rows for name in row.evidence.get("judge_requests", ())}
    told += [f"what {name} asks" for name in asked] if not told else []
    return " and ".join(told) or "the grader"


def _grader(comparison: Comparison, row: Mapping[str, Any], name: str) -> str:
    """Return ``file:name`` where the source is at hand, else the name."""
    if ":" in name:
        return f"whichclock's own {name}"
    source = comparison.head.source((row.get("graders") or {}).get(name, ""))
    return f"{source['entry']}:{name}" if source is not None else name


def _expectation(rows: list[DiffRow]) -> str:
    old, new = (rows[0].base or {}).get("expectation") or {}, (rows[0].head or {}).get("expectation") or {}
    moved = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    return f"the case's {' and '.join(moved)}" if moved else "the expectation"


def _request(comparison: Comparison, rows: list[DiffRow]) -> str:
    parts = sorted({change["part"] for row in rows for change in row.request_changes})
    file = comparison.head.prompt_of(rows[0].case_id) or comparison.base.prompt_of(rows[0].case_id)
    if parts == ["prompt"] and file is not None:
        return file
    return f"the request's {' and '.join(parts)}" if parts else "the request"
