"""Statistics against published values and against scipy's own tests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from diff.statistics import holm, mcnemar, wilson


def test_wilson_of_46_in_50() -> None:
    """Published reference: 46 of 50 gives 0.8116 to 0.9685."""
    rate = wilson(46, 50)

    assert (0.8116, 0.9685) == (round(rate.low or 0, 4), round(rate.high or 0, 4))


def test_mcnemar_of_12_against_3() -> None:
    """Published reference: 12 against 3 gives an exact p of 0.0352."""
    assert 0.0352 == round(mcnemar(12, 3).p or 0, 4)


@pytest.mark.parametrize(("passed", "cases"), [(0, 1), (1, 1), (0, 7), (3, 7), (7, 7), (50, 100), (999, 1000)])
def test_wilson_agrees_with_scipy(passed: int, cases: int) -> None:
    """The interval is the one that scipy computes."""
    reference = binomtest(passed, cases).proportion_ci(method="wilson")
    rate = wilson(passed, cases)

    assert (reference.low, reference.high) == pytest.approx((rate.low, rate.high), abs=1e-12)


@pytest.mark.parametrize(("worse", "better"), [(1, 0), (0, 5), (6, 0), (3, 3), (10, 4), (40, 61)])
def test_mcnemar_agrees_with_scipy(worse: int, better: int) -> None:
    """The exact test is a binomial test of the flips, and its least p that of all flips one way."""
    found = mcnemar(worse, better)

    assert binomtest(min(worse, better), worse + better, 0.5).pvalue == pytest.approx(found.p, abs=1e-12)
    assert binomtest(0, worse + better, 0.5).pvalue == pytest.approx(found.smallest_p, abs=1e-12)


def test_nothing_to_compute_is_said_and_not_made_up() -> None:
    """No case has no rate, no flip has no p."""
    assert (None, None, None) == (wilson(0, 0).low, mcnemar(0, 0).p, mcnemar(0, 0).smallest_p)


def test_holm_of_four_p_values() -> None:
    """By hand: 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1, and none below the one before."""
    assert [0.03, 0.06, 0.06, 0.02] == pytest.approx(holm([0.01, 0.04, 0.03, 0.005]))


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_keeps_the_order_and_never_helps(ps: list[float]) -> None:
    """An adjusted p is at least the plain one and at most n times it, and a smaller p stays no larger."""
    adjusted = holm(ps)

    assert all(p <= a <= 1 for p, a in zip(ps, adjusted, strict=True))
    assert min(ps, default=0) * len(ps) >= min(adjusted, default=0)
    assert sorted(adjusted) == [a for _, a in sorted(zip(ps, adjusted, strict=True))]
    assert len([a for a in adjusted if a <= 0.05]) <= len([p for p in ps if p <= 0.05])
