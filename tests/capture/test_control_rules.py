"""Control captures between two rule sets, and requests that the store does not hold as they were sent."""

from __future__ import annotations

import json

import pytest

from tests.capture.conftest import Project
from tests.capture.server import ModelServer, say
from tests.capture.test_control import OLD, commit, control, git, run

RULES = '[redact]\nkinds = ["email"]'
MAIL = {"id": "hello", "prompt": "I am ann@example.com"}
TARGET = 'endpoint = "gpt"\n'


def _committed(project: Project, case: dict[str, str], before: str, after: str) -> None:
    project.write(case, target=TARGET, more=before)
    git(project.root, "init", "-q")
    commit(project.root)
    project.write(case, target=TARGET, more=after)


def test_an_old_request_in_which_todays_rules_find_something_is_refused(one: Project, server: ModelServer) -> None:
    """The revision had no rules; today's store takes nothing that today's rules take out."""
    _committed(one, MAIL, "", RULES)
    [row] = control(one.root, "git:HEAD", code=3)["rows"]

    assert ("refused", [], []) == (row["outcome"], server.asked, one.files())
    assert "the request holds what today's redaction takes out, at /request/body/messages/0/content" in row["error"]


@pytest.mark.parametrize(("before", "after"), [(RULES, ""), ("", RULES)])
def test_both_rule_sets_apply_to_the_answer(one: Project, server: ModelServer, before: str, after: str) -> None:
    """Whichever of the two takes it out."""
    server.fallback = lambda _asked: say("write to ann@example.com")
    _committed(one, OLD, before, after)
    control(one.root, "git:HEAD")
    [file] = one.files()

    assert (
        "write to [redacted:email]"
        == json.loads(file.read_text())["response"]["body"]["choices"][0]["message"]["content"]
    )


def test_a_recorded_text_that_only_looks_like_a_variable_is_asked_again(one: Project, server: ModelServer) -> None:
    """It is what was sent; a variable in its place is known as one."""
    one.write({"id": "hello", "prompt": "set ${env:HOME}"}, target=TARGET)
    assert 0 == run(one.root, "capture").returncode
    run(one.root, "grade", "--save", "main")

    assert ["unchanged"] == [row["outcome"] for row in control(one.root, "main")["rows"]]
    assert ["set ${env:HOME}"] * 2 == [asked.prompt for asked in server.asked]


@pytest.mark.parametrize("prompt", ["is %5Bredacted:email%5D here", "is [REDACTED:EMAIL] here"])
def test_a_mark_of_redaction_is_known_in_other_spellings(one: Project, server: ModelServer, prompt: str) -> None:
    """A URL has it percent-encoded; nothing is asked."""
    one.write({"id": "hello", "prompt": prompt}, target=TARGET)
    assert 0 == run(one.root, "capture").returncode
    run(one.root, "grade", "--save", "main")

    assert ["failed"] == [row["outcome"] for row in control(one.root, "main", code=3)["rows"]]
    assert 1 == len(server.asked)
