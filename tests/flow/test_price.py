"""What answers cost by the suite's prices: told with the results, and no clock."""

from __future__ import annotations

from tests.flow.conftest import Project

PRICES = '[prices."tiny-1"]\ninput = {}\noutput = 2000000\n\n[targets.gpt]'


def priced(project: Project, dollars: int) -> None:
    """Write a price for the model: so many millions of dollars for a million tokens of input, two for one of output."""
    project.edit("whichclock.toml", "[targets.gpt]", PRICES.format(dollars * 1_000_000))


def costs(project: Project) -> list[float | None]:
    rows = project.run("grade", "--format", "json").json["rows"]
    return [row["cost_usd"] for row in rows]


def test_without_a_price_the_cost_is_not_known(recorded: Project) -> None:
    """Null, not nothing."""
    assert [None, None] == costs(recorded)


def test_the_cost_is_that_of_the_tokens(recorded: Project) -> None:
    """Each answer says 3 tokens in and 2 out: 3 × 1 + 2 × 2."""
    priced(recorded, 1)

    assert [7.0, 7.0] == costs(recorded)


def test_a_changed_price_changes_the_column_and_moves_no_clock(recorded: Project) -> None:
    """3 × 5 + 2 × 2; no verdict depends on it."""
    priced(recorded, 1)
    recorded.ok("grade", "--save", "priced")
    recorded.edit("whichclock.toml", "input = 1000000", "input = 5000000")

    assert [19.0, 19.0] == costs(recorded)
    assert [([], "none"), ([], "none")] == [(row["clocks"], row["move"]) for row in recorded.diff("priced").values()]


def test_an_answer_that_is_missing_cost_nothing_that_is_known(project: Project) -> None:
    """There is no usage to price."""
    priced(project, 1)

    assert [None, None] == costs(project)
