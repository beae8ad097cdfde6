"""Changes of case verdicts: what a case came to before and after, whichever of its trials both sides have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from grade.arrow import pc
from grade.columns import column

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LoneVerdicts:
    """Case verdicts of the cases that have a row which the other side lacks: such a case may still be there with other trials."""

    base: dict[tuple[str, str], bool | None]
    head: dict[tuple[str, str], bool | None]

    def without_namesake(self, olds: list[Row | None], news: list[Row | None]) -> tuple[list[Row], list[Row]]:
        """Return the removed and the added rows whose case is on one side only: with other trials a case is still itself."""
        removed = [o for o, n in zip(olds, news, strict=True) if o is not None and n is None]
        added = [n for o, n in zip(olds, news, strict=True) if n is not None and o is None]
        return (
            [o for o in removed if (o["case_id"], o["target"]) not in self.head],
            [n for n in added if (n["case_id"], n["target"]) not in self.base],
        )

    def change(self, old: Row | None, new: Row | None) -> tuple[str, str | None]:
        """Return the change of the case verdict that a pair of rows belongs to."""
        if old is not None and new is not None:
            return verdict_change(old["case_passed"], new["case_passed"])
        if old is None and new is not None:
            key = new["case_id"], new["target"]
            if key in self.base:
                return verdict_change(self.base[key], new["case_passed"])
            # A new case has no verdict to compare with: one that fails gates, one that passes is news, not a change for the worse.
            change, _ = verdict_change(new["case_passed"] is False, new["case_passed"])
            return change, "added"
        if old is not None and (key := (old["case_id"], old["target"])) in self.head:
            return verdict_change(old["case_passed"], self.head[key])
        return "incomparable", "removed"


def verdict_change(before: bool | None, after: bool | None) -> tuple[str, str | None]:
    """Return the change of a case verdict, with the reason where it is ``incomparable``."""
    if before is None or after is None:
        return "incomparable", f"{'base' if before is None else 'head'}: a trial could not be judged"
    if before == after:
        return ("still_passing" if after else "still_failing"), None
    return ("newly_passing" if after else "newly_failing"), None


def lone_verdicts(base: pa.Table, head: pa.Table, olds: list[Row | None], news: list[Row | None]) -> LoneVerdicts:
    """Return the case verdicts of the cases that have a row on one side only."""
    added = {n["case_id"] for o, n in zip(olds, news, strict=True) if n is not None and o is None}
    removed = {o["case_id"] for o, n in zip(olds, news, strict=True) if o is not None and n is None}
    return LoneVerdicts(_verdicts_of(base, added), _verdicts_of(head, removed))


def _verdicts_of(rows: pa.Table, cases: set[str]) -> dict[tuple[str, str], bool | None]:
    if not cases:
        return {}
    chosen = rows.select(["case_id", "target", "case_passed"])
    chosen = chosen.filter(pc.is_in(chosen.column("case_id"), value_set=column(pa.string(), sorted(cases))))
    return {(r["case_id"], r["target"]): r["case_passed"] for r in chosen.to_pylist()}
