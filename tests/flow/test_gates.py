"""Gates by clock, coverage and stale marks, through the whole command line."""

from __future__ import annotations

from typing import Any

import pytest

from diff.gates import gates
from diff.statistics import mcnemar
from tests.capture.server import say
from tests.diff.sides import compared, row
from tests.flow.conftest import Project

CASES = """\
cases:
  - {id: asked, prompt: "say good", checks: [{contains: good}]}
  - {id: drifts, prompt: "say more", checks: [{contains: good}]}
  - {id: judged, prompt: "say less", graders: [strict]}
"""
GRADERS = """\
from whichclock import grader


@grader
def strict(envelope):
    return set() if "good" in envelope["text"] else {"bad"}
"""


@pytest.fixture
def suite(project: Project) -> Project:
    """Three cases that pass, saved as main."""
    (project.root / "golden/cases/cases.yaml").write_text(CASES)
    (project.root / "golden/cases/graders.py").write_text(GRADERS)
    project.server.fallback = lambda _asked: say("good")
    project.ok("capture", "--quiet")
    project.ok("grade", "--save", "main", "--quiet")
    return project


def _drift(suite: Project) -> None:
    """Let the model answer the second case badly."""
    suite.server.fallback = lambda asked: say("bad" if asked.prompt == "say more" else "good")
    suite.ok("capture", "--mode", "live", "--quiet")


def _stricter(suite: Project) -> None:
    suite.edit("golden/cases/graders.py", '"good" in', '"best" in')


def _edit_prompt(suite: Project) -> None:
    """Ask the first case otherwise; the answer is bad."""
    suite.edit("golden/cases/cases.yaml", "say good", "say it")
    suite.server.fallback = lambda asked: say("bad" if asked.prompt == "say it" else "good")
    suite.ok("capture", "--quiet")


def _codes(suite: Project) -> dict[str, int]:
    clocks = ("request", "model", "grader", "expectation")
    return {clock: suite.run("diff", "main", "--gate-clock", clock).code for clock in clocks}


def test_another_answer_fails_the_gate_of_the_model_alone(suite: Project) -> None:
    """The regression has the model's share and nobody else's."""
    _drift(suite)

    assert {"request": 0, "model": 1, "grader": 0, "expectation": 0} == _codes(suite)


def test_a_stricter_grader_fails_the_gate_of_the_grader_alone(suite: Project) -> None:
    """A scheduled run that watches the model is not stopped by it."""
    _stricter(suite)

    assert {"request": 0, "model": 0, "grader": 1, "expectation": 0} == _codes(suite)


def test_another_request_belongs_to_the_gates_of_request_and_model(suite: Project) -> None:
    """Nobody asked the old model the new request: the blame cannot be split, and both gates close."""
    _edit_prompt(suite)
    row = suite.diff("main", code=1)["asked", 0]

    assert {"request+model": "-1"} == row["attribution"]
    assert {"request": 1, "model": 1, "grader": 0, "expectation": 0} == _codes(suite)


def test_several_gates_are_tested_together(suite: Project) -> None:
    """One regression each: p is 1 for both, and the summary holds both; the third regression is passed over."""
    _drift(suite)
    _stricter(suite)
    _edit_prompt(suite)
    suite.server.fallback = lambda asked: say("bad")
    done = suite.ok("diff", "main", "--gate-clock", "grader", "--gate-clock", "expectation", "--format", "json", code=1)
    found = done.json["summary"]["statistics"]["gates"]

    assert {"worse": 1, "undetermined": 0, "better": 0, "p": 1.0, "holm": 1.0} == found["clocks"]["grader"]
    assert {"worse": 0, "undetermined": 0, "better": 0, "p": None, "holm": None} == found["clocks"]["expectation"]
    assert 2 == found["passed_over"]
    assert (
        "not gated: 2 newly failing cases in which no chosen clock has a share"
        in suite.run("diff", "main", "--gate-clock", "grader").out
    )


def test_the_configuration_may_name_the_clocks(suite: Project) -> None:
    """The option wins over it."""
    config = suite.root / "whichclock.toml"
    config.write_text(config.read_text() + '\n[gates]\nclocks = ["model"]\n')
    _stricter(suite)

    assert (0, 1) == (suite.run("diff", "main").code, suite.run("diff", "main", "--gate-clock", "grader").code)


def test_what_is_no_clock_is_refused(suite: Project) -> None:
    """On the command line and in the configuration."""
    assert 2 == suite.run("diff", "main", "--gate-clock", "weather").code
    config = suite.root / "whichclock.toml"
    config.write_text(config.read_text() + '\n[gates]\nclocks = ["weather"]\n')

    done = suite.ok("diff", "main", code=2)
    assert "/gates/clocks/0" in done.err


def test_a_gate_that_is_off_stays_off(suite: Project) -> None:
    """`--gate none` never fails, and `any` counts improvements of the clock too."""
    _drift(suite)
    suite.ok("grade", "--save", "worse", "--quiet", code=1)

    assert 0 == suite.run("diff", "main", "--gate", "none", "--gate-clock", "model").code
    assert [1, 0] == [
        suite.run("diff", "worse", "main", "--gate", "any", "--gate-clock", clock).code for clock in ("model", "grader")
    ]


def test_an_undetermined_share_gates_by_the_clocks_that_moved() -> None:
    """The code of a side made by hand is not at hand: model and grader moved, both gate, and the words say so."""
    made = compared([row("a")], [row("a", answer="2", code="2", found="x")])
    found = gates(made, ["model", "grader", "request"])

    assert [[("a", "gpt")], [("a", "gpt")], []] == [gate.worse for gate in found.gates]
    assert [1, 1, 0] == [len(gate.undetermined) for gate in found.gates]
    assert "gate though the shares are undetermined" in found.lines()[0]


def test_another_pass_rule_is_the_expectations() -> None:
    """The same trials pass as often, so the share is 0, but the verdict turned: whoever moved is to blame."""
    base = [row("a", case_passed=True), row("a", trial=1, found="x", case_passed=True)]
    head = [{**one, "case_passed": False, "expectation_digest": "2"} for one in base]
    found = gates(compared(base, head), ["expectation", "model"])

    assert ([("a", "gpt")], []) == (found.gates[0].worse, found.gates[1].worse)


def test_gates_are_adjusted_for_their_number() -> None:
    """Eight regressions of the model, one of the request: p of 8 and 0 doubled, and 1."""
    base = [row(f"c{i}") for i in range(9)]
    head = [row(f"c{i}", answer="2", found="x", request="2" if i == 8 else "1") for i in range(9)]
    model, request = gates(compared(base, head), ["model", "request"]).gates

    # request+model belongs to both
    assert (9, 1) == (model.test.worse, request.test.worse)
    assert (2 * (mcnemar(9, 0).p or 0), 1.0) == (model.adjusted, request.adjusted)


def test_an_added_case_that_fails_is_no_clocks() -> None:
    """Nothing moved: it gates without --gate-clock, and is passed over and counted with it."""
    made = compared([row("a")], [row("a"), row("b", found="x")])
    found = gates(made, ["model", "expectation"])

    assert [("b", "gpt")] == made.regressions == found.passed_over
    assert [] == found.regressions


def _coverage(suite: Project, *arguments: str, code: int = 0) -> Any:
    return suite.ok("diff", *arguments, "--format", "json", code=code).json["summary"]["statistics"]["coverage"]


def test_a_case_that_is_gone_is_a_gap_and_no_change(suite: Project) -> None:
    """Counted and shown; neither regression nor improvement."""
    text = (suite.root / "golden/cases/cases.yaml").read_text()
    (suite.root / "golden/cases/cases.yaml").write_text("".join(text.splitlines(keepends=True)[:-1]))
    done = suite.ok("diff", "main", "--format", "json").json["summary"]

    assert {"base": 3, "head": 2, "compared": 2, "judged": 2, "selected": False} == done["statistics"]["coverage"]
    assert (0, 0, 1) == (
        done["verdict_changes"]["newly_failing"],
        done["verdict_changes"]["newly_passing"],
        done["removed_cases"],
    )
    assert "coverage: 2 of 3 cases of the base and of 2 of the head were compared" in suite.ok("diff", "main").out


def test_an_answer_that_is_missing_is_a_gap_and_no_change(suite: Project) -> None:
    """It ends with 3, and is in no figure."""
    suite.edit("golden/cases/cases.yaml", "say good", "say it")

    assert {"base": 3, "head": 3, "compared": 3, "judged": 2, "selected": False} == _coverage(suite, "main", code=3)


def test_a_filtered_run_does_not_shrink_the_baseline(suite: Project) -> None:
    """Compared with one case, the other two are a gap; saved under the label it is refused, so main still has three."""
    suite.ok("grade", "judged", "--out", "some.parquet", "--quiet")
    refused = suite.run("grade", "judged", "--save", "main")

    expected = {"base": 3, "head": 1, "compared": 1, "judged": 1, "selected": True}
    assert expected == _coverage(suite, "main", "some.parquet")
    assert (2, 3) == (refused.code, _coverage(suite, "main")["base"])
    assert "a side was graded for some of them only" in suite.ok("diff", "main", "some.parquet").out


def test_a_mark_that_no_longer_holds_is_loud(suite: Project) -> None:
    """A case that is known to fail and passes ends grade with 1."""
    suite.edit("golden/cases/cases.yaml", "checks: [{contains: good}]}", "checks: [{contains: good}], known: failing}")

    assert "stale: asked" in suite.ok("grade", code=1).out
