"""The workflows to copy: they parse, hold secrets in one step, and their shell steps do what they say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.capture.server import say_json
from tests.docs.page import ROOT
from tests.docs.tour import Project
from tests.docs.workflow import WORKFLOWS, load, steps

BRANCH = "whichclock/capture/main"
GH = """\
#!/usr/bin/env bash
# Stands in for GitHub's command: writes down how it was called and what it was given, and knows of the pull request GH_OPEN.
printf '%s\\n' "$*" >> "$GH_CALLS"
for argument in "$@"; do
  case "$argument" in body=@*) cat "${argument#body=@}" >> "$GH_CALLS" ;; esac
done
case "$*" in *"--method GET"*) printf '%s' "$GH_OPEN" ;; esac
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
    report = (recorded.root.parent / "runner" / "report.md").read_text("utf-8")
    assert report.startswith("### The clock that moved: grader")
    assert report == (recorded.root.parent / "summary").read_text("utf-8")


def test_the_comment_is_written_once_and_then_edited(recorded: Project, tmp_path: Path) -> None:
    """Without an earlier comment one is posted; its first line is the mark by which it is found again."""
    (recorded.root / "report.md").write_text("### No clock moved.\n", encoding="utf-8")

    run(recorded, "grade.yml", "comment", REPO="example/support", PR="7")

    calls = (tmp_path / "gh-calls").read_text("utf-8")
    assert "--method POST repos/example/support/issues/7/comments --field body=@body.md" in calls
    assert "<!-- whichclock grade -->\n### No clock moved.\n" in calls


@pytest.mark.parametrize("folder", [".", "evaluation/support"])
def test_the_nightly_workflow_proposes_the_moved_answer(recorded: Project, tmp_path: Path, folder: str) -> None:
    """The answer that moved stands on the branch, below the project's folder, with the diff as the pull request's text."""
    move_into(recorded, folder)

    codes = run(recorded, "capture.yml", "capture", folder, OPENAI_API_KEY="sk-test-0123456789")
    second, proposed = propose(recorded, tmp_path, folder)

    added = second.shell(f"git diff --name-status origin/main {BRANCH}").stdout.split()
    calls = (tmp_path / "gh-calls").read_text("utf-8")
    assert ({0}, {0}, "new=true\n") == (set(codes.values()), set(proposed.values()), told(tmp_path))
    assert ["A"] == added[::2]
    assert re.fullmatch(rf"{'' if folder == '.' else folder + '/'}snapshots/sha256/da/.*\.json", added[1])
    assert (
        "--method POST repos/example/support/pulls --raw-field title=Model answers: 1 moved --raw-field head=" in calls
    )
    assert "| newly failing | model | findings" in calls
    assert BRANCH in second.shell("git ls-remote --heads origin").stdout


def test_the_next_night_brings_the_open_pull_request_up_to_date(recorded: Project, tmp_path: Path) -> None:
    """There is one branch and one pull request, however many nights pass: the branch holds what the last one found."""
    for night in ("first", "second"):
        (tmp_path / night).mkdir()
        run(recorded, "capture.yml", "capture", OPENAI_API_KEY="sk-test-0123456789")
        second, proposed = propose(recorded, tmp_path / night, number="" if night == "first" else "7")
        assert {0} == set(proposed.values())
        recorded.shell("git clean --quiet --force -d snapshots && sleep 1.1")

    heads = second.shell("git ls-remote --heads origin").stdout.splitlines()
    calls = (tmp_path / "gh-calls").read_text("utf-8")
    assert [f"refs/heads/{name}" for name in ("main", BRANCH)] == [line.split()[1] for line in heads]
    assert 1 == len(second.shell(f"git diff --name-only origin/main {BRANCH}").stdout.splitlines())
    assert 1 == calls.count("--method POST repos/example/support/pulls ")
    assert 1 == calls.count("--method PATCH repos/example/support/pulls/7 --raw-field title=Model answers: 1 moved ")


@pytest.mark.parametrize(
    ("before", "title"),
    [
        pytest.param(
            "git rm --quiet -r snapshots/sha256/a7 && git commit -qm Forget",
            "Model answers: 1 moved, 1 recorded for the first time",
            id="moved and recorded",
        ),
        pytest.param(
            "whichclock capture --mode live && git rm --quiet -r --force snapshots/sha256/a7 && git add . && git commit -qm Night",
            "Model answers: 1 recorded for the first time",
            id="only recorded",
        ),
    ],
)
def test_the_title_says_whether_answers_moved_or_were_recorded(
    recorded: Project, tmp_path: Path, before: str, title: str
) -> None:
    """A new case is no news about the model, and the title does not say that it were."""
    recorded.shell(before)

    run(recorded, "capture.yml", "capture", OPENAI_API_KEY="sk-test-0123456789")

    assert title == (tmp_path / "runner" / "capture" / "title").read_text("utf-8").strip()


def test_a_model_of_another_name_that_answers_the_same_is_told_as_that(recorded: Project, tmp_path: Path) -> None:
    """Nothing moved and nothing is new, yet the provider reports another model: the title says just this."""
    recorded.shell("whichclock capture --mode live && git add . && git commit -qm Night")
    script: Any = recorded.server.fallback
    script.model = "gpt-4.1-mini-2026-11-01"

    run(recorded, "capture.yml", "capture", OPENAI_API_KEY="sk-test-0123456789")

    title = (tmp_path / "runner" / "capture" / "title").read_text("utf-8")
    assert "Model answers: the same, from another reported model\n" == title


def test_a_night_without_a_comparison_does_not_say_that_nothing_moved(recorded: Project, tmp_path: Path) -> None:
    """Where diff ends before any row, the title sends the reader to the log."""
    broken = recorded.root.parent / "runner" / "capture"
    broken.mkdir(parents=True)
    (broken / "capture.json").touch()
    (broken / "diff.json").touch()

    run(recorded, "capture.yml", "capture", only=("Pack the new snapshots",))

    assert "Model answers, not compared: see the log of the run\n" == (broken / "title").read_text("utf-8")


def test_a_night_in_which_nothing_moved_proposes_nothing(recorded: Project, tmp_path: Path) -> None:
    """Without a new file the second job is not started."""
    recorded.shell("whichclock capture --mode live && git add . && git commit -qm Night")

    codes = run(recorded, "capture.yml", "capture", OPENAI_API_KEY="sk-test-0123456789")

    assert ({0}, "new=false\n") == (set(codes.values()), told(tmp_path))


def test_a_night_whose_answers_move_no_verdict_proposes_nothing(recorded: Project, tmp_path: Path) -> None:
    """Another wording that passes too is nothing to act on: no pull request, and the summary of the run says so."""
    script: Any = recorded.server.fallback
    recorded.server.fallback = lambda asked: _reworded(script(asked))

    codes = run(recorded, "capture.yml", "capture", OPENAI_API_KEY="sk-test-0123456789")

    assert ({0}, "new=false\n") == (set(codes.values()), told(tmp_path))
    assert "New answers, and nothing to act on" in (tmp_path / "summary").read_text("utf-8")
    with tarfile.open(tmp_path / "runner" / "capture" / "snapshots.tar") as packed:
        assert 1 == len(packed.getnames())


def _reworded(reply: Any) -> Any:
    """Return a reply that greets Ann by name again, with a word more."""
    body = json.loads(reply.body)
    message = body["choices"][0]["message"]
    message["content"] = "A very good morning, Ann!" if message["content"].startswith("Good") else message["content"]
    return say_json(body)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_what_is_installed_is_named_by_owner_and_commit(path: Path) -> None:
    """No workflow installs by a name that anybody can register."""
    assert "git+https://github.com/OWNER/whichclock@COMMIT" == load(path)["env"]["WHICHCLOCK"]


def move_into(project: Project, folder: str) -> None:
    """Move the project into a folder of its repository."""
    if folder != ".":
        moved = f"mkdir -p '{folder}' && git mv golden snapshots whichclock.toml '{folder}' && git commit -qm Move && git push -q"
        assert 0 == project.shell(moved).returncode


def propose(project: Project, folder: Path, inside: str = ".", *, number: str = "") -> tuple[Project, dict[str, int]]:
    """Run the second job in a clone of its own, with the artifact of the first, and return both."""
    runner = project.root.parent / "runner"
    project.shell(f"git clone --quiet ../origin '{folder}/second'")
    second = Project(folder / "second", project.server)
    artifact = folder / "runner" / "capture"
    if artifact != runner / "capture":
        shutil.copytree(runner / "capture", artifact)
        shutil.rmtree(runner)
    project.shell(f"cp ../gitconfig '{folder}' 2>/dev/null")
    calls = str(project.root.parent / "gh-calls")
    codes = run(
        second, "capture.yml", "propose", inside, REPO="example/support", BASE="main", GH_OPEN=number, GH_CALLS=calls
    )
    return second, codes


def told(folder: Path) -> str:
    """Return the outputs of the steps."""
    return (folder / "outputs").read_text("utf-8")


def run(
    project: Project, file: str, job: str, inside: str = ".", *, only: tuple[str, ...] = (), **variables: str
) -> dict[str, int]:
    """Run the named shell steps of a job as GitHub does, one after the other, and return their exit codes.

    Args:
        project: the repository that is checked out.
        file: the workflow.
        job: the job of it.
        inside: the project's folder in the repository, as it is written at the top of the workflow.
        only: the steps to run; all that have a name, if there are none.
        variables: what GitHub, or the step, sets.
    """
    folder = project.root.parent
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    (folder / "runner").mkdir(exist_ok=True)
    (tools / "gh").write_text(GH, encoding="utf-8")
    (tools / "gh").chmod(0o755)
    workflow = load(ROOT / "docs" / "workflows" / file)
    assert "." == workflow["env"]["PROJECT"]
    files = {
        "GITHUB_STEP_SUMMARY": "summary",
        "GITHUB_OUTPUT": "outputs",
        "GH_CALLS": "gh-calls",
        "RUNNER_TEMP": "runner",
    }
    environment = {
        **project.environment,
        **workflow["env"],
        "GH_OPEN": "",
        **{name: str(folder / file) for name, file in files.items()},
        **variables,
        "PATH": f"{tools}:{project.environment['PATH']}",
    }
    steps = [step for step in workflow["jobs"][job]["steps"] if "run" in step and "name" in step]
    cwd = project.root / inside if "defaults" in workflow["jobs"][job] else project.root
    return {
        step["name"]: subprocess.run(
            ["bash", "-e", "-c", step["run"]], cwd=cwd, env=environment, check=False
        ).returncode
        for step in steps
        if not only or step["name"] in only
    }


@pytest.fixture
def recorded(project: Project, tools: None, tmp_path: Path) -> Project:
    """The README's project, recorded, committed and pushed to a repository beside it."""
    assert os.name == "posix"
    project.shell(f"git init --quiet --bare '{tmp_path}/origin' && git init --quiet && whichclock capture --quiet")
    project.shell(f"git add . && git commit -qm Record && git remote add origin '{tmp_path}/origin'")
    project.shell("git push --quiet --set-upstream origin main")
    return project
