"""The paired difference: against scipy's paired t-test, and clusters by hand."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from diff.paired import paired, paired_difference, paired_sentence
from diff.tallies import tallies
from tests.diff.sides import compared, row


def test_without_clusters_it_is_the_paired_t_interval() -> None:
    """The interval and the error are those that scipy computes of the pairs."""
    rng = np.random.default_rng(7)
    base, head = rng.random(30), rng.random(30)
    reference = stats.ttest_rel(head, base)
    interval = reference.confidence_interval(0.95)
    found = paired_difference(head - base, np.arange(30))

    assert (interval.low, interval.high) == pytest.approx((found.low, found.high), abs=1e-12)
    assert stats.sem(head - base) == pytest.approx(found.error, abs=1e-12)
    assert 1.0 == pytest.approx(found.design_effect)


def test_three_cases_of_two_targets_by_hand() -> None:
    """Differences -1 -1, 0 0, 1 1: cluster sums -2, 0, 2; sqrt(3/2 * 8)/6, half that of pairs that stand alone is too little."""
    found = paired_difference(np.array([-1.0, -1, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 2, 2]))

    assert (6, 3, 0.0) == (found.cases, found.clusters, found.mean)
    assert sqrt(12) / 6 == pytest.approx(found.error)
    # plain: sqrt(4 / 30); the variance is 12/36 against 4/30, 2.5 times
    assert 2.5 == pytest.approx(found.design_effect)
    assert 4.302652729911275 * sqrt(12) / 6 == pytest.approx(found.high)  # t with 2 degrees of freedom, 0.975


def test_cases_that_all_change_alike_have_no_interval() -> None:
    """Without a spread nothing tells how far chance would carry the mean."""
    found = paired_difference(np.full(5, -0.1), np.arange(5))

    assert (pytest.approx(-0.1), 0.0, None, None) == (found.mean, found.error, found.low, found.high)
    assert paired_sentence(found).endswith("no interval: no case differs from another")


def test_one_case_or_none_has_no_error() -> None:
    """Fewer than two clusters have no spread."""
    assert (None, None) == (paired_difference(np.array([]), np.array([])).mean, None)
    assert (1.0, None) == (
        (one := paired_difference(np.array([1.0, 1.0]), np.array([3, 3]))).mean,
        one.error,
    )


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(-4, 4)), min_size=2, max_size=30),
    st.integers(-3, 3),
)
def test_what_is_done_to_all_differences_is_done_to_the_interval(items: list[tuple[int, int]], shift: int) -> None:
    """A shift moves it, a sign turns it, and the order of the cases is nothing to it."""
    clusters = np.array([cluster for cluster, _ in items])
    values = np.array([value / 4 for _, value in items])
    plain, moved = paired_difference(values, clusters), paired_difference(values + shift, clusters)
    turned, mixed = paired_difference(-values, clusters), paired_difference(values[::-1], clusters[::-1])

    assert (plain.low is None) == (moved.low is None)
    if plain.low is not None and plain.high is not None:
        assert (plain.low + shift, plain.high + shift) == pytest.approx((moved.low, moved.high), abs=1e-9)
        assert (-plain.high, -plain.low) == pytest.approx((turned.low, turned.high), abs=1e-9)
        assert (plain.low, plain.high) == pytest.approx((mixed.low, mixed.high), abs=1e-9)


def test_the_trials_of_a_case_are_averaged_and_its_targets_are_one_cluster() -> None:
    """Case a: 2 of 2 → 1 of 2 with gpt, 1 → 0 with other; case b: 0 → 1; c lacks a side and is left out."""
    base = [
        row("a"), row("a", trial=1), row("a", target="other"), row("b", found="x"), row("c"),
    ]  # fmt: skip
    head = [
        row("a", answer="2"), row("a", trial=1, answer="2", found="x"), row("a", target="other", answer="2", found="x"),
        row("b", answer="2"),
    ]  # fmt: skip
    counts = tallies(compared(base, head))
    found = paired(counts)

    assert ([2, 1, 1], [1, 0, 1]) == (counts.base.tolist(), counts.head_passed.tolist())
    assert [0, 0, 1] == counts.clusters.tolist()
    assert (3, 2, pytest.approx((-0.5 - 1 + 1) / 3)) == (found.cases, found.clusters, found.mean)


def test_an_interval_ends_where_a_pass_fraction_does() -> None:
    """Three cases, two of them lost: Student's t would go beyond all that there is."""
    base = [row(name) for name in "abc"]
    head = [row("a"), *(row(name, answer="2", found="x") for name in "bc")]

    assert -1.0 == paired(tallies(compared(base, head))).low
