"""Answers that are stored though today's reader cannot read them: the run says so, and what asks again."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from capture.report import summary_lines
from capture.run import Mode
from snapshots.console import Console
from tests.capture.conftest import Project, outcomes
from tests.capture.server import ModelServer, Say, say_json

HTTP = """\
suite = "s"
cases = ["cases.jsonl"]
[targets.search]
type = "http"
url = "{url}/ask"
body = {{ q = "{{{{ prompt }}}}" }}
select = "/answer"
"""
EXEC = """\
suite = "s"
cases = ["cases.jsonl"]
[targets.sut]
type = "exec"
command = ["{python}", "sut.py"]
"""
PAGE = Say(b"<html>Log in</html>", headers={"Content-Type": "text/html"})
NOT_JSON = "http: select needs a JSON body, and this is none at /answer"
NO_PART = "http: the answer has no such part at /answer"


@pytest.fixture
def search(project: Project, server: ModelServer) -> Project:
    """Two cases for a service whose answer's text is at a pointer."""
    (project.root / "whichclock.toml").write_text(HTTP.format(url=server.url))
    return project


def _warning(target: str, many: str, reason: str) -> str:
    return (
        f"target {target}: {many} stored that today's reader cannot read, the first of case hello ({reason}); "
        "auto does not ask again: mend the target, then whichclock capture --mode live hello"
    )


@pytest.mark.parametrize(("reply", "reason"), [(PAGE, NOT_JSON), (say_json({"result": "A"}), NO_PART)])
def test_answers_without_what_select_names_are_kept_and_told(
    search: Project, server: ModelServer, reply: Say, reason: str
) -> None:
    """One warning for a target, with the count and the first reason; the rows are recorded."""
    server.fallback = lambda asked: reply
    result = search.capture()

    assert (["recorded", "recorded"], 0) == (outcomes(result), int(result.exit_code))
    assert (_warning("search", "2 answers were", reason),) == result.warnings


def test_an_answer_that_moved_out_of_reach_is_named(search: Project, server: ModelServer) -> None:
    """Live: the line of the row says that it cannot be read."""
    server.fallback = lambda asked: say_json({"answer": "A"})
    assert () == search.capture().warnings
    server.fallback = lambda asked: PAGE if asked.json["q"] == "hello" else say_json({"answer": "A"})
    result = search.capture(Mode.LIVE)

    assert ["moved", "unchanged"] == outcomes(result)
    assert f"moved  hello  search  and today's reader cannot read it: {NOT_JSON}" == next(
        iter(summary_lines(result, Console("never")))
    )
    assert (_warning("search", "1 answer was", NOT_JSON),) == result.warnings


@pytest.mark.parametrize("members", [{"tool_calls": 5}, {"tool_calls": [{"arguments": {}}]}])
def test_a_programs_odd_members_are_told(project: Project, members: dict[str, Any]) -> None:
    """Its output is there, but nobody can read the rest; the warning names the reader's pointer."""
    (project.root / "whichclock.toml").write_text(EXEC.format(python=sys.executable))
    (project.root / "sut.py").write_text(f"import json\nprint(json.dumps({ ({'output': 'A', **members})!r}))\n")
    result = project.capture()

    assert ["recorded", "recorded"] == outcomes(result)
    [warning] = result.warnings
    assert "target sut: 2 answers were stored that today's reader cannot read, the first of case hello (" in warning
    assert "at /body/tool_calls" in warning


def test_what_can_be_read_is_no_warning(project: Project) -> None:
    """A chat completion is."""
    assert () == project.capture().warnings
