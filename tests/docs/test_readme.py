"""The README is run: its files are written, its commands executed, and its outputs compared."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.docs.conftest import Project, still
from tests.docs.page import ROOT, Step, blocks, session

ALL = blocks(ROOT / "README.md")


def test_every_command_of_the_tour_prints_what_the_readme_shows(project: Project, tools: None) -> None:
    """The tour is executed from its first command to its last; the screen at the top is what its end looks like."""
    screen, *tour = [session(block) for block in ALL if block.lang == "console"]
    project.shell("git init --quiet && git add . && git commit --quiet -m 'Write the cases'")

    shown = [(step.command, _numbered(still(step.shown))) for part in tour for step in part]
    printed = [(step.command, _run(project, step)) for part in tour for step in part]
    project.shell("git update-ref refs/remotes/origin/main HEAD")

    assert shown == printed
    assert [(s.command, still(s.shown)) for s in screen] == [(s.command, _run(project, s)) for s in screen]


def test_the_hashes_are_recomputed_with_jq_and_sha256sum(project: Project, tools: None) -> None:
    """The commands of the README give the digests that every snapshot file of the worked example states."""
    request, integrity = (step.command for step in _hash_steps() if "sha256sum" in step.command)
    files = sorted((ROOT / "snapshots" / "sha256").glob("*/*.json"))

    given = [project.shell(f'FILE="{file}"\n{request}\n{integrity}').stdout.split()[::2] for file in files]

    assert files
    assert [_stated(file) for file in files] == given


def test_the_grader_case_and_configuration_are_what_the_tour_loads(project: Project) -> None:
    """The three files of the adoption example are accepted without a warning."""
    done = project.shell("whichclock golden check --quiet")

    assert (0, "support: 3 cases, 1 target, 3 requests, 1 grader file\n", "") == (
        done.returncode,
        done.stdout,
        done.stderr,
    )


def _hash_steps() -> list[Step]:
    return next(
        steps for steps in (session(b) for b in ALL if b.lang == "console") if steps[0].command.startswith("FILE=")
    )


def _stated(file: Path) -> list[str]:
    value = json.loads(file.read_bytes())
    return [value["request_hash"], value["integrity"].removeprefix("sha256:")]


def _run(project: Project, step: Step) -> str:
    # FILE is set in one command and used in the next ones, as in a shell that a person types into.
    remember = _hash_steps()[0].command.replace(".json |", ".json 2>/dev/null |")
    done = project.shell(f"{remember}\n{step.command}")
    return _numbered(still(done.stdout + done.stderr))


def _numbered(text: str) -> str:
    """Return a text whose integrity digests, which hold a second and so differ from run to run, have one name."""
    return re.sub(r"(?<=sha256:)[0-9a-f]{64}|^[0-9a-f]{64}(?=  -$)", "DIGEST", text, flags=re.MULTILINE)
