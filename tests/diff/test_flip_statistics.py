"""Flips behind unchanged requests against the rate of two equal runs, and finding codes one by one."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest, fisher_exact

from diff.code_changes import code_changes, code_lines
from diff.flips import Rate, counted, fisher, flips_sentence, flips_test
from diff.statistics import mcnemar
from diff.tallies import tallies
from tests.diff.sides import compared, row


@pytest.mark.parametrize(("flips", "cases", "rate"), [(0, 10, 0.1), (3, 40, 0.02), (1, 1, 0.5), (9, 100, 0.05)])
def test_a_rate_that_is_set_gives_the_binomial_test(flips: int, cases: int, rate: float) -> None:
    """One-sided, as scipy has it."""
    reference = binomtest(flips, cases, rate, alternative="greater").pvalue

    assert reference == pytest.approx(flips_test(flips, cases, Rate(rate)).p)


@pytest.mark.parametrize(
    ("flips", "cases", "before", "cases_before"), [(5, 40, 1, 40), (3, 10, 0, 50), (0, 10, 3, 10), (2, 200, 20, 1000)]
)
def test_a_rate_that_was_counted_gives_fishers_test(flips: int, cases: int, before: int, cases_before: int) -> None:
    """One-sided, as scipy has it: the count before is as uncertain as the one now."""
    reference = fisher_exact([[flips, cases - flips], [before, cases_before - before]], alternative="greater").pvalue

    assert reference == pytest.approx(fisher(flips, cases, before, cases_before))


def test_no_rate_is_no_test() -> None:
    """What chance alone flips is not made up."""
    found = flips_test(3, 40, None)

    assert (None, None, "unknown", False) == (found.p, found.expected, found.source, found.fires)
    assert "is not known" in flips_sentence(found)


def test_a_suite_that_never_flips_by_chance_is_alarmed_by_one() -> None:
    """At temperature 0 a rate of 0 may be set."""
    assert (0.0, True) == ((found := flips_test(1, 40, Rate(0.0))).p, found.fires)
    assert 1.0 == flips_test(0, 40, Rate(0.0)).p


def test_flips_are_counted_where_nothing_but_the_answer_moved() -> None:
    """a flips, b moves and stays, c's request moved, d's grader did, e stands still, f has no answer."""
    base = [row(name) for name in "abcdef"]
    head = [
        row("a", answer="2", found="x"), row("b", answer="2"), row("c", request="2", found="x"), row("d", code="2", found="x"),
        row("e"), row("f", status="missing_snapshot", case_passed=None, findings=None),
    ]  # fmt: skip
    made = compared(base, head)

    assert (1, 3) == counted(made, tallies(made))


def test_each_code_has_its_own_test_and_pays_for_the_others() -> None:
    """x appears in eight cases, y vanishes from one: McNemar's of 8 and 0 times two, and 1 for the other."""
    base = [row(f"c{i}", found="y" if i == 8 else "") for i in range(9)]
    head = [row(f"c{i}", answer="2", found="" if i == 8 else "x") for i in range(9)]
    made = compared(base, head)
    x, y = code_changes(made, tallies(made))

    assert ("x", 8, 0, "y", 0, 1) == (x.code, x.appeared, x.vanished, y.code, y.appeared, y.vanished)
    assert (mcnemar(8, 0).p, 2 * (mcnemar(8, 0).p or 0), 1.0) == (x.p, x.adjusted, y.adjusted)
    assert ["finding x: 8 more, 0 fewer cases, Holm p = 0.0156"] == code_lines([x, y])


def test_a_code_that_moves_between_trials_of_a_case_has_not_changed() -> None:
    """Found in the first of two trials, then in the second: as often as before."""
    base = [row("a", found="x"), row("a", trial=1)]
    head = [row("a", answer="2"), row("a", trial=1, answer="2", found="x")]
    made = compared(base, head)

    assert [] == code_changes(made, tallies(made))
