"""The account of one case: which trial tells it, how many trials pass, each clock's share, and the four clocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from diff.attribution import Attribution
from diff.cases import attribute_rows
from diff.classify import CLOCKS
from diff.compare import Comparison
from diff.moved_cases import statuses, telling
from diff.report import codes
from diff.row import DiffRow
from diff.why_blame import blame
from diff.why_clocks import Clock, clock_of
from diff.why_shares import share_words
from golden.model import Suite
from snapshots.errors import UsageError

SCHEMA = "whichclock.why/1"
_LISTED = 20
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Trials:
    """How many trials of a case one side has, and how many of them pass and have no verdict."""

    passed: int
    trials: int
    unjudged: int


@dataclass(slots=True)
class Why:
    """What happened to one case × target, told by one of its trials.

    Attributes:
        base_trials, head_trials: the counts of each side over all trials.
        attribution, cures: the case's, as in a diff.
        shares: the two in words, where several clocks moved.
        evidence: for each finding that appeared or vanished, what its source gave with it.
        note: why no commit is named.
    """

    case_id: str
    target: str
    trial: int
    move: str
    verdict_change: str
    reason: str | None
    findings: list[str]
    clocks: list[Clock]
    note: str | None = None
    base_trials: Trials = field(default_factory=lambda: Trials(0, 0, 0))
    head_trials: Trials = field(default_factory=lambda: Trials(0, 0, 0))
    status: tuple[str | None, str | None] = (None, None)
    attribution: dict[str, str] = field(default_factory=dict[str, str])
    cures: list[list[str]] = field(default_factory=list[list[str]])
    shares: str | None = None
    evidence: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)


def why(comparison: Comparison, rows: list[DiffRow], suite: Suite, trial: int | None = None) -> list[Why]:
    """Return the account of each target of a case.

    Args:
        comparison: a diff that holds the case.
        rows: the case's rows, all trials.
        suite: the head side's suite; commits are sought in its repository where there is one.
        trial: the trial that tells; by default one that explains the change of the verdict.

    Raises:
        UsageError: no case has that trial.
    """
    by_case: dict[tuple[str, str], list[DiffRow]] = {}
    for row in rows:
        by_case.setdefault((row.case_id, row.target), []).append(row)
    chosen = {key: found for key, trials in by_case.items() if (found := _telling(trials, trial)) is not None}
    if not chosen:
        names = ", ".join(dict.fromkeys(repr(row.case_id) for row in rows[:_NAMED]))
        raise UsageError(f"{names} has no trial {trial}", hint=f"it has {_listed({row.trial for row in rows})}")
    made = _attributed(comparison, chosen)
    return [_account(comparison, by_case[key], row, made.get(key), suite) for key, row in chosen.items()]


def _telling(trials: Sequence[DiffRow], wanted: int | None) -> DiffRow | None:
    """Return the trial that explains the verdict, else one whose outcome changed, else one in which something moved."""
    if wanted is not None:
        return next((row for row in trials if row.trial == wanted), None)
    return telling(trials)


def _listed(trials: set[int]) -> str:
    """Return the numbers of trials in words: they may be thousands."""
    numbers = sorted(trials)
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"the trials {numbers[0]} to {numbers[-1]}"
    more = f" and {len(numbers) - _LISTED} more" if len(numbers) > _LISTED else ""
    return f"trial {', '.join(map(str, numbers[:_LISTED]))}{more}"


def _attributed(comparison: Comparison, keys: Any) -> dict[tuple[str, str], Attribution]:
    """Return the attribution of some cases, which alone are graded again with clocks set back."""
    rows = {number: row for number, row in comparison.rows.items() if (row.case_id, row.target) in keys}
    part = replace(comparison, rows=rows)
    attribute_rows(part)
    return {} if part.attributed is None else part.attributed.cases


def _account(
    comparison: Comparison, trials: Sequence[DiffRow], row: DiffRow, made: Attribution | None, suite: Suite
) -> Why:
    clocks = [clock_of(name, row, comparison) for name in CLOCKS]
    moved = {clock for one in trials for clock in one.clocks}
    return Why(
        case_id=row.case_id,
        target=row.target,
        trial=row.trial,
        move=row.move,
        verdict_change=row.verdict_change,
        reason=row.reason,
        findings=codes(row),
        note=blame(clocks, row, comparison, suite),
        clocks=clocks,
        base_trials=_counted([one.base for one in trials]),
        head_trials=_counted([one.head for one in trials]),
        status=statuses(row),
        attribution={} if made is None else made.as_dict(),
        cures=[] if made is None else [list(cure) for cure in made.cures],
        shares=share_words(made) if made is not None and len(moved) > 1 else None,
        evidence=_evidence(row),
    )


def _counted(sides: Sequence[dict[str, Any] | None]) -> Trials:
    statuses = [side["status"] for side in sides if side is not None]
    passed, failed = statuses.count("pass"), statuses.count("fail")
    return Trials(passed, len(statuses), len(statuses) - passed - failed)


def _evidence(row: DiffRow) -> list[dict[str, Any]]:
    """Return what sources gave with the findings that appeared or vanished, where they gave anything."""
    if not row.is_judged:
        return []
    old, new = (set((side or {}).get("findings") or ()) for side in (row.base, row.head))
    told: list[dict[str, Any]] = []
    for change, found, side in (("appeared", new - old, row.head), ("vanished", old - new, row.base)):
        given = (side or {}).get("evidence") or {}
        told += [
            {"code": code, "change": change, "source": source, "value": value}
            for code in sorted(found)
            for source, value in given.get(code, {}).items()
            if value is not None
        ]
    return told
