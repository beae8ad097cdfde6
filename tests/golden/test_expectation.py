"""The expectation is the canonical JSON of the grading side, and of nothing else."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from golden.expectation import digest, expectation
from tests.golden.conftest import CONFIG, Project


def text(project: Project, **members: Any) -> str:
    case = project.case(**members)
    suite = project.load()
    return expectation(suite, case, suite.targets["gpt"])


def test_a_bare_case_expects_nothing_and_all_trials(project: Project) -> None:
    """What is unset is absent; the two members with defaults are resolved."""
    assert '{"expected":[],"pass":"all"}' == text(project)


def test_every_member_of_the_grading_side_is_in(project: Project) -> None:
    """Lists that are sets are sorted and unique; checks keep their order."""
    assert (
        '{"allowed_tools":["a","b"],"checks":[{"max_tokens":4},{"contains":"x"}],"context":{"now":"2026-01-01T00:00:00Z"},'
        '"expected":["a","b"],"graders":["f","g"],"known":"flaky","pass":0.8}'
    ) == text(
        project,
        allowed_tools=["b", "a", "b"],
        checks=[{"max_tokens": 4}, {"contains": "x"}],
        context={"now": "2026-01-01T00:00:00Z"},
        expected=["b", "a"],
        graders=["g", "f", "g"],
        known="flaky",
        **{"pass": 0.8},
    )


def test_what_is_sent_and_what_names_the_case_is_out(project: Project) -> None:
    """Prompt, tags, trials, salt, variables and id move other clocks, or none."""
    assert text(project) == text(project, prompt="other", tags=["t"], trials=3, salt="s", vars={"a": 1}, id="other")


def test_an_empty_list_of_allowed_tools_is_set(project: Project) -> None:
    """No tool is allowed, which is not the same as any."""
    assert '{"allowed_tools":[],"expected":[],"pass":"all"}' == text(project, allowed_tools=[])


def test_pass_is_resolved_from_the_defaults(project: Project) -> None:
    """A default that moves is an expectation that moves."""
    project.config(CONFIG + '[defaults]\npass = "majority"\n')

    assert '{"expected":[],"pass":"majority"}' == text(project)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s/reply.json", '{"type": "object", "required": ["b", "a"]}'),
        ("s/reply.yaml", "required: [b, a]\ntype: object\n"),
    ],
)
def test_a_schema_file_stands_with_its_content(project: Project, name: str, content: str) -> None:
    """Renaming the file moves nothing, editing it does."""
    project.write(name, content)

    assert (
        '{"checks":[{"json_schema":{"required":["b","a"],"type":"object"}}],"expected":[],"pass":"all"}'
        == text(project, checks=[{"json_schema": name}])
        == text(project, checks=[{"json_schema": {"type": "object", "required": ["b", "a"]}}])
    )


def test_the_content_is_that_of_the_loading(project: Project) -> None:
    """An edit during a run does not split it."""
    project.write("s.json", "{}")
    case = project.case(checks=[{"json_schema": "s.json"}])
    suite = project.load()
    project.write("s.json", '{"type": "array"}')

    assert [{"json_schema": {}}] == json.loads(expectation(suite, case, suite.targets["gpt"]))["checks"]


def test_the_digest_is_the_sha_256_of_the_text() -> None:
    """Anyone can recompute it."""
    assert hashlib.sha256(b'{"expected":[],"pass":"all"}').hexdigest() == digest('{"expected":[],"pass":"all"}')


def test_how_an_answer_is_read_is_expected(project: Project) -> None:
    """The pointer to the text of a generic answer moves verdicts and no request."""
    config = 'suite = "s"\ncases = ["cases/*"]\n[targets.gpt]\ntype = "http"\nurl = "https://sut.example.com/"\n'
    project.config(config + 'select = "/answer/text"\nvolatile = ["/id"]\n')

    assert '{"expected":[],"pass":"all","select":"/answer/text"}' == text(project)
