"""The drift test: against enumeration by hand, against McNemar's, and over whole comparisons."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diff.drift import Drift, drift_sentence, sign_flip_p
from diff.statistics import mcnemar


def _by_hand(changes: list[Fraction]) -> float:
    """Count all sign flips one by one."""
    total = abs(sum(changes))
    flips = [
        sum(s * c for s, c in zip(signs, changes, strict=True))
        for signs in itertools.product((1, -1), repeat=len(changes))
    ]
    return sum(abs(flip) >= total for flip in flips) / len(flips)


def test_no_change_has_no_p() -> None:
    """There is nothing to test."""
    assert (None, None) == (sign_flip_p([]), sign_flip_p([Fraction(0)]))


def test_five_worse_by_a_fifth_each() -> None:
    """All five signs as they are, or all turned: 2 of 32."""
    assert 2 / 32 == sign_flip_p([Fraction(-1, 5)] * 5)


def test_one_large_change_outweighs_two_small_ones() -> None:
    """+1, -1/5, -1/5: the sum 3/5 is reached by +1 with any signs of the others, and by -1 likewise: 8 of 8."""
    assert 1.0 == sign_flip_p([Fraction(1), Fraction(-1, 5), Fraction(-1, 5)])


@given(st.lists(st.fractions(-1, 1, max_denominator=6), min_size=1, max_size=9))
def test_it_is_the_share_of_all_sign_flips(changes: list[Fraction]) -> None:
    """Counting by one large number gives what counting one by one gives."""
    moved = [change for change in changes if change]

    assert (_by_hand(moved) if moved else None) == sign_flip_p(changes)


@pytest.mark.parametrize(("worse", "better"), [(1, 0), (5, 0), (6, 0), (12, 3), (3, 3), (40, 61)])
def test_with_one_trial_it_is_mcnemars(worse: int, better: int) -> None:
    """Whole flips weigh the same, and the test is the binomial one."""
    changes = [Fraction(-1)] * worse + [Fraction(1)] * better

    assert mcnemar(worse, better).p == pytest.approx(sign_flip_p(changes), abs=1e-12)


def test_many_cases_are_counted_by_the_normal_law() -> None:
    """5000 of 9000 changes for the worse: z = 1000 / sqrt(9000) = 10.54, and p is 5.6e-26 by the normal law."""
    p = sign_flip_p([Fraction(-1, 7)] * 5000 + [Fraction(1, 7)] * 4000)

    assert 5.6e-26 == pytest.approx(p, rel=0.02)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (Drift(40, 0, 0, Fraction(0), None, None), "the model: no verdict moved over 40 cases"),
        (
            Drift(40, 2, 1, Fraction(-1, 40), 1.0, 0.25),
            "the model: 2 pass less often, 1 more often, of 40 cases; too few to tell drift from chance (the least p they can reach is 0.25)",
        ),
        (
            Drift(40, 9, 1, Fraction(-1, 5), 0.021484375, 2 / 1024),
            "the model: drift: 9 pass less often, 1 more often, of 40 cases, pass fraction -0.200, sign-flip p = 0.0215",
        ),
        (
            Drift(40, 5, 5, Fraction(0), 1.0, 2 / 1024),
            "the model: no drift: 5 pass less often, 5 more often, of 40 cases, pass fraction +0.000, sign-flip p = 1",
        ),
    ],
)
def test_the_words_claim_no_more_than_the_test(found: Drift, sentence: str) -> None:
    """Drift is said of a suite, with its test, and never where no test could have found it."""
    assert sentence == drift_sentence(found)
