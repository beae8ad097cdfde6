"""Verdicts: the status of a row, the case verdict over its trials, and the gate of a suite. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

TOLERANCE = 1e-9
JUDGED = frozenset({"pass", "fail"})
UNJUDGED = ("missing_snapshot", "corrupt_snapshot", "unreadable_snapshot", "grader_error")
STATUSES = ("pass", "fail", *UNJUDGED)


def case_passed(statuses: Iterable[str], rule: str | float) -> bool | None:
    """Return the case verdict over its trials, or ``None`` while any trial lacks pass or fail.

    Args:
        statuses: the status of each trial.
        rule: ``all``, ``any``, ``majority`` (strictly more than half), or a number: passes / trials is at least it (tolerance 1e-9).
    """
    given = list(statuses)
    if not given or any(s not in JUDGED for s in given):
        return None
    passes, trials = given.count("pass"), len(given)
    if rule == "all":
        return passes == trials
    if rule == "any":
        return passes > 0
    if rule == "majority":
        return 2 * passes > trials
    return passes / trials >= float(rule) - TOLERANCE


@dataclass(slots=True)
class Tally:
    """What a run adds up to. Case verdicts are counted once for each case × target; a known case is counted apart."""

    rows: int = 0
    statuses: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))
    cases: int = 0
    cases_passed: int = 0
    counted: int = 0
    counted_passed: int = 0
    counted_failed: int = 0
    known_failing: int = 0
    known_flaky: int = 0
    stale: list[str] = field(default_factory=list[str])

    def add(self, case_id: str, statuses: Sequence[str], passed: bool | None, known: str | None) -> None:
        """Count one case × target with the statuses of its trials."""
        self.rows += len(statuses)
        for status in statuses:
            self.statuses[status] += 1
        self.cases += 1
        self.cases_passed += passed is True
        if known == "flaky":
            self.known_flaky += 1
        elif known == "failing":
            self.known_failing += 1
            if passed:
                self.stale.append(case_id)
        else:
            self.counted += 1
            self.counted_passed += passed is True
            self.counted_failed += passed is False

    @property
    def unjudged(self) -> int:
        """Return how many rows could not be judged."""
        return sum(self.statuses[s] for s in UNJUDGED)

    def exit_code(self, pass_rate: float | None) -> int:
        """Return the exit code: 3 where something could not be judged, else 1 where the gate fails or a known failure passes, else 0.

        Args:
            pass_rate: the gate, which then alone decides between 0 and 1 about verdicts; ``None``: every case must pass.
        """
        if self.unjudged:
            return 3
        if pass_rate is None:
            holds = self.counted_passed == self.counted
        else:
            # A rate over nothing is no rate: zero rows fail, and so does a suite of known cases only.
            holds = self.counted > 0 and self.counted_passed / self.counted >= pass_rate - TOLERANCE
        return 0 if holds and not self.stale else 1
