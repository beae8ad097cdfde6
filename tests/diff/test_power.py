"""How many cases a change takes: the published formula by hand, its inverse, and where the spread comes from."""

from __future__ import annotations

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from diff.power import Spread, detectable_effect, power, power_of, power_sentence, required_cases, spread_of
from diff.tallies import tallies
from tests.diff.sides import compared, row


def test_three_points_by_hand() -> None:
    """ω² = 1/9: (1.95996 + 0.84162)² / 9 / 0.03² is 968.997; with σ² = 1/6 on both sides and one trial it is four times that."""
    assert 969 == required_cases(0.03, Spread(1 / 9))
    assert ceil((norm.isf(0.025) + norm.ppf(0.8)) ** 2 * (1 / 9 + 1 / 3) / 0.03**2) == 3876
    assert 3876 == required_cases(0.03, Spread(1 / 9, 1 / 6, 1 / 6))


def test_more_trials_take_fewer_cases() -> None:
    """Ten trials leave a tenth of what is within cases: 4/9 becomes 1/9 + 1/30."""
    spread = Spread(1 / 9, 1 / 6, 1 / 6)

    assert 1 / 9 + 1 / 30 == pytest.approx(spread.with_trials(10).variance)
    assert required_cases(0.03, spread.with_trials(10)) < required_cases(0.03, spread) / 3


@given(st.floats(0.01, 0.5), st.floats(0.001, 1), st.floats(0, 0.25), st.integers(1, 20))
def test_the_effect_is_the_inverse_of_the_cases(effect: float, between: float, within: float, trials: int) -> None:
    """So many cases show the effect, and one case less would not; the power at it is the one that was asked for."""
    spread = Spread(between, within, within, trials, trials)
    cases = required_cases(effect, spread)

    assert detectable_effect(cases, spread) <= effect * (1 + 1e-9)
    assert cases == 2 or detectable_effect(cases - 1, spread) > effect * (1 - 1e-9)
    assert pytest.approx(0.8) == power_of(cases, detectable_effect(cases, spread), spread)


def test_with_one_trial_the_spread_is_not_taken_apart() -> None:
    """Differences -1, 0, 0, 0 have the variance 1/4."""
    base = [row(name) for name in "abcd"]
    head = [row("a", answer="2", found="x"), *(row(name) for name in "bcd")]
    spread = spread_of(tallies(compared(base, head)))

    assert spread is not None
    assert (0.25, 0.0, 0.0) == (spread.between, spread.within_base, spread.within_head)


def test_with_trials_the_noise_within_cases_is_taken_off() -> None:
    """Both cases pass one of two trials at base, both or none at head: the within variance of the base is ½, of the head 0."""
    base = [row(name, trial=trial, found="x" * trial) for name in "ab" for trial in (0, 1)]
    head = [row("a", trial=trial, answer="2") for trial in (0, 1)]
    head += [row("b", trial=trial, answer="2", found="x") for trial in (0, 1)]
    spread = spread_of(tallies(compared(base, head)))

    assert spread is not None
    # differences ½ and -½: variance ½; less ½ / 2
    assert (0.5, 0.0, 0.25) == (spread.within_base, spread.within_head, pytest.approx(spread.between))


def test_cases_that_do_not_differ_tell_nothing_of_power() -> None:
    """No change anywhere: how large it would have had to be is not known."""
    found = power(tallies(compared([row("a"), row("b")], [row("a"), row("b")])))

    assert (2, None, {}) == (found.cases, found.effect, found.needed)
    assert "is not known" in power_sentence(found)


def test_the_words_say_how_many_cases_are_needed() -> None:
    """Two of four cases flipped, one each way: variance 2/3, so 2,094 cases for five points."""
    base = [row("a"), row("b", found="x"), row("c"), row("d")]
    head = [row("a", answer="2", found="x"), row("b", answer="2"), row("c"), row("d")]
    found = power(tallies(compared(base, head)))

    assert ceil((norm.isf(0.025) + norm.ppf(0.8)) ** 2 * (2 / 3) / 0.05**2) == found.needed[5]
    assert "one of 5 points needs 2,094 cases" in power_sentence(found)
