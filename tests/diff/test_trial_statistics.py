"""Trials of one case: pass@k against its definition, and the flake model against scipy and enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from diff.flake import SURE, flake, mark_flakes, p_worse
from diff.pass_at_k import mean_pass_at_k, pass_at, pass_at_k
from diff.tallies import tallies
from tests.diff.sides import compared, row


def test_pass_at_3_of_3_in_10() -> None:
    """Published reference: 1 − C(7, 3) / C(10, 3) = 0.7083."""
    assert 0.7083 == round(float(pass_at_k(3, 10, 3)), 4)


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_it_is_the_share_of_all_draws_that_hold_a_pass(drawn: tuple[int, int, int]) -> None:
    """Counting every way to draw k of n trials."""
    trials, passed, k = drawn
    draws = list(combinations([True] * passed + [False] * (trials - passed), k))

    assert Fraction(sum(any(draw) for draw in draws), len(draws)) == pass_at_k(passed, trials, k)


def test_pass_at_1_is_the_pass_fraction_and_the_mean_is_over_cases() -> None:
    """2 of 4 and 3 of 3: (½ + 1) / 2; at 2 of 4, pass@2 is 1 − 1/6."""
    passed, trials = np.array([2, 3]), np.array([4, 3])

    assert (Fraction(3, 4), (1 - Fraction(1, 6) + 1) / 2) == (
        mean_pass_at_k(passed, trials, 1),
        mean_pass_at_k(passed, trials, 2),
    )


@pytest.mark.parametrize(("passed", "trials", "k"), [(1, 2, 3), (3, 2, 1), (-1, 2, 1), (1, 2, 0)])
def test_what_no_draw_has_is_refused(passed: int, trials: int, k: int) -> None:
    """More draws than trials, more passes than trials."""
    with pytest.raises(ValueError, match="is not defined"):
        pass_at_k(passed, trials, k)


def _trials(case: str, good: int, count: int, answer: str) -> list[dict[str, Any]]:
    return [row(case, trial=t, answer=f"{answer}{t}", found="" if t < good else "x") for t in range(count)]


def test_a_k_counts_the_cases_that_have_so_many_trials() -> None:
    """a has three trials on both sides, b one on one of them."""
    base = _trials("a", 1, 3, "1") + _trials("b", 1, 1, "1")
    head = _trials("a", 2, 3, "2") + _trials("b", 1, 3, "1")
    found = pass_at(tallies(compared(base, head)))

    assert {"1": 2, "2": 1, "3": 1} == {k: one["cases"] for k, one in found.items()}
    # a at base: 1 − C(2, 2) / C(3, 2); at head one draw of two always holds a pass
    assert (pytest.approx(2 / 3), 1.0) == (found["2"]["base"], found["2"]["head"])


def test_without_trials_there_is_no_pass_at_k() -> None:
    """One answer a case is the pass rate itself."""
    assert {} == pass_at(tallies(compared([row("a")], [row("a")])))


@pytest.mark.parametrize(
    ("base", "head"), [((5, 5), (3, 5)), ((1, 1), (0, 1)), ((0, 5), (5, 5)), ((3, 7), (20, 30)), ((50, 100), (40, 90))]
)
def test_the_probability_of_worse_is_the_integral_of_two_beta_laws(
    base: tuple[int, int], head: tuple[int, int]
) -> None:
    """Jeffreys' laws of both sides, integrated by scipy."""
    old, new = (stats.beta(k + 0.5, n - k + 0.5) for k, n in (base, head))
    reference = quad(lambda p: old.pdf(p) * new.cdf(p), 0, 1, limit=500)[0]

    assert reference == pytest.approx(p_worse(base, head), abs=1e-8)


counted = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counted, counted)
def test_worse_and_better_are_all_there_is(base: tuple[int, int], head: tuple[int, int]) -> None:
    """The two probabilities add up to 1, and equal sides are at a half."""
    assert 1.0 == pytest.approx(p_worse(base, head) + p_worse(head, base), abs=1e-9)
    assert 0.5 == pytest.approx(p_worse(base, base), abs=1e-9)


@pytest.mark.parametrize("trials", [2, 3, 4, 5, 8, 10, 20, 30])
def test_an_unchanged_case_is_called_changed_in_at_most_one_of_twenty_comparisons(trials: int) -> None:
    """Every pair of outcomes, weighed by its chance, for 99 chances of passing."""
    outcomes = range(trials + 1)
    called = np.array(
        [[flake((a, trials), (b, trials)).verdict in ("worse", "better") for b in outcomes] for a in outcomes]
    )
    laws = [stats.binom.pmf(outcomes, trials, p) for p in np.linspace(0.01, 0.99, 99)]

    assert 0.05 >= max(float(law @ called @ law) for law in laws)


@pytest.mark.parametrize(
    ("base", "head", "verdict"),
    [
        ((5, 5), (0, 5), "worse"),
        ((0, 5), (5, 5), "better"),
        ((5, 5), (4, 5), "sampling"),
        ((20, 30), (17, 30), "sampling"),
        ((2, 5), (3, 5), "undecided"),
        ((1, 1), (0, 1), "undecided"),
        ((2, 2), (0, 2), "undecided"),
        ((3, 3), (0, 3), "worse"),
        ((1, 2), (0, 2), "undecided"),
    ],
)
def test_too_few_trials_are_called_too_few(base: tuple[int, int], head: tuple[int, int], verdict: str) -> None:
    """Two trials decide nothing, whatever they say; three do if they are unanimous; five do not where 2 of 5 passed before."""
    assert verdict == flake(base, head).verdict
    assert (verdict == "worse") == (p_worse(base, head) >= SURE)


def test_the_rows_of_a_case_say_what_its_trials_say() -> None:
    """a fell from 5 of 5 to 0, b cannot be decided with two trials, c's grader moved too and is not looked at."""
    base = _trials("a", 5, 5, "1") + _trials("b", 2, 2, "1") + _trials("c", 3, 3, "1")
    head = _trials("a", 0, 5, "2") + _trials("b", 1, 2, "2")
    head += [{**one, "grader_digest": "2", "graders": '{"g":"2"}'} for one in _trials("c", 0, 3, "2")]
    made = compared(base, head)
    found = mark_flakes(made.rows, tallies(made))

    assert [("a", "worse"), ("b", "undecided")] == [(one["case_id"], one["verdict"]) for one in found]
    told = {r.case_id: r.evidence.get("trials", "") for r in made.rows.values()}
    assert told["a"].startswith("5 of 5 → 0 of 5 trials, P(worse) = ") and told["a"].endswith(": changed for the worse")
    assert told["b"].endswith(": cannot be decided with 2 trials")
    assert "" == told["c"]
