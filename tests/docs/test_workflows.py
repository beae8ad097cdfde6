"""The workflows to copy: they parse, hold secrets in one step, and their shell steps do what they say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docs.page import ROOT
from tests.docs.tour import Project
from tests.docs.workflow import WORKFLOWS, load, steps

GH = """\
#!/usr/bin/env bash
# Stands in for GitHub's command: writes down how it was called and what it was given.
printf '%s\\n' "$*" >> "$GH_CALLS"
cat body.md >> "$GH_CALLS"
"""


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_permissions_are_none_but_what_a_job_names(path: Path) -> None:
    """The workflow itself may do nothing; each job says what it needs, and how long it may take."""
    workflow = load(path)

    assert {} == workflow["permissions"]
    assert [] == [name for name, job in workflow["jobs"].items() if {"permissions", "timeout-minutes"} - job.keys()]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_actions_are_pinned_to_a_major_version(path: Path) -> None:
    """No step uses a branch of an action."""
    used = [step["uses"] for step in steps(load(path)) if "uses" in step]

    assert used
    assert [] == [name for name in used if not re.fullmatch(r"actions/[a-z-]+@v[0-9]+", name)]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_a_secret_is_seen_by_the_step_that_captures_and_by_no_job_that_can_write(path: Path) -> None:
    """Secrets stand in the environment of one step, and its job may only read."""
    workflow = load(path)
    with_secrets = {
        (name, step.get("name"))
        for name, job in workflow["jobs"].items()
        for step in job["steps"]
        if "secrets." in str(step)
    }

    assert ({("capture", "Ask")} if path.name == "capture.yml" else set()) == with_secrets
    assert all("write" not in workflow["jobs"][name]["permissions"].values() for name, _ in with_secrets)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_no_shell_step_holds_an_expression(path: Path) -> None:
    """What GitHub fills in reaches a shell as a variable only, so that no name of a branch is run as code."""
    assert [] == [step["run"] for step in steps(load(path)) if "${{" in step.get("run", "")]


def test_the_pull_request_workflow_reports_the_clock_and_fails(recorded: Project) -> None:
    """A grader edited on a branch makes both steps fail with 1, and the report names the grader."""
    recorded.shell("git switch --quiet --create edit")
    recorded.shell("""sed -i 's/"order id" in/"order number" in/' golden/cases/graders.py && git commit -qam Edit""")

    codes = run(recorded, "grade.yml", "judge", BASE="origin/main")

    assert {"Grade": 1, "Diff against the merge base": 1} == codes
    report = (recorded.root / "report.md").read_text("utf-8")
    assert report.startswith("### The clock that moved: grader")
    assert report == (recorded.root.parent / "summary").read_text("utf-8")


def test_the_comment_is_written_once_and_then_edited(recorded: Project, tmp_path: Path) -> None:
    """Without an earlier comment one is posted; its first line is the mark by which it is found again."""
    (recorded.root / "report.md").write_text("### No clock moved.\n", encoding="utf-8")

    run(recorded, "grade.yml", "comment", REPO="example/support", PR="7")

    calls = (tmp_path / "gh-calls").read_text("utf-8")
    assert "--method POST repos/example/support/issues/7/comments --field body=@body.md" in calls
    assert "<!-- whichclock grade -->\n### No clock moved.\n" in calls


def test_the_nightly_workflow_proposes_the_moved_answer(recorded: Project, tmp_path: Path) -> None:
    """The answer that moved stands on a branch of its own, with the diff as the pull request's text."""
    codes = run(recorded, "capture.yml", "capture", OPENAI_API_KEY="sk-test-0123456789")
    outputs = (tmp_path / "outputs").read_text("utf-8")
    artifact = tmp_path / "artifact"
    artifact.mkdir()
    for name in ("snapshots.tar", "report.md"):
        shutil.copy(recorded.root / name, artifact / name)
    recorded.shell(f"git clone --quiet '{tmp_path}/origin' '{tmp_path}/second'")
    second = Project(tmp_path / "second", recorded.server)

    proposed = run(second, "capture.yml", "propose", ARTIFACT=str(artifact), BRANCH="whichclock/capture-1-1")

    added = second.shell("git diff --name-status origin/main whichclock/capture-1-1").stdout.split()
    assert ({0}, {0}, "new=true\n") == (set(codes.values()), set(proposed.values()), outputs)
    assert ["A"] == added[::2]
    assert re.fullmatch(r"snapshots/sha256/da/.*\.json", added[1])
    assert "answer_moved_on_frozen_request" in (tmp_path / "gh-calls").read_text("utf-8")
    assert "whichclock/capture-1-1" in second.shell("git ls-remote --heads origin").stdout


def test_a_night_in_which_nothing_moved_proposes_nothing(recorded: Project, tmp_path: Path) -> None:
    """Without a new file the second job is not started."""
    recorded.shell("whichclock capture --mode live && git add . && git commit -qm Night")

    codes = run(recorded, "capture.yml", "capture", OPENAI_API_KEY="sk-test-0123456789")

    assert ({0}, "new=false\n") == (set(codes.values()), (tmp_path / "outputs").read_text("utf-8"))


def run(project: Project, file: str, job: str, **variables: str) -> dict[str, int]:
    """Run the named shell steps of a job as GitHub does, one after the other, and return their exit codes."""
    folder = project.root.parent
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    (tools / "gh").write_text(GH, encoding="utf-8")
    (tools / "gh").chmod(0o755)
    files = {"GITHUB_STEP_SUMMARY": "summary", "GITHUB_OUTPUT": "outputs", "GH_CALLS": "gh-calls"}
    environment = {
        **project.environment,
        **{name: str(folder / file) for name, file in files.items()},
        **variables,
        "PATH": f"{tools}:{project.environment['PATH']}",
    }
    codes: dict[str, int] = {}
    for step in load(ROOT / "docs" / "workflows" / file)["jobs"][job]["steps"]:
        if "run" in step and "name" in step:
            done = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=project.root, env=environment, check=False)
            codes[step["name"]] = done.returncode
    return codes


@pytest.fixture
def recorded(project: Project, tools: None, tmp_path: Path) -> Project:
    """The README's project, recorded, committed and pushed to a repository beside it."""
    assert os.name == "posix"
    project.shell(f"git init --quiet --bare '{tmp_path}/origin' && git init --quiet && whichclock capture --quiet")
    project.shell(f"git add . && git commit -qm Record && git remote add origin '{tmp_path}/origin'")
    project.shell("git push --quiet --set-upstream origin main")
    return project
