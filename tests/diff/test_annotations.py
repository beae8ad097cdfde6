"""Annotations of GitHub Actions: where they stand, how many there are, and that no text becomes a command.

The escapes are those of the runner's own toolkit (actions/toolkit, core/src/command.ts): ``%``, CR and LF in a message, and ``:`` and ``,``
in a property too.
"""

from __future__ import annotations

import pytest

from diff.annotations import command, workflow_commands
from tests.diff.sides import HOSTILE, compared, row


def test_a_newly_failing_case_is_an_error_at_its_place() -> None:
    """File, line, what moved and the clock."""
    made = workflow_commands(compared([row("a")], [row("a", answer="2", found="bad")]), {"a": "golden/cases/a.yaml:12"})

    assert (
        "::error file=golden/cases/a.yaml,line=12,title=a [gpt] newly fails::"
        "newly failing (clocks: model)%0Afindings +bad"
    ) == made[0]


@pytest.mark.parametrize(
    ("place", "where"),
    [
        ("a.jsonl:3", "file=a.jsonl,line=3,"),
        ("a.json#/cases/3", "file=a.json,"),
        ("a, b:c.csv:7", "file=a%2C b%3Ac.csv,line=7,"),
        (None, ""),
    ],
)
def test_a_place_is_told_as_far_as_it_is_known(place: str | None, where: str) -> None:
    """Formats without lines give a file; a case that the working tree lacks gives nothing."""
    made = workflow_commands(compared([row("a")], [row("a", answer="2", found="bad")]), {"a": place} if place else {})

    assert made[0].startswith(f"::error {where}title=a [gpt] newly fails::")


def test_there_are_ten_errors_at_most_and_the_rest_is_counted() -> None:
    """The runner shows ten of a step; the notice at the end counts the other two."""
    ids = [f"c{i:02}" for i in range(12)]
    made = workflow_commands(compared([row(i) for i in ids], [row(i, answer="2", found="bad") for i in ids]), {})

    assert 10 == sum(line.startswith("::error ") for line in made)
    assert made[-1] == (
        "::notice title=whichclock diff::The clock that moved: model (12 cases); 12 newly failing, 0 newly passing. "
        "2 more newly failing cases are not annotated."
    )


def test_drift_and_another_model_are_notices() -> None:
    """Twelve of twelve cases got worse, under another model's name."""
    ids = [f"c{i:02}" for i in range(12)]
    base = [row(i, reported_model="tiny-1") for i in ids]
    made = workflow_commands(
        compared(base, [row(i, answer="2", found="bad", reported_model="tiny-2") for i in ids]), {}
    )

    assert "::notice title=another model answers::answers come from tiny-2, which came from tiny-1" in made
    assert any(
        line.startswith("::notice title=drift of the model::the model: drift: 12 pass less often") for line in made
    )


def test_known_cases_and_old_failures_are_no_errors() -> None:
    """They are no regressions."""
    base = [row("known"), row("old", found="bad")]
    made = workflow_commands(
        compared(base, [row("known", answer="2", found="bad", known="flaky"), row("old", found="bad")]), {}
    )

    assert ["notice"] == [line.split()[0].removeprefix("::") for line in made]


def test_what_could_not_be_judged_is_a_warning() -> None:
    """The run ends with 3, and the page of the pull request says why."""
    made = workflow_commands(
        compared([row("a")], [row("a", status="missing_snapshot", case_passed=None, findings=None)]), {}
    )

    assert made[0].startswith("::warning title=not judged::not judged on the head side: 1 row; record what is missing")


def test_escapes_are_the_runners() -> None:
    """A percent sign first, so that no escape is made of a text that looks like one."""
    assert "::error file=a%3Ab%2C%25.py::50%25 of it: a, b%0Anext" == command(
        "error", "50% of it: a, b\nnext", file="a:b,%.py"
    )


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_becomes_a_command_of_its_own(text: str) -> None:
    """An id and a model's name with line ends and commands in them stay within one line of ours."""
    base, head = row(text, reported_model="m"), row(text, answer="2", found="bad", reported_model=text)
    made = workflow_commands(compared([base], [head]), {text: f"{text}.yaml:1"})

    assert 3 == len(made)
    assert all(line.startswith(("::error ", "::notice ")) for line in made)
    assert [[line] for line in made] == [line.splitlines() for line in made]
    assert "\x1b" not in "".join(made)
