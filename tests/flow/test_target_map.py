"""The same cases across two targets, through the whole command line."""

from __future__ import annotations

import pytest

from diff.target_map import mapped, parse
from snapshots.errors import UsageError
from tests.capture.server import say
from tests.diff.sides import row, side
from tests.flow.conftest import Project

CONFIG = """\
suite = "support"
cases = ["cases.yaml"]
[defaults]
targets = ["gpt", "other"]
[targets.gpt]
type = "openai"
base_url = "{url}"
endpoint = "openai"
model = "tiny-1"
[targets.other]
type = "openai"
base_url = "{url}"
endpoint = "openai"
model = "tiny-2"
"""


@pytest.fixture
def suite(project: Project) -> Project:
    """Two cases and two targets; the second target fails the second case."""
    (project.root / "whichclock.toml").write_text(CONFIG.format(url=project.server.url))
    (project.root / "cases.yaml").write_text(
        "cases:\n  - {id: one, prompt: one, checks: [{contains: good}]}\n  - {id: two, prompt: two, checks: [{contains: good}]}\n"
    )
    project.server.fallback = lambda asked: say(
        "bad" if (asked.json["model"], asked.prompt) == ("tiny-2", "two") else "good"
    )
    project.ok("capture", "--quiet")
    project.ok("grade", "--save", "main", "--quiet", code=1)
    return project


def test_a_case_of_one_target_stands_beside_that_of_the_other(suite: Project) -> None:
    """The request moved, by its model; the second case is a regression of request and model."""
    done = suite.ok("diff", "main", "--target-map", "gpt=other", "--format", "json", code=1).json
    rows = {row["case_id"]: row for row in done["rows"]}

    assert {"one", "two"} == set(rows)
    assert {("other", "capture_hash_moved")} == {(row["target"], row["move"]) for row in rows.values()}
    assert [{"pointer": "/body/model", "part": "model"}] == rows["one"]["request_changes"]
    assert ("still_passing", "newly_failing") == (rows["one"]["verdict_change"], rows["two"]["verdict_change"])
    assert {"request+model": "-1"} == rows["two"]["attribution"]


def test_the_report_says_that_two_targets_are_compared(suite: Project) -> None:
    """Another request is what was meant."""
    out = suite.ok("diff", "main", "main", "--target-map", "gpt=other", code=1).out

    assert "note: target gpt of the base is compared with target other of the head" in out


def test_two_targets_may_change_places(suite: Project) -> None:
    """Each stands for the other, and all four rows have one beside them."""
    done = suite.ok(
        "diff", "main", "main", "--target-map", "gpt=other", "--target-map", "other=gpt", "--format", "json", code=1
    ).json

    assert (4, 1, 1) == (
        done["summary"]["rows"],
        done["summary"]["verdict_changes"]["newly_failing"],
        done["summary"]["verdict_changes"]["newly_passing"],
    )
    assert {"base": 4, "head": 4, "compared": 4, "judged": 4, "selected": False} == done["summary"]["statistics"][
        "coverage"
    ]


@pytest.mark.parametrize(
    ("maps", "message"),
    [
        (["gpt"], "does not say BASE=HEAD"),
        (["=other"], "does not say BASE=HEAD"),
        (["gpt=a=b"], "does not say BASE=HEAD"),
        (["gpt=a", "gpt=b"], "names 'gpt' twice"),
        (["gpt=a", "other=a"], "names 'a' twice"),
    ],
)
def test_a_map_that_is_none_is_refused(maps: list[str], message: str) -> None:
    """What it must say, and that nobody stands for two."""
    with pytest.raises(UsageError, match=message):
        parse(maps)


def test_a_target_that_a_side_lacks_is_named(suite: Project) -> None:
    """With those that it has."""
    done = suite.ok("diff", "main", "--target-map", "gpt=nobody", code=2)

    assert "the head has no row of target 'nobody'" in done.err
    assert "its targets: gpt, other" in done.err


def test_without_a_map_nothing_is_changed() -> None:
    """The very sides come back."""
    base, head = side("main", row("a")), side("head", row("a"))

    assert (base, head) == mapped(base, head, {})
