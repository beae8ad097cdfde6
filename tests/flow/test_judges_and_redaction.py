"""Graders that ask about what redaction takes out: never one case's answer for another's, and never an error after the bill."""

from __future__ import annotations

import pytest

from tests.capture.server import ModelServer
from tests.flow.conftest import Project
from tests.flow.test_judges import CONFIG, GRADERS, _reply

CASES = """\
cases:
  - id: a
    prompt: "Greet the first."
    graders: [rude]
    context: {rubric: "Was ann@example.com greeted?"}
  - id: b
    prompt: "Greet the second."
    graders: [rude]
    context: {rubric: "Was bob@example.com greeted?"}
"""
RULES = '\n[redact]\nkinds = ["email"]\n'
PRICE = '\n[prices."tiny-1"]\ninput = 1\noutput = 1\n'


@pytest.fixture
def asking(tmp_path, server: ModelServer) -> Project:
    server.fallback = _reply("polite")
    made = Project(tmp_path, server)
    (tmp_path / "whichclock.toml").write_text(CONFIG.format(url=server.url) + RULES)
    (tmp_path / "cases.yaml").write_text(CASES)
    (tmp_path / "graders.py").write_text(GRADERS)
    return made


def test_a_request_about_one_person_is_not_answered_by_another_ones(asking: Project, server: ModelServer) -> None:
    """The completions are stored, the judge is asked nothing, and the rows say why."""
    done = asking.run("capture", "--format", "json", "--quiet")
    rows = done.json["rows"]

    assert (3, ["recorded", "recorded", "failed", "failed"]) == (done.code, [row["outcome"] for row in rows])
    assert ["tiny-1", "tiny-1"] == [asked.json["model"] for asked in server.asked]
    assert (
        "holds what redaction takes out, and could not be told from another's: leave personal data out of it"
        in rows[2]["error"]
    )


def test_grading_says_the_same(asking: Project) -> None:
    """A verdict about one case never rests on what was said of another."""
    asking.run("capture", "--quiet")
    done = asking.run("grade", "--format", "json", "--quiet")

    assert ["grader_error", "grader_error"] == [row["status"] for row in done.json["rows"]]


def test_a_request_that_is_the_cases_own_without_what_was_taken_out_is_a_fault(
    asking: Project, server: ModelServer
) -> None:
    """It was never asked so; a salt of the grader would keep the two apart."""
    (asking.root / "cases.yaml").write_text(
        'cases:\n  - {id: a, prompt: "I am ann@example.com", graders: [rude], context: {rubric: x}}\n'
    )
    again = (
        'body = case["request"]["body"]\n    return {"v": {"target": "gpt", "request": {"messages": body["messages"]}}}'
    )
    text = GRADERS.replace(GRADERS[GRADERS.index("text = ") : GRADERS.index("\n\n\n@grader")], again)
    (asking.root / "graders.py").write_text(text.replace('answers["verdict"]', 'answers["v"]'))
    rows = asking.run("capture", "--format", "json", "--quiet").json["rows"]

    assert (["recorded", "failed"], 1) == ([row["outcome"] for row in rows], len(server.asked))
    assert "give the grader a salt" in rows[1]["error"]


def test_a_judge_without_a_price_is_refused_row_by_row(asking: Project, server: ModelServer) -> None:
    """By then the completions are paid for, and are kept."""
    (asking.root / "whichclock.toml").write_text(CONFIG.format(url=server.url) + PRICE)
    done = asking.run("capture", "--max-cost", "5", "--format", "json", "--quiet")

    assert (3, ["recorded"] * 2 + ["refused"] * 2) == (done.code, [row["outcome"] for row in done.json["rows"]])
    assert "--max-cost: there is no price for model 'judge-1'" == done.json["rows"][2]["error"]
