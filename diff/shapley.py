"""Shapley shares, exact: how much each of several moved clocks has of a change, whatever the order in which they moved.

Each player's share is its mean marginal contribution over all orders (Shapley 1953, "A value for n-person games"). Where one player must
come before another, only the orders in which it does count. Shares are fractions and add up to the whole change without a remainder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations

Corner = frozenset[str]
"""The players that stand at their new state; the others stand at the old one."""


def shares(
    players: Sequence[str], value: Callable[[Corner], Fraction], first: tuple[str, str] | None = None
) -> dict[str, Fraction]:
    """Return player → share of ``value(all) - value(none)``.

    Args:
        players: the clocks that moved, at most four.
        value: what a corner comes to; it is asked once for each corner that an order passes.
        first: a pair of players of which the former precedes the latter in every order that counts.
    """
    known: dict[Corner, Fraction] = {}

    def worth(corner: Corner) -> Fraction:
        if corner not in known:
            known[corner] = value(corner)
        return known[corner]

    total = dict.fromkeys(players, Fraction(0))
    orders = [
        order for order in permutations(players) if first is None or order.index(first[0]) < order.index(first[1])
    ]
    for order in orders:
        corner: Corner = frozenset()
        for player in order:
            step = corner | {player}
            total[player] += worth(step) - worth(corner)
            corner = step
    return {player: total[player] / len(orders) for player in players}


def corners(players: Sequence[str], first: tuple[str, str] | None = None) -> list[Corner]:
    """Return every corner that an order passes, the smallest first."""
    found = {frozenset[str]()}
    for order in permutations(players):
        if first is None or order.index(first[0]) < order.index(first[1]):
            found.update(frozenset(order[: i + 1]) for i in range(len(order)))
    return sorted(found, key=lambda corner: (len(corner), sorted(corner)))
