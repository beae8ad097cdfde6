"""Redaction and budgets on the command line: the whole way from a prompt with personal data to a verdict on the answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.capture.server import say
from tests.flow.conftest import Project

PERSON = "ann@example.com"
RULES = '[redact]\nkinds = ["email"]\n\n[targets.gpt]'
CASES = """\
cases:
  - id: write
    prompt: "Write to ann@example.com."
    checks: [{contains: "[redacted:email]"}]
    graders: [order_grader]
    expected: [ok]
"""


@pytest.fixture
def personal(project: Project) -> Project:
    """A project whose prompt and answer name somebody, under a rule that takes it out; nothing recorded yet."""
    project.edit("whichclock.toml", "[targets.gpt]", RULES)
    (project.root / "golden/cases/cases.yaml").write_text(CASES)
    project.server.fallback = lambda asked: say(f"I wrote: {asked.prompt}")
    return project


def holding(root: Path, text: str) -> list[str]:
    """Return the files that hold a text, the author's own left out."""
    return [str(p) for p in root.rglob("*") if p.is_file() and p.suffix != ".yaml" and text.encode() in p.read_bytes()]


def test_a_redacted_answer_is_found_and_graded(personal: Project) -> None:
    """Grade renders the same redacted request; no file and no output names anybody."""
    printed = [
        done.out + done.err
        for done in (
            personal.ok("capture"),
            personal.ok("snapshots", "verify"),
            personal.ok("grade", "--save", "main", "--format", "json"),
            personal.ok("capture", "--mode", "replay"),
            personal.ok("diff", "main"),
            personal.ok("golden", "check"),
        )
    ]

    assert "Write to ann@example.com." == personal.server.asked[0].prompt
    assert ([], []) == (holding(personal.root, PERSON), [text for text in printed if PERSON in text])


def test_another_person_moves_no_clock(personal: Project) -> None:
    """What is taken out is in no key."""
    personal.ok("capture")
    personal.ok("grade", "--save", "main")
    personal.edit("golden/cases/cases.yaml", "ann@", "bob@")

    assert {("write", 0): []} == {key: row["clocks"] for key, row in personal.diff("main").items()}


def test_a_rule_that_is_added_later_moves_the_request(personal: Project) -> None:
    """The recorded file stays; what is asked under the new rule is another request."""
    personal.edit("whichclock.toml", 'kinds = ["email"]', 'kinds = ["phone"]')
    personal.ok("capture")
    personal.edit("whichclock.toml", 'kinds = ["phone"]', 'kinds = ["phone", "email"]')

    assert 3 == personal.run("grade").code
    assert "1 recorded" in personal.ok("capture").out


@pytest.mark.parametrize("command", [["golden", "check"], ["capture"], ["capture", "--dry-run"], ["capture", "write"]])
def test_two_requests_that_redaction_makes_one_are_an_error(personal: Project, command: list[str]) -> None:
    """With both places, before anything is asked."""
    more = '  - id: again\n    prompt: "Write to bob@example.com."\n'
    (personal.root / "golden/cases/cases.yaml").write_text(CASES + more)
    done = personal.ok(*command, code=2)

    assert (
        "'write' (golden/cases/cases.yaml:2) and 'again' (golden/cases/cases.yaml:7) differ only in what redaction takes out"
        in done.err
    )
    assert ("example.com" in done.err, personal.server.asked) == (False, [])


def test_an_audit_prints_and_leaves_nothing(personal: Project) -> None:
    """Text for people and JSON for machines; no folder is made."""
    text = personal.ok("capture", "--dry-run", "--audit")
    value = personal.ok("capture", "--dry-run", "--audit", "--format", "json").json

    assert "redaction takes out /request/body/messages/0/content (email)" in text.out
    assert ("whichclock.capture-audit/1", 1) == (value["schema"], value["summary"]["redacted"])
    assert PERSON not in text.out + json.dumps(value)
    assert ([], False) == (personal.server.asked, (personal.root / "snapshots").exists())


def test_a_pointer_that_leads_nowhere_sensible_is_an_error(personal: Project) -> None:
    """A document without its transport could not be read."""
    personal.edit("whichclock.toml", 'kinds = ["email"]', 'pointers = ["/request/transport"]')
    done = personal.ok("golden", "check", code=2)

    assert "/redact/pointers/0" in done.err


def test_a_missing_price_is_an_error_that_names_the_model(project: Project) -> None:
    """Nothing is asked, and the remedy is printed."""
    done = project.ok("capture", "--max-cost", "1", code=2)

    assert "--max-cost: there is no price for model 'tiny-1' of target gpt" in done.err
    assert '[prices."MODEL"] input = …, output = …' in done.err
    assert [] == project.server.asked


def test_a_job_can_read_what_a_budget_left(project: Project) -> None:
    """One line of JSON; the next run goes on with the rest."""
    first = project.ok("capture", "--max-calls", "1", "--format", "line", code=3)
    second = project.ok("capture", "--max-calls", "1", "--format", "line")

    summary = first.json["summary"]
    assert (1, 3, 1, 1) == (first.json["left"], first.json["exit_code"], summary["recorded"], summary["refused"])
    assert "1 row is left by the budget: run the same command again" in first.err
    assert (0, 0, 2) == (second.json["left"], second.json["exit_code"], len(project.server.asked))
