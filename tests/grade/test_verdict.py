"""Verdicts over trials, and the gate of a suite."""

from __future__ import annotations

import pytest

from grade.verdict import Tally, case_passed


@pytest.mark.parametrize(
    ("statuses", "rule", "verdict"),
    [
        (["pass", "pass"], "all", True),
        (["pass", "fail"], "all", False),
        (["pass", "fail"], "any", True),
        (["fail", "fail"], "any", False),
        (["pass", "fail"], "majority", False),
        (["pass", "pass", "fail"], "majority", True),
        (["pass", "pass", "pass", "pass", "fail"], 0.8, True),
        (["pass"] * 7 + ["fail"] * 3, 0.7, True),
        (["pass", "fail", "fail"], 1 / 3, True),
        (["pass", "pass", "fail"], 0.67, False),
        (["pass", "grader_error"], "any", None),
        (["missing_snapshot"], "all", None),
        ([], "all", None),
    ],
)
def test_the_case_verdict_follows_its_rule(statuses: list[str], rule: str | float, verdict: bool | None) -> None:
    """All, any, majority as strictly more than half, a share with tolerance; unknown while a trial is not judged."""
    assert verdict is case_passed(statuses, rule)


def tally(*cases: tuple[list[str], bool | None, str | None]) -> Tally:
    """Add up some cases."""
    made = Tally()
    for i, (statuses, passed, known) in enumerate(cases):
        made.add(f"case{i}", statuses, passed, known)
    return made


GOOD = (["pass"], True, None)
BAD = (["fail"], False, None)


@pytest.mark.parametrize(
    ("cases", "gate", "code"),
    [
        ([GOOD, GOOD], None, 0),
        ([GOOD, BAD], None, 1),
        ([GOOD] * 19 + [BAD], 0.95, 0),
        ([GOOD] * 18 + [BAD] * 2, 0.95, 1),
        ([GOOD] * 9 + [BAD], 0.9000000001, 0),
        ([GOOD, (["missing_snapshot"], None, None)], None, 3),
        ([BAD, (["grader_error"], None, None)], 0.5, 3),
        ([(["fail"], False, "failing"), GOOD], None, 0),
        ([(["pass"], True, "failing"), GOOD], None, 1),
        ([(["fail"], False, "flaky"), GOOD], None, 0),
        ([(["fail"], False, "failing")], 0.5, 1),
        ([], 0.0, 1),
    ],
)
def test_the_exit_code(cases: list[tuple[list[str], bool | None, str | None]], gate: float | None, code: int) -> None:
    """3 wins over 1; a known failure does not count and gates when it passes; a rate over nothing fails."""
    assert code == tally(*cases).exit_code(gate)
