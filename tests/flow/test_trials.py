"""Several trials of one case: evidence of sampling, and known cases that no longer are what they were called."""

from __future__ import annotations

import itertools

from tests.capture.server import say
from tests.flow.conftest import Project


def trials(project: Project, known: str = "") -> None:
    """Make the greeting a case of three trials."""
    project.edit(
        "golden/cases/cases.yaml",
        "checks: [{contains: Ann}]",
        f"checks: [{{contains: Ann}}]\n    trials: 3\n    pass: majority{known}",
    )


def answers(project: Project, *texts: str) -> None:
    """Let the model answer with these texts in turn."""
    turn = itertools.cycle(texts)
    project.server.fallback = lambda _asked: say(next(turn))
    project.edit("whichclock.toml", "retries = 0", "retries = 0\nconcurrency = 1")


def test_trials_that_already_disagreed_are_called_sampling(project: Project) -> None:
    """Another draw of a case that was never unanimous is no drift."""
    trials(project)
    answers(project, "Ann 1", "Bob", "Ann 2")
    project.ok("capture", "greet", "--quiet")
    project.ok("grade", "greet", "--out", "before.parquet")
    project.ok("capture", "greet", "--mode", "live", "--quiet")

    rows = project.diff("before.parquet")
    moved = [row for row in rows.values() if row["move"] == "answer_moved_on_frozen_request"]

    assert [] == [row for row in moved if row["evidence"].get("sampling") != "the trials already disagreed at base"]
    assert {"still_passing"} == {row["verdict_change"] for row in rows.values() if row["case_id"] == "greet"}


def test_the_case_verdict_counts_once_whatever_the_trials(project: Project) -> None:
    """Three trials are evidence; the verdict changes are counted by case."""
    trials(project)
    answers(project, "Ann")
    project.ok("capture", "--quiet")
    project.edit("golden/cases/cases.yaml", "expected: [ok_refusal]", "expected: [ok]")
    project.ok("grade", "--save", "main")
    project.edit("golden/cases/cases.yaml", "contains: Ann", "contains: Bob")

    summary = project.run("diff", "main", "--format", "json").json["summary"]

    assert (4, 1, 1) == (summary["rows"], summary["verdict_changes"]["newly_failing"], summary["mcnemar"]["worse"])
    assert {"expectation_changed_on_frozen_hash": 3, "none": 1} == summary["moves"]


def test_more_trials_are_added_rows_of_the_same_case(project: Project) -> None:
    """Raising the trials is coverage: the case is neither new nor regressed."""
    answers(project, "Ann")
    project.ok("capture", "greet", "--quiet")
    project.ok("grade", "greet", "--out", "before.parquet")
    trials(project)
    project.ok("capture", "greet", "--quiet")
    project.ok("grade", "greet", "--out", "after.parquet")

    rows = project.ok("diff", "before.parquet", "after.parquet", "--format", "json").json

    assert {"newly_failing": 0, "newly_passing": 0, "still_failing": 0, "still_passing": 1, "incomparable": 0} == rows[
        "summary"
    ]["verdict_changes"]


def test_a_flaky_case_that_agrees_in_both_runs_is_stale(project: Project) -> None:
    """known: flaky is a claim, and two unanimous runs speak against it."""
    trials(project, known="\n    known: flaky")
    answers(project, "Ann")
    project.ok("capture", "greet", "--quiet")
    project.ok("grade", "greet", "--out", "before.parquet")

    summary = project.ok("diff", "before.parquet", "before.parquet", "--format", "json").json["summary"]

    assert ["greet"] == summary["stale_known"]


def test_a_known_failure_does_not_gate_and_is_stale_when_it_passes(recorded: Project) -> None:
    """A failing case that is marked counts in neither exit code nor rate; one that passes exits 1."""
    recorded.edit(
        "golden/cases/cases.yaml", "checks: [{contains: Ann}]", "checks: [{contains: Bob}]\n    known: failing"
    )
    recorded.ok("grade", code=0)
    recorded.ok("diff", "main", code=0)

    recorded.edit("golden/cases/cases.yaml", "contains: Bob", "contains: Ann")

    assert "stale: greet" in recorded.ok("grade", code=1).out


def test_cases_that_swap_their_trials_are_not_renamed(project: Project) -> None:
    """Two cases with one request, one losing a trial and one gaining it, are still themselves."""
    same = "cases:\n  - {id: a, prompt: Say Ann, trials: %d}\n  - {id: b, prompt: Say Ann, trials: %d}\n"
    (project.root / "golden/cases/twins.yaml").write_text(same % (2, 1))
    project.ok("capture", "--quiet")
    project.ok("grade", "--save", "main")
    (project.root / "golden/cases/twins.yaml").write_text(same % (1, 2))

    rows = project.diff("main")

    assert ("removed", "added") == (rows["a", 1]["move"], rows["b", 1]["move"])
