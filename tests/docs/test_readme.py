"""The README is run: its files are written, its commands executed, and its outputs compared."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.docs.page import ROOT, Step, blocks, steps_of
from tests.docs.tour import Project, numbered, still

CONSOLES = [steps_of(block) for block in blocks(ROOT / "README.md") if block.lang == "console"]


def test_every_command_of_the_readme_prints_what_it_shows(project: Project, tools: None) -> None:
    """The tour is executed from its first command to its last; the screen at the top is what its end looks like."""
    screen, *tour = CONSOLES

    printed = [(step.command, _still(project.step(step))) for part in tour for step in part]
    project.publish()
    at_the_end = [(step.command, _still(project.step(step))) for step in screen]

    assert [(step.command, _still(step.shown)) for part in tour for step in part] == printed
    assert [(step.command, _still(step.shown)) for step in screen] == at_the_end


def test_one_commit_has_one_id_on_the_whole_page() -> None:
    """All outputs come from one run: the tour makes one commit, and every output that names it gives the same id."""
    ids = re.findall(r"(?<=\()[0-9a-f]{12}(?=\))", (ROOT / "README.md").read_text("utf-8"))

    assert len(ids) > 1
    assert 1 == len(set(ids))


def test_the_hashes_are_recomputed_with_jq_and_sha256sum(project: Project, tools: None) -> None:
    """The commands of the README give the digests that the snapshots of the worked example state."""
    request, integrity = (step.command for step in _hash_steps() if "sha256sum" in step.command)
    files = sorted((ROOT / "snapshots" / "sha256").glob("*/*.json"))

    loop = f"for FILE in '{ROOT}'/snapshots/sha256/*/*.json; do {request}; {integrity}; done"
    digests = project.shell(loop).stdout.split()[::2]
    given = [digests[i : i + 2] for i in range(0, len(digests), 2)]

    assert files
    assert [_stated(file) for file in files] == given


def test_the_files_of_the_readme_load_without_a_warning(project: Project) -> None:
    """Configuration, cases and grader of the adoption example are accepted."""
    done = project.shell("whichclock golden check --quiet")

    assert (0, "support: 3 cases, 1 target, 3 requests, 1 grader file\n", "") == (
        done.returncode,
        done.stdout,
        done.stderr,
    )


def _hash_steps() -> list[Step]:
    return next(steps for steps in CONSOLES if steps[0].command.startswith("FILE="))


def _stated(file: Path) -> list[str]:
    value = json.loads(file.read_bytes())
    return [value["request_hash"], value["integrity"].removeprefix("sha256:")]


def _still(text: str) -> str:
    return numbered(still(text))
