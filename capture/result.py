"""What a capture says about itself: one row for each planned call, and the counts over them."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snapshots.errors import ExitCode

SCHEMA = "whichclock.capture/1"
LINE_SCHEMA = "whichclock.capture-line/1"


class Outcome(enum.StrEnum):
    """How a planned call ended."""

    RECORDED = "recorded"
    """Asked, answered and stored; nothing was stored under this identity before."""
    REPLAYED = "replayed"
    """Answered by the store without a call."""
    UNCHANGED = "unchanged"
    """Asked again (live): same answer from the same reported model, nothing stored."""
    MOVED = "moved"
    """Asked again (live): another answer, stored beside the old one."""
    RELABELLED = "relabelled"
    """Asked again (live): the same answer, from another reported model or another program, stored beside the old one."""
    MISSED = "missed"
    """Nothing is stored and this mode does not ask (replay)."""
    ASKED = "asked"
    """Asked and answered; this mode stores nothing (off)."""
    FAILED = "failed"
    """No answer that may be stored, or the stored one is corrupt."""
    REFUSED = "refused"
    """Not stored or not asked on purpose: too large, holds a credential, over the budget."""


ANSWERED = frozenset(
    {Outcome.RECORDED, Outcome.REPLAYED, Outcome.UNCHANGED, Outcome.MOVED, Outcome.RELABELLED, Outcome.ASKED}
)
RESUMABLE = ANSWERED - {Outcome.ASKED}


@dataclass(frozen=True, slots=True)
class Ended:
    """How one identity ended: the outcome, the hash of its answer if there is one, and the reason if there is none.

    ``hint`` is the remedy where there is a better one than running again; ``is_final`` tells that running again as it is gives the
    same. ``is_left`` tells that a budget ended before it was asked, ``is_unasked`` that the run itself did: the next run goes on
    there. ``program`` are the digests of the program that gave a replayed answer. ``unreadable`` says why today's reader cannot
    read an answer that is stored all the same. ``label`` says under which other name the same answer came.
    """

    outcome: Outcome
    answer_hash: str | None = None
    error: str | None = None
    hint: str = ""
    is_left: bool = False
    program: Mapping[str, str] | None = None
    is_unasked: bool = False
    is_final: bool = False
    unreadable: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One case × target × trial. ``shared`` tells that another row of the run asked the same request for it.

    ``asked`` is ``grader/name`` for a request that a grader declares, ``None`` for the case's own. ``request_hash`` is ``None``
    where a grader failed to say what it asks. The rest is as in ``Ended``.
    """

    case_id: str
    target: str
    trial: int
    request_hash: str | None
    answer_hash: str | None
    outcome: Outcome
    shared: bool
    error: str | None
    hint: str = ""
    is_left: bool = False
    asked: str | None = None
    is_unasked: bool = False
    is_final: bool = False
    unreadable: str | None = None
    label: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the members that ``--format json`` prints; ``asked`` stands only in the rows of graders' requests."""
        asked = {} if self.asked is None else {"asked": self.asked}
        return {
            "case_id": self.case_id,
            "target": self.target,
            "trial": self.trial,
            "request_hash": self.request_hash,
            "answer_hash": self.answer_hash,
            "outcome": self.outcome.value,
            "shared": self.shared,
            "error": self.error,
            **asked,
        }


@dataclass(frozen=True, slots=True)
class CaptureResult:
    """A finished or interrupted capture: ``rows`` in suite order, and ``calls``, all calls, retries included.

    The rows of requests that graders declare follow those of the cases. ``cost_usd`` is what the calls cost by the suite's
    prices, ``None`` where it has none. ``too_dear_usd`` is set where no call that is left fits into the budget of a whole run: it
    is what the cheapest of them may cost at most.
    """

    rows: tuple[Row, ...]
    calls: int
    cost_usd: float | None = None
    warnings: tuple[str, ...] = ()
    log: Path | None = None
    interrupted: bool = False
    too_dear_usd: float | None = None

    @property
    def summary(self) -> dict[str, int]:
        """Return ``planned``, ``calls`` and the count of each outcome, zeros included."""
        counts = {outcome.value: 0 for outcome in Outcome}
        for row in self.rows:
            counts[row.outcome.value] += 1
        return {"planned": len(self.rows), "calls": self.calls, **counts}

    @property
    def exit_code(self) -> int:
        """Return 0 where every planned call has an answer, 130 after an interrupt, else 3."""
        if self.interrupted:
            return 130
        return ExitCode.OK if all(row.outcome in ANSWERED for row in self.rows) else ExitCode.UNJUDGED

    def as_line(self, mode: str) -> dict[str, Any]:
        """Return the one line that ``--format line`` prints: what a job that runs captures can act on.

        Its members: ``schema``; ``mode``, as given; ``exit_code``; ``summary``, the counts; ``left``, rows that a budget
        ended before they were asked; ``cost_usd``, ``null`` without prices; ``log``, the name of the file in the store's log
        folder, ``null`` where nothing was asked; ``warnings``, how many there were.
        """
        return {
            "schema": LINE_SCHEMA,
            "mode": mode,
            "exit_code": int(self.exit_code),
            "summary": self.summary,
            "left": self.left,
            "cost_usd": self.cost_usd,
            "log": None if self.log is None else self.log.name,
            "warnings": len(self.warnings),
        }

    @property
    def left(self) -> int:
        """Return how many rows a budget ended before they were asked."""
        return sum(row.is_left for row in self.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the one object that ``--format json`` prints."""
        return {"schema": SCHEMA, "summary": self.summary, "rows": [row.as_dict() for row in self.rows]}
