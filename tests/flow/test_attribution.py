"""How much of a change each clock has: planted causes, through the whole command line."""

from __future__ import annotations

import pytest

from tests.capture.server import Asked, Say, say
from tests.flow.conftest import Project

CONFIG = """\
suite = "s"
cases = ["cases.yaml"]
graders = ["graders.py"]
[targets.gpt]
type = "openai"
base_url = "{url}"
endpoint = "e"
model = "m"
"""
CASES = """\
cases:
  - id: a
    prompt: "one"
    graders: [long]
"""
GRADERS = """\
from whichclock import grader


@grader
def long(envelope):
    return {{"long"}} if len(envelope["text"]) > {limit} else set()
"""


@pytest.fixture
def base(project: Project) -> Project:
    """One case: an answer of 10 characters, a limit of 20, nothing expected: it passes."""
    for path in (*project.root.rglob("*.toml"), *project.root.rglob("*.yaml"), *project.root.rglob("*.py")):
        path.unlink()
    (project.root / "whichclock.toml").write_text(CONFIG.format(url=project.server.url))
    (project.root / "cases.yaml").write_text(CASES)
    (project.root / "graders.py").write_text(GRADERS.format(limit=20))
    answer(project, 10)
    project.ok("capture", "--quiet")
    project.ok("grade", "--save", "main", "--quiet")
    return project


def answer(project: Project, length: int) -> None:
    """Let the model answer with so many characters."""
    project.server.fallback = lambda asked: say("x" * length)


def ask_again(project: Project, length: int) -> None:
    """Move the model clock."""
    answer(project, length)
    project.ok("capture", "--mode", "live", "--quiet")


def limit(project: Project, characters: int) -> None:
    """Move the grader clock."""
    (project.root / "graders.py").write_text(GRADERS.format(limit=characters))


def expect(project: Project, codes: str) -> None:
    """Move the expectation clock."""
    project.edit("cases.yaml", "graders: [long]", f"graders: [long]\n    expected: [{codes}]")


def edit_prompt(project: Project, length: int) -> None:
    """Move the request clock; the model answers the new prompt with so many characters."""
    project.edit("cases.yaml", '"one"', '"two"')
    answer(project, length)
    project.ok("capture", "--quiet")


def shares(project: Project, code: int = 1) -> dict[str, str]:
    """Return the attribution of the one row, which is the suite's too."""
    done = project.ok("diff", "main", "--format", "json", code=code)
    [row] = done.json["rows"]
    assert row["attribution"] == done.json["summary"]["attribution"]
    return row["attribution"]


def test_one_clock_has_all_of_it(base: Project) -> None:
    """A stricter grader: pass to fail."""
    limit(base, 5)

    assert {"grader": "-1"} == shares(base)


def test_of_two_clocks_the_one_that_turned_it_has_all(base: Project) -> None:
    """The answer moved from 10 to 12 characters, which no limit minds; the grader's limit went to 5."""
    ask_again(base, 12)
    limit(base, 5)

    assert {"model": "0", "grader": "-1"} == shares(base)


def test_two_clocks_that_turn_it_only_together_have_half_each(base: Project) -> None:
    """10 characters pass a limit of 15, 18 pass one of 20; 18 do not pass one of 15."""
    ask_again(base, 18)
    limit(base, 15)

    assert {"model": "-1/2", "grader": "-1/2"} == shares(base)


def test_two_clocks_each_of_which_would_have_turned_it_have_half_each(base: Project) -> None:
    """30 characters fail any limit, and a limit of 5 fails any answer."""
    ask_again(base, 30)
    limit(base, 5)

    assert {"model": "-1/2", "grader": "-1/2"} == shares(base)


def test_changes_that_cancel_are_told(base: Project) -> None:
    """A longer answer fails and an expectation that wants it long cures it: no verdict changed, and both had a part."""
    ask_again(base, 30)
    expect(base, "long")

    # Corners: only the answer: fail (-1); only the expectation: fail (-1); both: pass (0). Each order takes 1 and gives 1 back.
    assert {"model": "0", "expectation": "0"} == shares(base, code=0)


def test_three_clocks_share_what_all_three_turned(base: Project) -> None:
    """Answer 10→18, limit 20→15, expectation none→long: pass to pass, with the corners computed by hand.

    v(answer, limit, expectation): 000 pass; 100 pass (18 ≤ 20); 010 pass (10 ≤ 15); 110 fail; 001 fail; 101 fail; 011 fail; 111 pass.
    Answer: (0 + 0)/3·… over the six orders: ALE 0, AEL 0, LAE -1, LEA +1, EAL 0, ELA +1 → 1/6; limit likewise 1/6; expectation -1/3.
    """
    ask_again(base, 18)
    limit(base, 15)
    expect(base, "long")

    assert {"model": "1/6", "grader": "1/6", "expectation": "-1/3"} == shares(base, code=0)


def test_a_new_request_and_the_model_are_one_player(base: Project) -> None:
    """The new prompt was never asked of the old model: what it did and what the model did cannot be told apart."""
    edit_prompt(base, 30)
    limit(base, 25)

    assert {"request+model": "-1", "grader": "0"} == shares(base)


def test_a_control_capture_parts_the_request_from_the_model(base: Project) -> None:
    """Today's model answers the old prompt in 30 characters too: the model did it, and the new prompt did nothing."""
    base.git("init", "--quiet")
    base.git("add", ".")
    base.git("commit", "--quiet", "-m", "Base")
    edit_prompt(base, 30)
    base.ok("capture", "--control", "git:HEAD", "--quiet")

    assert {"model": "-1", "request": "0"} == shares(base)


def test_a_control_whose_answer_is_unchanged_clears_the_model(base: Project) -> None:
    """Today's model answers the old prompt as before: the new prompt did it."""
    base.git("init", "--quiet")
    base.git("add", ".")
    base.git("commit", "--quiet", "-m", "Base")
    base.edit("cases.yaml", '"one"', '"two"')

    def reply(asked: Asked) -> Say:
        return say("x" * (30 if asked.prompt == "two" else 10))

    base.server.fallback = reply
    base.ok("capture", "--quiet")
    base.ok("capture", "--control", "main", "--quiet")

    assert {"model": "0", "request": "-1"} == shares(base)


def replies(project: Project, model: str, lengths: dict[str, int]) -> None:
    """Let a model of that name answer each prompt with so many characters."""

    def reply(asked: Asked) -> Say:
        return say("x" * lengths[asked.prompt], model=model)

    project.server.fallback = reply


def test_a_control_that_another_reported_model_gives_the_same_answer_counts(base: Project) -> None:
    """The answer stands still under its new label: the new prompt did it."""
    base.edit("cases.yaml", '"one"', '"two"')
    replies(base, "m-2", {"one": 10, "two": 30})
    base.ok("capture", "--quiet")
    base.ok("capture", "--control", "main", "--quiet")

    assert {"model": "0", "request": "-1"} == shares(base)


def test_a_control_shows_two_effects_that_cancel_each_other_out(base: Project) -> None:
    """The old prompt fails with today's model, and the new one passes: nothing moved, and both did something."""
    base.edit("cases.yaml", '"one"', '"two"')
    replies(base, "m-2", {"one": 30, "two": 10})
    base.ok("capture", "--quiet")
    base.ok("capture", "--control", "main", "--quiet")

    assert {"model": "-1", "request": "1"} == shares(base, code=0)
    assert "shares: model -1, request +1" in base.ok("diff", "main").out


def test_a_grader_that_the_old_code_does_not_have_emits_nothing_there(base: Project) -> None:
    """A new grader with its new code: the old code under the new expectation gives only what it knows."""
    path = base.root / "graders.py"
    path.write_text(path.read_text() + "\n\n@grader\ndef any_text(envelope):\n    return {'text'}\n")
    base.edit("cases.yaml", "graders: [long]", "graders: [any_text, long]")

    # The module moved (grader), the case asks for another grader (expectation); only together do they find 'text'.
    assert {"grader": "-1/2", "expectation": "-1/2"} == shares(base)


def test_what_cannot_run_is_undetermined_with_the_reason(base: Project) -> None:
    """Without the old code's bundle no corner of it can be computed."""
    for bundle in (base.root / "results" / "sources").iterdir():
        bundle.unlink()
    ask_again(base, 30)
    limit(base, 5)

    assert {"undetermined": "the code of main is not at hand"} == {
        name: reason.removesuffix(" (1 case)")
        for name, reason in base.ok("diff", "main", "--format", "json", code=1).json["summary"]["attribution"].items()
    }


def test_the_remedy_names_the_edit_to_take_back(base: Project) -> None:
    """The cube read aloud: the grader alone cures it."""
    ask_again(base, 12)
    limit(base, 5)
    out = base.ok("diff", "main", code=1).out

    assert "Undo graders.py:long and the regression vanishes." in out
    assert "Pass fraction 1.000 → 0.000: grader -1." in out


def test_either_of_two_edits_is_told_where_each_cures_alone(base: Project) -> None:
    """18 characters fail only under the stricter limit: taking back either is enough."""
    ask_again(base, 18)
    limit(base, 15)
    out = base.ok("diff", "main", code=1).out

    assert "Undo graders.py:long and the regression vanishes; undo the model's new answers and 1 does." in out


def test_two_edits_are_named_together_where_only_both_cure(base: Project) -> None:
    """30 characters fail any limit, and a limit of 5 fails any answer."""
    ask_again(base, 30)
    limit(base, 5)
    out = base.ok("diff", "main", code=1).out

    assert "Undo the model's new answers together with graders.py:long and the regression vanishes." in out
