"""The edits that a diff names, through the whole command line: what, which clock, how many cases, and which share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.capture.server import ModelServer, say
from tests.flow.conftest import Project

CONFIG = """\
suite = "desk"
cases = ["cases/*.yaml"]
graders = ["graders.py"]

[targets.gpt]
type = "openai"
base_url = "{url}"
endpoint = "openai"
model = "tiny-1"
retries = 0
params = {{ temperature = 0 }}
"""
CASES = """\
cases:
  - {id: bill, prompt: {file: bill.md}, vars: {name: Ann}, graders: [polite], expected: [thanks]}
  - {id: refund, prompt: {file: bill.md}, vars: {name: Ben}, graders: [polite], expected: [thanks]}
  - {id: login, prompt: {file: login.md}, graders: [polite, short], expected: [thanks]}
  - {id: oops, prompt: Say nothing, graders: [polite], expected: []}
  - {id: hello, prompt: Say hello, allowed_tools: [wave, wink], checks: [{length: {max: 400}}]}
"""
GRADERS = """\
from whichclock import grader


@grader
def polite(envelope):
    return {"thanks"} if "thank" in envelope["text"].lower() else set()


@grader
def short(envelope):
    return set() if len(envelope["text"]) < 100 else {"long"}
"""


def answer(asked: Any) -> Any:
    """Thank, but for a bill that is asked for shortly."""
    return say("Done." if "shortly" in asked.prompt and "bill" in asked.prompt else "Thank you.")


@pytest.fixture
def desk(tmp_path: Path, server: ModelServer) -> Project:
    """A suite with two prompt files, recorded and committed."""
    server.fallback = answer
    root = tmp_path / "desk"
    (root / "cases").mkdir(parents=True)
    (root / "whichclock.toml").write_text(CONFIG.format(url=server.url))
    (root / "cases" / "desk.yaml").write_text(CASES)
    (root / "graders.py").write_text(GRADERS)
    (root / "bill.md").write_text("Dear {{ name }}, tell me about the bill.\n")
    (root / "login.md").write_text("How do I log in?\n")
    made = Project(root, server)
    made.ok("capture", "--quiet")
    made.git("init", "--quiet")
    made.git("add", ".")
    made.git("commit", "--quiet", "-m", "Record")
    return made


def edits(project: Project, *, code: int = 1) -> list[tuple[Any, ...]]:
    """Return clock, name, cases, silent cases and share of each edit since the commit."""
    found = project.ok("diff", "git:HEAD", "--format", "json", code=code).json["summary"]["edits"]
    return [(e["clock"], e["name"], e["cases"], e["silent"], e["share"]) for e in found]


def test_each_prompt_file_is_an_edit_with_its_cases_and_share(desk: Project) -> None:
    """Two cases share the file that broke them, one case has the file that broke nothing."""
    (desk.root / "bill.md").write_text("Dear {{ name }}, tell me about the bill, shortly.\n")
    (desk.root / "login.md").write_text("How can I log in?\n")
    desk.ok("capture", "--quiet")

    assert [("request", "bill.md", 2, 0, "-2/5"), ("request", "login.md", 1, 1, "0")] == edits(desk)
    assert "Undo bill.md and all 2 regressions vanish." in desk.ok("diff", "git:HEAD", code=1).out


def test_a_variable_is_not_taken_for_the_prompt_that_it_stands_in(desk: Project) -> None:
    """The file stands still, so it is not accused."""
    desk.edit("cases/desk.yaml", "name: Ann", "name: Cleo")
    desk.ok("capture", "--quiet")

    assert [("request", "vars in cases/desk.yaml", 1, 1, "0")] == edits(desk, code=0)


def test_a_parameter_of_a_target_is_not_looked_for_in_the_cases(desk: Project) -> None:
    """The cases stand still: the name says which target, in which file."""
    desk.edit("whichclock.toml", "temperature = 0", "temperature = 1")
    desk.ok("capture", "--quiet")

    assert [("request", "params (/body/temperature) of target gpt in whichclock.toml", 5, 5, "0")] == edits(
        desk, code=0
    )


def test_a_grader_that_only_shares_the_file_is_silent(desk: Project) -> None:
    """One digest is that of the whole module; the count says where nothing came of it."""
    desk.edit("graders.py", '"thank" in', '"thanks" in')

    assert [
        ("grader", "graders.py:polite", 3, 0, "-1/5"),
        ("grader", "graders.py:polite and graders.py:short", 1, 0, "-1/5"),
    ] == edits(desk)


def test_what_an_undone_edit_would_lose_is_told_with_what_it_would_cure(desk: Project) -> None:
    """One case passes for the slip in the pattern; one that fails has a second grader in the same file, which may be to blame too."""
    desk.edit("graders.py", '"thank" in', '"thanks" in')

    told = (
        "Undo graders.py:polite and 2 of 3 regressions vanish (but 1 passing case would fail); "
        "undo graders.py:polite together with graders.py:short and 3 do (but 1 passing case would fail)."
    )
    assert told in desk.ok("diff", "git:HEAD", code=1).out


def test_a_case_that_two_edits_break_only_together_says_so(desk: Project) -> None:
    """The old grader takes the new answer, and the new grader the old one."""
    desk.server.fallback = lambda _asked: say("Thanks, done.")
    (desk.root / "bill.md").write_text("Dear {{ name }}, tell me about the bill, shortly.\n")
    desk.edit("graders.py", '"thank" in', '"done" not in')
    desk.ok("capture", "--quiet")

    out = desk.ok("diff", "git:HEAD", code=1).out

    assert [
        "bill [gpt]    newly failing  request+grader  through request+model and grader only together; findings -thanks (expected)"
    ] == [line for line in out.splitlines() if line.startswith("bill [gpt]")]


def test_an_expectation_is_told_by_what_came_and_went(desk: Project) -> None:
    """A set is compared as one, a limit is shown before and after, and no chance is talked of."""
    desk.edit("cases/desk.yaml", "allowed_tools: [wave, wink]", "allowed_tools: [wink, nod]")
    desk.edit("cases/desk.yaml", "max: 400", "max: 4")

    out = desk.ok("diff", "git:HEAD", code=1).out

    assert [("expectation", "allowed_tools in cases/desk.yaml and checks in cases/desk.yaml", 1, 0, "-1/5")] == edits(
        desk
    )
    assert "findings +length_out_of_range; allowed_tools +nod -wave, checks/0/length/max 400 → 4" in out
    assert "the same answers were judged again: the difference is exact, and chance has no part in it" in out
    assert "McNemar" not in out


def test_the_reported_model_stands_in_the_name_of_its_answers(desk: Project) -> None:
    """Every answer is told by another model: it is said once, and not in each case."""
    desk.server.fallback = lambda _asked: say("No.", model="tiny-2")
    desk.ok("capture", "--quiet", "--mode", "live")

    out = desk.ok("diff", "git:HEAD", code=1).out

    assert [("model", "the model's new answers (tiny-1 → tiny-2)", 5, 1, "-2/5")] == edits(desk)
    assert "another model is reported in 5 of 5 rows: tiny-1 → tiny-2" in out
    assert 3 == sum("newly failing  model" in line for line in out.splitlines())


def test_a_table_is_as_wide_as_the_terminal(desk: Project) -> None:
    """The last column is shortened to what the others leave it."""
    desk.edit(
        "cases/desk.yaml", "expected: [thanks]}\n  - {id: refund", "expected: [a, b, c, d, e, f]}\n  - {id: refund"
    )

    lines = desk.run("diff", "git:HEAD", env={"COLUMNS": "80"}).out.splitlines()

    assert [True] == [len(line) <= 80 for line in lines if line.startswith("bill [gpt]")]
    assert ["bill [gpt]  newly failing  expectation  expected +a +b +c +d +e +f -thanks"] == [
        line for line in lines if line.startswith("bill [gpt]")
    ]


def test_a_prompt_and_a_variable_that_moved_are_both_named(desk: Project) -> None:
    """Restoring the file alone would not bring the old request back."""
    (desk.root / "bill.md").write_text("Dear {{ name }}, about the bill.\n")
    desk.edit("cases/desk.yaml", "name: Ann", "name: Cleo")
    desk.ok("capture", "--quiet")

    assert [
        ("request", "bill.md", 1, 1, "0"),
        ("request", "bill.md and vars in cases/desk.yaml", 1, 1, "0"),
    ] == edits(desk, code=0)


def test_a_parameter_of_the_target_is_not_the_case_s_although_its_variable_moved(desk: Project) -> None:
    """Each part of a request has a place of its own."""
    desk.edit("cases/desk.yaml", "name: Ann", "name: Cleo")
    desk.edit("whichclock.toml", "temperature = 0", "temperature = 1")
    desk.ok("capture", "--quiet")

    assert (
        "request",
        "vars in cases/desk.yaml and params (/body/temperature) of target gpt in whichclock.toml",
        1,
        1,
        "0",
    ) in edits(desk, code=0)


def test_against_a_saved_run_no_place_is_guessed(desk: Project) -> None:
    """A saved run holds neither cases nor prompts: a parameter may be the target's, a prompt's variable may have moved."""
    desk.ok("grade", "--save", "main", "--quiet", code=1)
    desk.edit("whichclock.toml", "temperature = 0", "temperature = 1")
    (desk.root / "bill.md").write_text("Dear {{ name }}, about the bill.\n")
    desk.ok("capture", "--quiet")

    found = desk.ok("diff", "main", "--format", "json").json["summary"]["edits"]

    assert [
        "bill.md or vars in cases/desk.yaml and params (/body/temperature)",
        "params (/body/temperature)",
    ] == sorted(edit["name"] for edit in found if edit["cases"] == 2 or "bill" not in edit["name"])[:2]


def test_a_module_that_graders_import_is_accused_and_not_the_graders_own_file(desk: Project) -> None:
    """Only the helper was edited."""
    (desk.root / "words.py").write_text('THANKS = "thank"\n')
    desk.edit("graders.py", "from whichclock import grader\n", "from whichclock import grader\nimport words\n")
    desk.edit("graders.py", '"thank" in', "words.THANKS in")
    desk.git("add", ".")
    desk.git("commit", "--quiet", "-m", "Share a word")
    (desk.root / "words.py").write_text('THANKS = "thanks"\n')

    assert "words.py:polite" in {name for _, name, *_ in edits(desk)}


def test_a_removed_trial_is_not_a_removed_case(desk: Project) -> None:
    """The case is on both sides, with other trials."""
    desk.edit("cases/desk.yaml", "prompt: Say hello,", "prompt: Say hello, trials: 2,")
    desk.ok("capture", "--quiet")

    (line,) = [line for line in desk.ok("diff", "git:HEAD").out.splitlines() if line.startswith("hello [gpt]")]

    assert "trials added" in line


def test_a_grader_that_fails_has_found_nothing_that_vanished(desk: Project) -> None:
    """Nobody judged, so no finding is missing."""
    desk.edit("graders.py", 'return {"thanks"} if', 'return {"thanks"}[0] if')

    out = desk.ok("diff", "git:HEAD", code=3).out

    assert "grader_error" in out
    assert "findings -thanks" not in out


def test_an_id_that_looks_like_an_option_can_be_asked_for(desk: Project) -> None:
    """The printed command runs as it stands."""
    desk.edit("cases/desk.yaml", "id: bill", "id: --bill")
    desk.git("commit", "--quiet", "-a", "-m", "Rename")
    desk.edit(
        "cases/desk.yaml",
        "vars: {name: Ann}, graders: [polite], expected: [thanks]",
        "vars: {name: Ann}, expected: [thanks]",
    )

    (line,) = [one for one in desk.ok("diff", "git:HEAD", code=1).out.splitlines() if one.startswith("what exactly")]

    assert "what exactly changed: whichclock why -- --bill git:HEAD" == line
    assert "--bill" in desk.ok("why", "--", "--bill", "git:HEAD").out
