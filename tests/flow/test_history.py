"""The history of a label and the commit of a flip, through the whole command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.capture.server import say
from tests.flow.conftest import Project
from tests.flow.test_attribution import CASES, CONFIG, GRADERS


@pytest.fixture
def runs(project: Project) -> Project:
    """Four runs of a label: as it was, a silent grader edit, another answer that fails, and the same again."""
    for path in (*project.root.rglob("*.toml"), *project.root.rglob("*.yaml"), *project.root.rglob("*.py")):
        path.unlink()
    (project.root / "whichclock.toml").write_text(CONFIG.format(url=project.server.url))
    (project.root / "cases.yaml").write_text(CASES)
    (project.root / "graders.py").write_text(GRADERS.format(limit=20))
    project.server.fallback = lambda asked: say("x" * 10)
    project.git("init", "--quiet")
    project.ok("capture", "--quiet")
    _save(project, "First")
    (project.root / "graders.py").write_text(GRADERS.format(limit=15))
    _save(project, "Stricter")
    project.server.fallback = lambda asked: say("x" * 30)
    project.ok("capture", "--mode", "live", "--quiet")
    _save(project, "Longer")
    (project.root / "notes.txt").write_text("nothing")
    _save(project, "Notes")
    return project


def _save(project: Project, subject: str) -> None:
    project.run("grade", "--save", "nightly", "--quiet")
    project.git(
        "add", "--force", "whichclock.toml", "cases.yaml", "graders.py", "snapshots/sha256", *_notes(project.root)
    )
    project.git("commit", "--quiet", "--allow-empty", "-m", subject)


def _notes(root: Path) -> list[str]:
    return ["notes.txt"] if (root / "notes.txt").exists() else []


def test_a_history_says_when_each_clock_moved(runs: Project) -> None:
    """Four runs, three steps: the grader silently, the model with a flip, nothing."""
    rows = runs.ok("diff", "--history", "nightly", "--format", "json").json["rows"]

    assert [
        ((1, 1), {}, {}),
        ((1, 1), {"request": 0, "model": 0, "grader": 1, "expectation": 0}, {"grader": "0"}),
        ((0, 1), {"request": 0, "model": 1, "grader": 0, "expectation": 0}, {"model": "-1"}),
        ((0, 1), {"request": 0, "model": 0, "grader": 0, "expectation": 0}, {}),
    ] == [((row["passed"], row["cases"]), row["clocks"], row["attribution"]) for row in rows]


def test_a_case_is_bisected_among_runs(runs: Project) -> None:
    """The third run is the first that fails, and the model did it."""
    [row] = runs.ok("diff", "nightly", "--bisect", "a", "--format", "json").json["rows"]
    names = sorted(path.stem for path in (runs.root / "results" / "nightly").glob("*.parquet"))

    assert (names[1], names[2], False, ["model"], {"model": "-1"}) == (
        row["before"],
        row["after"],
        row["passed"],
        row["clocks"],
        row["attribution"],
    )


def test_a_case_is_bisected_among_commits(runs: Project) -> None:
    """The commit that brought the answer is found by halving, and its clock is named."""
    commits = runs.git("log", "--reverse", "--format=%H").split()
    done = runs.ok("diff", f"git:{commits[0]}", "--bisect", "a")

    assert done.out.startswith(f"a fails since {commits[2][:12]} (before: {commits[1][:12]})")
    assert "the clock that moved there: model (answer_moved_on_frozen_request); model -1" in done.out


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["diff"], "diff needs a BASE"),
        (["diff", "--bisect", "a"], "--bisect needs a BASE"),
        (["diff", "--history", "nobody"], "'nobody' names no saved run"),
        (["diff", "nightly", "--bisect", "b"], "no run of nightly has a case 'b'"),
        (["diff", "git:HEAD", "--bisect", "a"], "no commit since then touches the project"),
        (["diff", "git:HEAD~1", "--bisect", "a"], "has the same verdict at"),
    ],
)
def test_what_has_no_answer_says_so(runs: Project, arguments: list[str], what: str) -> None:
    """One message, exit code 2."""
    done = runs.run(*arguments)

    assert 2 == done.code
    assert what in done.err
