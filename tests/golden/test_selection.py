"""Selections narrow a suite, keep its order, and never match nothing in silence."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.model import Case, Selection, Suite, Target
from golden.suite import select
from snapshots.errors import UsageError

GPT = Target("gpt", "openai", "https://api.example.com")
MINI = Target("mini", "openai", "https://api.example.com")


def suite(*cases: Case) -> Suite:
    here = Path()
    targets = {"gpt": GPT, "mini": MINI}
    return Suite("s", here / "whichclock.toml", here, targets, cases, (), here / "snapshots", here / "results")


SUITE = suite(
    Case("refuse_b", "a:1", prompt="p", targets=("mini", "gpt"), tags=("orders", "slow")),
    Case("refuse_a", "a:2", prompt="p", targets=("gpt",), trials=2),
    Case("greet*", "a:3", prompt="p", targets=("gpt",), tags=("greetings",)),
)


def planned(**members: object) -> list[tuple[str, str, int]]:
    return [(p.case.id, p.target.name, p.trial) for p in select(SUITE, Selection(**members))]  # type: ignore[arg-type]


def test_an_empty_selection_is_everything_in_the_order_of_the_suite() -> None:
    """Cases as files give them, then their targets, then trials."""
    assert [
        ("refuse_b", "mini", 0),
        ("refuse_b", "gpt", 0),
        ("refuse_a", "gpt", 0),
        ("refuse_a", "gpt", 1),
        ("greet*", "gpt", 0),
    ] == planned()


def test_an_exact_id_selects_one_case_and_not_those_it_begins() -> None:
    """Names are never prefixes."""
    assert [("refuse_b", "gpt", 0)] == planned(cases=("refuse_b",), targets=("gpt",))
    with pytest.raises(UsageError):
        planned(cases=("refuse",))


def test_a_glob_selects_every_match_in_the_order_of_the_suite() -> None:
    """Not in the order of the command line."""
    assert ["refuse_b", "refuse_b", "refuse_a", "refuse_a"] == [p[0] for p in planned(cases=("refuse_a", "refuse_*"))]


def test_an_id_that_holds_a_star_is_found_by_its_own_name() -> None:
    """As a glob it matches itself too."""
    assert [("greet*", "gpt", 0)] == planned(cases=("greet*",))


def test_several_tags_mean_any_of_them() -> None:
    """And a tag narrows what the ids leave."""
    assert ["refuse_b", "greet*"] == [p[0] for p in planned(tags=("slow", "greetings"), targets=("gpt",))]


def test_trials_override_the_number_of_every_case() -> None:
    """More or fewer."""
    assert 12 == len(planned(trials=3))


@pytest.mark.parametrize(
    ("members", "message", "hint"),
    [
        ({"cases": ("refuse_c",)}, "no case is called 'refuse_c'", "did you mean 'refuse_b' or 'refuse_a'?"),
        ({"cases": ("x*",)}, "no case matches 'x*'", "there are 'greet*', 'refuse_a', 'refuse_b'"),
        ({"targets": ("gtp",)}, "no target is called 'gtp'", "did you mean 'gpt'?"),
        ({"tags": ("order",)}, "no case has the tag 'order'", "did you mean 'orders'?"),
        ({"trials": 0}, "found 0 trials, expected at least 1", ""),
        (
            {"cases": ("refuse_a",), "targets": ("mini",)},
            "nothing to do: no case has all that was selected",
            "whichclock golden ls shows what there is",
        ),
    ],
)
def test_a_name_that_matches_nothing_is_refused_with_the_nearest(
    members: dict[str, object], message: str, hint: str
) -> None:
    """A typo must not be a passing run."""
    with pytest.raises(UsageError) as caught:
        planned(**members)

    assert (message, hint) == (caught.value.message, caught.value.hint)


@given(st.lists(st.text(min_size=1), min_size=1, unique=True))
def test_every_id_selects_its_own_case(ids: list[str]) -> None:
    """Whatever characters it holds."""
    whole = suite(*(Case(name, "a:1", prompt="p", targets=("gpt",)) for name in ids))

    assert all(name in {p.case.id for p in select(whole, Selection(cases=(name,)))} for name in ids)
