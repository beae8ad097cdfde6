"""One row of a diff: the old and the new row of a case × target × trial, and what is said of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]


@dataclass(slots=True)
class DiffRow:
    """One row of a diff. ``base`` or ``head`` is ``None`` where that side has no such row.

    ``attribution`` is the case's, the same on each of its rows: clock → share of the change of its pass fraction, or ``undetermined``.
    """

    case_id: str
    target: str
    trial: int
    move: str
    clocks: list[str]
    request_changes: list[dict[str, str]]
    verdict_change: str
    reason: str | None
    evidence: dict[str, Any]
    base: Row | None
    head: Row | None
    attribution: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def is_judged(self) -> bool:
        """Tell whether graders judged both sides; where one did not, its findings say nothing."""
        judged = ("pass", "fail")
        return (
            self.base is not None
            and self.head is not None
            and self.base["status"] in judged
            and self.head["status"] in judged
        )

    @property
    def is_known(self) -> bool:
        """Tell whether the case is marked known on the head side: it is never a regression then."""
        return self.head is not None and "known" in (self.head["expectation"] or {})
