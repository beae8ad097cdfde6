"""Variables in the command of a program: what they lead to is looked at, and their values stand nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from capture.run import Mode
from golden import program
from tests.capture.conftest import Project, outcomes
from tests.capture.processes import PYTHON


@pytest.fixture
def tool(project: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program in a folder that only a variable leads to."""
    folder = tmp_path_factory.mktemp("home-of-alice")
    (folder / "sut.py").write_text('print(\'{"output": "A"}\')\n')
    command = json.dumps([*PYTHON, "{{ env.TOOLDIR }}/sut.py"])
    (project.root / "whichclock.toml").write_text(
        f'suite = "s"\ncases = ["cases.jsonl"]\n[targets.sut]\ntype = "exec"\ncommand = {command}\n'
    )
    return folder


def test_a_file_is_named_by_the_variable_that_leads_to_it(
    project: Project, tool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its digest is kept, its folder is not; a replay compares it, and needs no variable."""
    monkeypatch.setenv("TOOLDIR", str(tool))
    first = project.capture(environ={"TOOLDIR": str(tool)})
    stored = json.loads(project.files()[0].read_bytes())["response"]["program"]
    same = project.capture(Mode.REPLAY)
    (tool / "sut.py").write_text('print(\'{"output": "B"}\')\n')
    other = project.capture(Mode.REPLAY)
    monkeypatch.delenv("TOOLDIR")
    unset = project.capture(Mode.REPLAY)

    assert "recorded" == outcomes(first)[0]
    assert "${env:TOOLDIR}/sut.py" in stored
    assert str(tool).encode() not in project.everything_written()
    assert ((), 1, ()) == (same.warnings, len(other.warnings), unset.warnings)
    assert "${env:TOOLDIR}/sut.py is another file" in other.warnings[0]
    assert str(tool) not in other.warnings[0]


def test_files_without_a_variable_are_compared_as_before() -> None:
    """One that is gone has moved; one that a variable led to may only be out of sight."""
    recorded = {"a.py": "sha256:1", "${env:X}/b.py": "sha256:2"}

    assert ["a.py"] == program.moved(recorded, {})
    assert ["${env:X}/b.py", "a.py"] == program.moved(recorded, {"${env:X}/b.py": "sha256:3", "a.py": "sha256:9"})
