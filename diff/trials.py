"""What the trials of a case say of one another: sampling that was there before, and flaky cases that no longer are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from diff.row import DiffRow
from grade.arrow import pc
from grade.columns import column
from snapshots import strict_json


def mark_sampling(base: pa.Table, rows: Iterable[DiffRow]) -> None:
    """Mark moved answers of cases whose trials already disagreed at base: another draw is no news there."""
    moved = [row for row in rows if "model" in row.clocks]
    outcomes = _outcomes(base, {r.base["case_id"] for r in moved if r.base is not None})
    for row in moved:
        seen = outcomes.get((row.base["case_id"], row.target), set()) if row.base is not None else set()
        if len(seen) > 1:
            row.evidence["sampling"] = "the trials already disagreed at base"


def stale_flaky(base: pa.Table, head: pa.Table) -> list[str]:
    """Return the cases marked ``known: flaky`` whose trials all agree in both runs, sorted."""
    rows = head.select(["case_id", "expectation"])
    texts = rows.column("expectation").cast(pa.string())
    likely = rows.filter(pc.match_substring(texts, '"known":"flaky"')).to_pylist()
    # A context may hold the same words: the text is looked into before a case is called stale.
    marked = {r["case_id"] for r in likely if strict_json.loads_own(r["expectation"].encode()).get("known") == "flaky"}
    old, new = (_outcomes(side, marked, only_status=True) for side in (base, head))
    return sorted({case for (case, target), seen in new.items() if len(seen) == 1 and old.get((case, target)) == seen})


def _outcomes(rows: pa.Table, cases: set[str], *, only_status: bool = False) -> dict[tuple[str, str], set[Any]]:
    """Return the different outcomes that the trials of some cases have."""
    found: dict[tuple[str, str], set[Any]] = {}
    if not cases:
        return found
    chosen = rows.select(["case_id", "target", "trial", "status", "findings"])
    chosen = chosen.filter(pc.is_in(chosen.column("case_id"), value_set=column(pa.string(), sorted(cases))))
    trials: Counter[tuple[str, str]] = Counter()
    for row in chosen.to_pylist():
        key = row["case_id"], row["target"]
        trials[key] += 1
        found.setdefault(key, set()).add(
            row["status"] if only_status else (row["status"], tuple(row["findings"] or ()))
        )
    # One trial cannot disagree with itself, and says nothing about being flaky.
    return {key: seen for key, seen in found.items() if trials[key] > 1}
