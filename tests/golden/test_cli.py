"""``golden check``, ``golden ls`` and ``schema`` print data to stdout and talk to stderr."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from golden import cli, schema, schema_cli
from snapshots.errors import ConfigError, UsageError
from tests.golden.conftest import CONFIG, Project

GOOD = [
    {"id": "a", "prompt": "hi {{ who }}", "vars": {"who": "you"}, "tags": ["t2", "t1"]},
    {"id": "b\u001b[31m", "prompt": "hi you", "trials": 3},
]


def run(project: Project, *arguments: str) -> Result:
    return CliRunner().invoke(cli.app, [*arguments, "--config", str(project.root / "whichclock.toml")])


@pytest.fixture
def good(project: Project) -> Project:
    project.cases(*GOOD)
    project.config(CONFIG + 'api_key = "{{ env.K }}"\nheaders = { X-A = "{{ env.A }}" }\n')
    return project


def test_check_says_what_was_loaded(good: Project) -> None:
    """Counts on stdout; warnings and needs on stderr."""
    result = run(good, "check")

    assert 0 == result.exit_code
    assert "support: 2 cases, 1 target, 1 request, 0 grader files\n" == result.stdout
    assert "warning: target gpt: {{ env.A }} in header X-A is not part of the key" in result.stderr
    assert "calls need A, K" in result.stderr


def test_check_gives_the_same_as_json(good: Project) -> None:
    """One object."""
    document = json.loads(run(good, "check", "--format", "json").stdout)

    assert "whichclock.golden-check/1" == document["schema"]
    assert {
        "suite": "support",
        "cases": 2,
        "targets": 1,
        "requests": 1,
        "grader_files": 0,
        "env": ["A", "K"],
    }.items() <= document["summary"].items()
    assert 1 == len(document["summary"]["warnings"])


def test_check_finds_what_a_target_cannot_express(project: Project) -> None:
    """Every case is rendered for every one of its targets."""
    project.config(CONFIG + '[targets.claude]\ntype = "anthropic"\nbase_url = "https://api.example.com"\n')
    project.cases({"id": "c", "request": {"messages": [], "seed": 1}, "targets": ["gpt", "claude"]})
    result = run(project, "check")

    assert isinstance(result.exception, ConfigError)
    assert (
        "cases/a.json#/0: 'seed' cannot be expressed in a request of type anthropic at /request/seed"
        == result.exception.message
    )


def test_check_renders_every_case(project: Project) -> None:
    """A template that fails is an error of the suite."""
    project.cases(GOOD[1], {"id": "bad", "prompt": "{{ who }}"})
    result = run(project, "check")

    assert isinstance(result.exception, ConfigError)
    assert "'who' is undefined" in result.exception.message
    assert "" == result.stdout


def test_ls_lists_a_row_for_each_case_and_target(good: Project) -> None:
    """Ids are neutralised before a terminal sees them."""
    head, first, second = run(good, "ls").stdout.splitlines()

    assert ["case_id", "target", "trials", "request_hash", "tags"] == head.split()
    assert ["a", "gpt", "1", "t1,", "t2"] == [cell for i, cell in enumerate(first.split()) if i != 3]
    assert "b\\x1b[31m" == second.split()[0]
    assert 12 == len(first.split()[3])


def test_ls_as_json_holds_whole_ids_and_hashes(good: Project) -> None:
    """Same request, same hash."""
    document = json.loads(run(good, "ls", "--format", "json").stdout)
    rows: list[dict[str, Any]] = document["rows"]

    assert ["a", "b\u001b[31m"] == [row["case_id"] for row in rows]
    assert [["t1", "t2"], []] == [row["tags"] for row in rows]
    assert [1, 3] == [row["trials"] for row in rows]
    assert 1 == len({row["request_hash"] for row in rows})
    assert 64 == len(rows[0]["request_hash"])


def test_ls_takes_a_selection(good: Project) -> None:
    """Ids, globs and tags."""
    document = json.loads(run(good, "ls", "a*", "--tag", "t1", "--target", "gpt", "--format", "json").stdout)

    assert ["a"] == [row["case_id"] for row in document["rows"]]
    assert isinstance(run(good, "ls", "nobody").exception, UsageError)


@pytest.mark.parametrize("name", ["config", "case"])
def test_schema_prints_a_schema(name: str) -> None:
    """As it is shipped."""
    result = CliRunner().invoke(schema_cli.app, [name])

    assert schema.shipped(name) == json.loads(result.stdout)


def test_schema_names_the_nearest_for_one_that_is_not_known() -> None:
    """Code 2."""
    result = CliRunner().invoke(schema_cli.app, ["cases"])

    assert isinstance(result.exception, UsageError)
    assert "did you mean 'case'?" == result.exception.hint


@pytest.mark.parametrize("arguments", [["check", "--help"], ["ls", "--help"]])
def test_every_command_shows_examples(arguments: list[str]) -> None:
    """People copy them."""
    assert "whichclock golden " in CliRunner().invoke(cli.app, arguments).stdout
