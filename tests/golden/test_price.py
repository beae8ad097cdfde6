"""What an answer costs by the suite's price sheet, in US dollars for a million tokens; sums by hand."""

from __future__ import annotations

import pytest

from golden.price import Price

PRICE = Price(input=2.0, output=8.0, cached_input=0.5, cache_write=2.5)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ((1_000_000, 0), 2.0),
        ((0, 1_000_000), 8.0),
        ((1_000_000, 500_000), 6.0),
        # 1,000,000 of input: 400,000 read from a cache (0.20), 200,000 written to it (0.50), 400,000 plain (0.80).
        ((1_000_000, 0, 400_000, 200_000), 1.5),
        # More cached than there was: what is plain is not below nothing.
        ((100_000, 0, 200_000), 0.1),
        ((1_000_000, None), 2.0),
        ((None, 5), None),
        ((None, None), None),
    ],
)
def test_the_cost_of_an_answer(tokens: tuple[int | None, ...], expected: float | None) -> None:
    """Cached tokens are part of the input; without a count of the input nobody knows."""
    assert expected == PRICE.cost(*tokens)


def test_a_cache_without_a_price_costs_as_much_as_other_input() -> None:
    """An unset price is no gift."""
    assert 2.0 == Price(input=2.0).cost(1_000_000, 7, 400_000, 200_000)


def test_the_most_that_tokens_cost() -> None:
    """The dearest price of the input for all of it."""
    assert 10.5 == PRICE.most(1_000_000, 1_000_000)
    assert 2.0 == Price(input=2.0).most(1_000_000, 1_000_000)
