"""An exec target whose program was edited: the answer moved, and the diff says which file did."""

from __future__ import annotations

import sys

from tests.flow.conftest import Project

PROGRAM = 'import json, sys\njson.load(sys.stdin)\nprint(json.dumps({{"output": "{word}"}}))\n'


def test_an_edited_program_is_named_beside_the_model_clock(project: Project) -> None:
    """The request is the same and the answer is not; the evidence is the file."""
    (project.root / "whichclock.toml").write_text(
        f'suite = "s"\ncases = ["cases.yaml"]\n[targets.rules]\ntype = "exec"\ncommand = ["{sys.executable}", "rules.py"]\n'
    )
    (project.root / "cases.yaml").write_text("cases:\n  - {id: a, prompt: hi, checks: [{contains: one}]}\n")
    (project.root / "rules.py").write_text(PROGRAM.format(word="one"))
    project.ok("capture", "--quiet")
    project.ok("grade", "--save", "main", "--quiet")
    (project.root / "rules.py").write_text(PROGRAM.format(word="two"))
    project.ok("capture", "--mode", "live", "--quiet")
    row = project.diff("main", code=1)["a", 0]

    assert ("answer_moved_on_frozen_request", ["model"], ["rules.py"]) == (
        row["move"],
        row["clocks"],
        row["evidence"]["program"],
    )
    assert "the program (rules.py)" in project.ok("diff", "main", code=1).out
