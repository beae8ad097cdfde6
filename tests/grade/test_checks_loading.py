"""Arguments of checks are judged when the suite is loaded: with the place and the remedy, and before anything is asked or graded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from golden.expectation import digest, expectation
from golden.model import Suite
from tests.golden.conftest import Project

CONFIG = """\
suite = "support"
cases = ["cases/*"]

[defaults]
targets = ["gpt"]

[targets.gpt]
type = "openai"
base_url = "https://api.example.com/v1"
model = "m1"

[targets.vectors]
type = "embeddings"
base_url = "https://api.example.com/v1"
model = "v1"

[targets.checker]
type = "exec"
command = ["./check"]
"""
PRICE = "\n[prices.m1]\ninput = 2.0\noutput = 8\ncached_input = 0.5\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with a target of each kind that checks ask."""
    made = Project(tmp_path)
    made.config(CONFIG)
    return made


@pytest.mark.parametrize(
    "check",
    [
        {"starts_with": "a"},
        {"ends_with": {"any": ["a"], "strip": True, "ignore_case": True}},
        {"length": {"min": 1, "max": 1}},
        {"is_json": "object"},
        {"json_path": {"path": "$['a b'][0]", "equals": {"deep": [None]}}},
        {"json_path": {"path": "$", "matches": "a|b"}},
        {"json_path": {"path": "$.a", "exists": False}},
        {"number": -1.5},
        {"number": {"min": 1, "max": 2, "tolerance": 0.5, "which": "last"}},
        {"number": {"value": 1, "path": "$.n"}},
        {"not_regex": {"pattern": "a", "flags": "ims"}},
        {"tool_order": ["a", "b"]},
        {"tool_order": {"names": [], "exact": True}},
        {"tool_arguments": {"name": "a", "schema": {"type": "object"}}},
        {"refusal": False},
        {"max_input_tokens": 0},
        {"max_total_tokens": 1},
        {"max_latency_ms": 0.5},
        {"similarity": {"to": "a", "threshold": -1, "target": "vectors"}},
        {"judge": {"rubric": "a", "target": "gpt"}},
        {"judge": {"rubric": "a", "target": "checker", "threshold": 1}},
        {"program": {"target": "checker", "config": None}},
    ],
    ids=str,
)
def test_a_sound_check_loads(project: Project, check: Any) -> None:
    """Every form of every argument."""
    assert (check,) == project.case(checks=[check]).checks


@pytest.mark.parametrize(
    ("check", "message", "hint"),
    [
        ({"starts_with": ""}, "text that is not empty at /0/checks/0/starts_with", ""),
        ({"ends_with": {"text": "a", "any": ["b"]}}, "found text and any, expected exactly one of text, any", ""),
        ({"length": {}}, "at least one member at /0/checks/0/length", ""),
        ({"length": {"min": 2, "max": 1}}, "min 2 is more than max 1", ""),
        ({"length": {"min": -1}}, "at least 0 at /0/checks/0/length/min", ""),
        ({"is_json": True}, 'expected one of "any", "object"', ""),
        ({"json_path": {"path": "$.a"}}, "found none, expected exactly one of equals, matches, exists", ""),
        ({"json_path": {"path": "$.a", "equals": 1, "exists": True}}, "found equals and exists", ""),
        ({"json_path": {"path": "/a", "equals": 1}}, "'/a' is no path to one value: it does not begin with $", "for example $.items"),
        ({"json_path": {"path": "$.a[*]", "equals": 1}}, "'[*]' is no name and no index at /0/checks/0/json_path/path", "for example"),
        ({"json_path": {"path": "$.a", "matches": "("}}, "pattern '(' does not compile", ""),
        ({"not_regex": "("}, "pattern '(' does not compile", ""),
        ({"number": {}}, "found neither, expected value, or min and max or one of them", ""),
        ({"number": {"value": 1, "max": 2}}, "found value and max, expected value, or min and max or one of them", ""),
        ({"number": {"min": 2, "max": 1}}, "min 2 is more than max 1", ""),
        ({"number": {"value": 1, "tolerance": -1}}, "at least 0", ""),
        ({"number": {"value": 1, "path": "$", "which": "last"}}, "which belongs to texts", "keep one of them"),
        ({"tool_order": []}, "a list that is not empty", ""),
        ({"tool_arguments": {"name": "a"}}, "no member 'schema'", ""),
        ({"tool_arguments": {"name": "a", "schema": {"type": "strin"}}}, "no JSON Schema", ""),
        ({"tool_arguments": {"name": "a", "schema": "none.json"}}, "none.json", ""),
        ({"tool_arguments": {"name": "a", "schema": {"$ref": "https://example.com/s"}}}, "leads outside the schema", "copy what it names"),
        ({"refusal": "no"}, "expected true or false", ""),
        ({"max_cost_usd": 1}, "there is no price for model 'm1' of target gpt", '[prices."MODEL"]'),
        ({"max_cost_usd": -1}, "at least 0", ""),
        ({"max_latency_ms": "1s"}, "a number", ""),
        ({"similarity": {"to": "a", "threshold": 2, "target": "vectors"}}, "at most 1", ""),
        ({"similarity": {"to": "a", "target": "vectors"}}, "no member 'threshold'", ""),
        ({"similarity": {"to": "a", "threshold": 1, "target": "gpt"}}, "target gpt is of type openai, and similarity asks one of type embeddings", "name another target"),
        ({"judge": {"rubric": "a", "target": "judge"}}, "no target 'judge' at /0/checks/0/judge/target", "there are 'checker', 'gpt', 'vectors'"),
        ({"judge": {"rubric": "a", "target": "vectors"}}, "target vectors is of type embeddings, and judge asks one of type anthropic", ""),
        ({"judge": {"rubric": "", "target": "gpt"}}, "text that is not empty", ""),
        ({"program": {"target": "gpt"}}, "target gpt is of type openai, and program asks one of type exec", ""),
        ({"program": {"target": "checker", "treshold": 1}}, "unknown key 'treshold'", "did you mean 'threshold'?"),
        ({"start_with": "a"}, "unknown key 'start_with'", "did you mean 'starts_with'?"),
    ],
    ids=str,
)  # fmt: skip
def test_an_unsound_check_is_refused(project: Project, check: Any, message: str, hint: str) -> None:
    """What could not be applied never gets as far as an answer."""
    project.cases({"id": "c", "prompt": "hi", "checks": [check]})
    error = project.refused()

    assert message in error.message
    assert hint in error.hint


def _expectation(suite: Suite) -> Any:
    return json.loads(expectation(suite, suite.cases[0], suite.targets["gpt"]))


def test_the_price_enters_the_expectation_where_a_check_needs_it(project: Project) -> None:
    """A corrected price is the expectation clock of the cases that limit their cost, and of no others."""
    project.config(CONFIG + PRICE)
    project.cases({"id": "c", "prompt": "hi", "checks": [{"max_cost_usd": 0.5}]})
    limited = _expectation(project.load())
    project.cases({"id": "c", "prompt": "hi", "checks": [{"max_tokens": 5}]})
    unlimited = _expectation(project.load())

    assert {"input": 2, "output": 8, "cached_input": 0.5} == limited["price"]
    assert "price" not in unlimited


def test_a_program_may_say_itself_what_it_cost(project: Project) -> None:
    """No price is needed for a target of type exec, and none enters."""
    case = project.case(checks=[{"max_cost_usd": 1}], targets=["checker"])
    suite = project.load()

    assert "price" not in json.loads(expectation(suite, case, suite.targets["checker"]))


def test_a_schema_of_arguments_enters_the_expectation_by_its_content(project: Project) -> None:
    """Another place for the same schema is the same expectation; another schema is not."""
    digests: list[str] = []
    for name, text in (("a.json", '{"type": "object"}'), ("b.yaml", "type: object\n"), ("a.json", '{"type": "array"}')):
        project.write(name, text)
        project.cases({"id": "c", "prompt": "hi", "checks": [{"tool_arguments": {"name": "t", "schema": name}}]})
        suite = project.load()
        digests.append(digest(expectation(suite, suite.cases[0], suite.targets["gpt"])))

    assert digests[0] == digests[1] != digests[2]
