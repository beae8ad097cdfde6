"""The shares of a case in words: who did it, alone or together, and what brings the pass back."""

from __future__ import annotations

from fractions import Fraction

import pytest

from diff.attribution import Attribution
from diff.why_shares import share_words

HALF = Fraction(-1, 2)
SAID = {
    "one alone": (
        {"model": 0, "grader": -1},
        [("grader",)],
        "model 0, grader -1; grader alone did it",
    ),
    "one alone to the better": (
        {"model": 1, "grader": 0},
        [],
        "model +1, grader 0; model alone did it",
    ),
    "only together": (
        {"request+model": HALF, "grader": HALF},
        [("request+model",), ("grader",)],
        "request+model -0.5, grader -0.5; only together: undoing either brings the pass back",
    ),
    "only two of three together": (
        {"model": HALF, "grader": HALF, "expectation": 0},
        [("model",), ("grader",)],
        "model -0.5, grader -0.5, expectation 0; only model and grader together: undoing either brings the pass back",
    ),
    "all three together": (
        {"model": Fraction(-1, 3), "grader": Fraction(-1, 3), "expectation": Fraction(-1, 3)},
        [("model",), ("grader",), ("expectation",)],
        "model -0.333, grader -0.333, expectation -0.333; only together: undoing any one brings the pass back",
    ),
    "each alone": (
        {"model": HALF, "grader": HALF},
        [("model", "grader")],
        "model -0.5, grader -0.5; each alone is enough: both must be undone",
    ),
    "both of three": (
        {"model": HALF, "grader": HALF, "expectation": 0},
        [("model", "grader")],
        "model -0.5, grader -0.5, expectation 0; model and grader must both be undone",
    ),
    "both with a control": (
        {"model": HALF, "request": HALF},
        [("model", "request")],
        "model -0.5, request -0.5; model and request must both be undone",
    ),
    "one set of several": (
        {"model": HALF, "grader": Fraction(-1, 4), "expectation": Fraction(-1, 4)},
        [("model", "grader"), ("model", "expectation")],
        "model -0.5, grader -0.25, expectation -0.25; to be undone together: model and grader, or model and expectation",
    ),
    "one cure and two doers": (
        {"model": Fraction(-1, 5), "grader": Fraction(-2, 5)},
        [("grader",)],
        "model -0.2, grader -0.4; undoing grader brings the pass back",
    ),
    "no doer": ({"model": 0, "grader": 0}, [], "model 0, grader 0; the case passes as often as before"),
    "cancelled": ({"model": -1, "grader": 1}, [], "model -1, grader +1; they cancel each other out"),
    "both to the better": ({"model": -HALF, "grader": -HALF}, [], "model +0.5, grader +0.5; each had its part"),
}


@pytest.mark.parametrize(("shares", "cures", "words"), SAID.values(), ids=SAID.keys())
def test_shares_and_cures_are_one_sentence(
    shares: dict[str, Fraction | int], cures: list[tuple[str, ...]], words: str
) -> None:
    """What is said of a verdict comes from the cures, for a share alone does not tell one from the other."""
    exact = {clock: Fraction(share) for clock, share in shares.items()}
    made = Attribution(("a", "gpt"), sum(exact.values(), Fraction(0)), exact, cures=cures)

    assert f"share of the change: {words}" == share_words(made)


def test_shares_that_cannot_be_computed_come_with_the_reason() -> None:
    """Nobody is blamed on a guess."""
    made = Attribution(("a", "gpt"), Fraction(-1), reason="the trials are others")

    assert "share of the change: undetermined, the trials are others" == share_words(made)


def test_one_player_alone_needs_no_sentence() -> None:
    """Its clock is the one that moved."""
    assert share_words(Attribution(("a", "gpt"), Fraction(-1), {"model": Fraction(-1)})) is None
