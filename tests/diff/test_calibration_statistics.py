"""Promises kept in simulation: false alarms, power, and the test that is looked at every night. Seeded."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from benchmarks import aa_draw
from diff.drift import sign_flip_p
from diff.flips import Rate, flips_test
from diff.paired import paired_difference
from diff.power import Spread, detectable_effect, required_cases
from diff.sequence import walk

pytestmark = pytest.mark.slow
LEVEL = 0.05
RECORDED = Path(__file__).parents[3] / "aa"


def most(level: float, count: int) -> float:
    """Return the share that two standard errors beyond a level allow."""
    return level + 2 * sqrt(level * (1 - level) / count)


def passes(chances: np.ndarray, trials: int, dice: np.random.Generator) -> np.ndarray:
    """Return how many of a case's trials pass."""
    return dice.binomial(trials, chances)


@pytest.mark.parametrize("trials", [1, 5])
def test_equal_runs_raise_few_alarms(trials: int) -> None:
    """600 pairs of runs of 40 cases whose chances of passing are all over: at most one of twenty is called drift."""
    dice = np.random.default_rng(11)
    chances = dice.beta(0.8, 0.5, 40)
    fired = 0
    for _ in range(600):
        steps = passes(chances, trials, dice) - passes(chances, trials, dice)
        p = sign_flip_p([Fraction(int(step), trials) for step in steps])
        fired += p is not None and p <= LEVEL

    assert most(LEVEL, 600) >= fired / 600


def test_the_interval_holds_the_change_as_often_as_it_says() -> None:
    """2,000 suites of 30 cases with two targets that share what a case does: 95 % by case, where intervals by pair hold far fewer."""
    dice = np.random.default_rng(12)
    clusters = np.repeat(np.arange(30), 2)
    held = plain = 0
    for _ in range(2000):
        own = dice.normal(0.1, 0.3, 30)[clusters] + dice.normal(0, 0.1, 60)
        by_case, by_pair = paired_difference(own, clusters), paired_difference(own, np.arange(60))
        held += (by_case.low or 0) <= 0.1 <= (by_case.high or 0)
        plain += (by_pair.low or 0) <= 0.1 <= (by_pair.high or 0)

    assert 2 * sqrt(0.95 * 0.05 / 2000) >= abs(held / 2000 - 0.95)
    assert 0.9 > plain / 2000


def test_the_power_is_the_one_that_the_formula_promises() -> None:
    """Cases drawn anew, four trials of each side: so many cases as the formula wants see the change in four of five runs."""
    dice = np.random.default_rng(13)
    # The chance of passing is even in 0.3 to 0.7, and rises by 0.02 to 0.14, even.
    effect, trials, between = 0.08, 4, 0.12**2 / 12
    base = 0.25 - 0.4**2 / 12
    head = 0.5 + effect - ((0.5 + effect) ** 2 + 0.4**2 / 12 + between)
    spread = Spread(between, base, head, trials, trials)
    cases = required_cases(effect, spread)
    seen = 0
    for _ in range(2000):
        old = dice.uniform(0.3, 0.7, cases)
        new = old + dice.uniform(0.02, 0.14, cases)
        differences = (passes(new, trials, dice) - passes(old, trials, dice)) / trials
        found = paired_difference(differences, np.arange(cases))
        seen += (found.low or 0) > 0

    assert effect >= detectable_effect(cases, spread)
    assert 3 * sqrt(0.8 * 0.2 / 2000) >= abs(seen / 2000 - 0.8)


@pytest.mark.parametrize("rate", [0.02, 0.1])
def test_flips_that_sampling_explains_are_not_called_more(rate: float) -> None:
    """2,000 comparisons of 100 cases: the set rate and the counted one, from 300 cases, both keep their level."""
    dice = np.random.default_rng(14)
    flips, before = dice.binomial(100, rate, 2000), dice.binomial(300, rate, 2000)
    set_rate = sum(flips_test(int(n), 100, Rate(rate)).fires for n in flips)
    counted = sum(flips_test(int(n), 100, Rate(m / 300, int(m), 300)).fires for n, m in zip(flips, before, strict=True))

    assert most(LEVEL, 2000) >= set_rate / 2000
    assert most(LEVEL, 2000) >= counted / 2000


def _nights(chances: np.ndarray, dice: np.random.Generator, nights: int = 60) -> Iterator[tuple[int, int]]:
    """Yield the turns from night to night of cases that pass with these chances."""
    before = dice.random(len(chances)) < chances
    for _ in range(nights):
        after = dice.random(len(chances)) < chances
        yield int((before & ~after).sum()), int((~before & after).sum())
        before = after


@pytest.mark.parametrize("chance", [0.5, 0.9, 0.99])
def test_sixty_nights_of_an_unchanged_suite_raise_few_alarms(chance: float) -> None:
    """1,000 suites of 50 cases that waver: at most one of twenty ever fires."""
    dice = np.random.default_rng(15)
    fired = sum(walk(_nights(np.full(50, chance), dice)).fires for _ in range(1000))

    assert LEVEL >= fired / 1000


def test_sixty_nights_of_turns_by_coin_raise_few_alarms() -> None:
    """The law that the test is made for: 2,000 suites with about ten turns a night, each by a coin."""
    dice = np.random.default_rng(16)
    fired = 0
    for _ in range(2000):
        turned = dice.binomial(100, 0.1, 60)
        worse = dice.binomial(turned, 0.5)
        fired += walk((int(b), int(n - b)) for b, n in zip(worse, turned, strict=True)).fires

    assert LEVEL >= fired / 2000


def test_a_test_that_is_looked_at_every_night_would_not_hold() -> None:
    """Why it is needed: McNemar's test of the same turns, looked at for sixty nights, cries in more than one suite of four."""
    dice = np.random.default_rng(17)
    fired = 0
    for _ in range(400):
        turned = np.cumsum(dice.binomial(100, 0.1, 60))
        worse = np.cumsum(dice.binomial(np.diff(turned, prepend=0), 0.5))
        fired += bool((2 * stats.binom.cdf(np.minimum(worse, turned - worse), turned, 0.5) <= LEVEL).any())

    assert 0.25 < fired / 400


@pytest.fixture(scope="module")
def recorded() -> aa_draw.Pools:
    """Answers of the real model, recorded beside the repository."""
    if not all((RECORDED / f"{name}.parquet").is_file() for name in ("warm", "cool")):
        pytest.skip("no answers are recorded: python -m benchmarks.aa ../aa --minutes 15")
    return aa_draw.pools(RECORDED)


def test_equal_runs_of_a_real_model_raise_few_alarms(recorded: aa_draw.Pools) -> None:
    """Of 200 pairs at most 18: more would happen by chance in one of 170 such experiments."""
    assert aa_draw.MOST_FALSE >= sum(aa_draw.equal_pairs(recorded, random.Random(aa_draw.SEED)))


def test_a_shift_of_a_real_model_is_seen_as_often_as_promised(recorded: aa_draw.Pools) -> None:
    """Three of ten answers come from another temperature; the sign-flip test has ten points less than the normal law at most."""
    _, power = aa_draw.promised(recorded, 40, 0.3)
    fired = sum(aa_draw.shifted_pairs(recorded, random.Random(aa_draw.SEED), 40, 0.3)) / aa_draw.PAIRS

    assert power - 0.1 <= fired <= power + 0.1
