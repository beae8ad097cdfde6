"""Cases get their defaults, and everything wrong with them is said at load with its place."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.conftest import CONFIG, Project


def test_an_ordinary_case_has_the_documented_defaults(project: Project) -> None:
    """No expected findings, no graders, one trial, all must pass."""
    case = project.case(prompt="hi")

    assert ("c", (), None, (), (), ("gpt",), 1, "all", None, None) == (
        case.id,
        case.expected,
        case.allowed_tools,
        case.graders,
        case.checks,
        case.targets,
        case.trials,
        case.pass_rule,
        case.salt,
        case.known,
    )


def test_the_configuration_gives_the_defaults_of_cases(project: Project) -> None:
    """A case that says something itself wins."""
    project.config(CONFIG + '[defaults]\ntargets = ["gpt"]\ntrials = 3\npass = "any"\nsalt = "s"\n')
    case = project.case(prompt="hi")
    own = project.case(prompt="hi", trials=1, **{"pass": 0.5}, salt="")

    assert (3, "any", "s") == (case.trials, case.pass_rule, case.salt)
    assert (1, 0.5, "") == (own.trials, own.pass_rule, own.salt)


def test_with_several_targets_a_case_or_the_defaults_must_choose(project: Project) -> None:
    """Nothing is asked of a target by accident."""
    project.config(CONFIG + '[targets.b]\ntype = "openai"\nbase_url = "https://b.example.com"\n')
    project.cases({"id": "c", "prompt": "hi"})
    error = project.refused()

    assert "cases/a.json: no targets; there are gpt, b at /0" == error.message
    assert "name them in the case or in [defaults].targets" == error.hint


@pytest.mark.parametrize(
    ("members", "message", "hint"),
    [
        ({"trails": 2}, "unknown key 'trails' at /0/trails", "did you mean 'trials'?"),
        ({"targets": ["gtp"]}, "no target 'gtp' at /0/targets/0", "did you mean 'gpt'?"),
        ({"id": ""}, 'found "", expected text that is not empty at /0/id', ""),
        ({"id": 5}, "found 5, expected text at /0/id", ""),
        ({"trials": 0}, "found 0, expected at least 1 at /0/trials", ""),
        ({"trials": True}, "found true, expected a whole number at /0/trials", ""),
        ({"trials": 1.5}, "found 1.5, expected a whole number at /0/trials", ""),
        ({"tags": "orders"}, 'found "orders", expected a list at /0/tags', ""),
        ({"known": "broken"}, 'found "broken", expected one of "failing", "flaky" at /0/known', ""),
        (
            {"pass": 0},
            "found 0, expected more than 0 at /0/pass",
            "",
        ),
        (
            {"pass": "most"},
            'found "most", expected "all", "majority", "any" or a number above 0 and up to 1 at /0/pass',
            "",
        ),
        (
            {"expected": ["Bad"]},
            "found \"Bad\", expected a finding code: lower-case letters, digits and '_', a letter first at /0/expected/0",
            "",
        ),
        (
            {"expected": ["ok\n"]},
            "found \"ok\\n\", expected a finding code: lower-case letters, digits and '_', a letter first at /0/expected/0",
            "",
        ),
        (
            {"vars": {"env": 1}},
            'found "env", expected another name than env, which is the environment in templates at /0/vars',
            "",
        ),
        (
            {"context": {"now": "2026-01-01"}},
            'found "2026-01-01", expected an RFC 3339 date-time at /0/context/now',
            "for example 2026-01-01T00:00:00Z",
        ),
        ({"context": {"now": 5}}, "found 5, expected text at /0/context/now", ""),
        ({"context": []}, "found [], expected a mapping at /0/context", ""),
        ({"prompt": 5}, "found 5, expected text, {file: path} or a list of messages at /0/prompt", ""),
        ({"prompt": {"flie": "x"}}, "unknown key 'flie' at /0/prompt/flie", "did you mean 'file'?"),
        ({"prompt": [{"content": "x"}]}, "no member 'role' at /0/prompt/0", ""),
        ({"checks": [{"contians": "x"}]}, "unknown key 'contians' at /0/checks/0/contians", "did you mean 'contains'?"),
        ({"checks": [{}]}, "found {}, expected exactly one member at /0/checks/0", ""),
        (
            {"checks": [{"equals": "a", "regex": "b"}]},
            'found {"equals": "a", "regex": "b"}, expected exactly one member at /0/checks/0',
            "",
        ),
        (
            {"checks": [{"contains": {"text": "a", "any": ["b"]}}]},
            "found text and any, expected exactly one of text, any, all at /0/checks/0/contains",
            "",
        ),
        (
            {"checks": [{"contains": {"txt": "a"}}]},
            "unknown key 'txt' at /0/checks/0/contains/txt",
            "did you mean 'text'?",
        ),
        (
            {"checks": [{"contains": 5}]},
            "found 5, expected text, or exactly one of {text, any, all} with ignore_case at /0/checks/0/contains",
            "",
        ),
        ({"checks": [{"max_tokens": "4"}]}, 'found "4", expected a whole number at /0/checks/0/max_tokens', ""),
        (
            {"checks": [{"regex": {"pattern": "a", "flags": "x"}}]},
            'found "x", expected some of the letters i, m and s at /0/checks/0/regex/flags',
            "",
        ),
        (
            {"checks": [{"regex": "("}]},
            "pattern '(' does not compile: missing ), unterminated subpattern at position 0 at /0/checks/0/regex",
            "",
        ),
        (
            {"checks": [{"finish_reason": []}]},
            "found [], expected a list that is not empty at /0/checks/0/finish_reason",
            "",
        ),
    ],
)
def test_a_wrong_member_is_named_with_what_was_found_and_expected(
    project: Project, members: dict[str, Any], message: str, hint: str
) -> None:
    """Unknown keys come with the nearest known one."""
    project.cases({"id": "c", "prompt": "hi", **members})
    error = project.refused()

    assert (f"cases/a.json: {message}", hint) == (error.message, error.hint)


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ({}, "none"),
        ({"request": {}, "prompt": "p"}, "request and prompt"),
        ({"prompt": "p", "body": {}}, "prompt and body"),
    ],
)
def test_a_case_has_exactly_one_of_request_prompt_and_body(
    project: Project, members: dict[str, Any], found: str
) -> None:
    """Never two, never none."""
    project.cases({"id": "c", **members})

    assert f"found {found}, expected exactly one of request, prompt, body at /0" in project.refused().message


def test_errors_in_yaml_name_the_line_of_the_value_itself(project: Project) -> None:
    """Not only the line of the case."""
    project.write(
        "cases/a.yaml", "cases:\n  - id: a\n    prompt: p\n    checks:\n      - max_tokens: 1\n      - maxtokens: 2\n"
    )
    error = project.refused()

    assert "cases/a.yaml:6: unknown key 'maxtokens' at /cases/0/checks/1/maxtokens" == error.message
    assert "did you mean 'max_tokens'?" == error.hint


@pytest.mark.parametrize(
    "now",
    ["2026-01-01T00:00:00Z", "2026-01-01t00:00:00.123z", "2026-12-31T23:59:59+05:30", "2024-02-29T00:00:00-00:00"],
)
def test_date_times_of_rfc_3339_are_accepted(project: Project, now: str) -> None:
    """With any offset and fraction."""
    assert {"now": now} == project.case(context={"now": now}).context


@pytest.mark.parametrize(
    "now",
    [
        "2026-01-01T00:00:00",
        "2026-01-01 00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "20260101T000000Z",
        "2026-01-01T00:00:00Z\n",
        "",
    ],
)
def test_other_spellings_of_time_are_refused(project: Project, now: str) -> None:
    """No zone, no such day, another standard."""
    project.cases({"id": "c", "prompt": "p", "context": {"now": now}})

    assert "expected an RFC 3339 date-time" in project.refused().message


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/hostname", "a/../../b", "C:\\x", "", "x" * 5000, "a\0b", "."])
def test_files_outside_of_the_project_cannot_be_named(project: Project, name: str) -> None:
    """By no spelling."""
    project.cases({"id": "c", "prompt": {"file": name}})

    assert project.refused().message.startswith("cases/a.json: ")


def test_a_symbolic_link_does_not_lead_outside(project: Project) -> None:
    """The link is inside, the file is not."""
    outside = project.root.parent / f"{project.root.name}-outside.txt"
    outside.write_text("x")
    (project.root / "link.txt").symlink_to(outside)
    project.cases({"id": "c", "prompt": {"file": "link.txt"}})

    assert "'link.txt' is a symbolic link to a file outside the project at /0/prompt/file" in project.refused().message


def test_a_symbolic_link_within_the_project_is_followed(project: Project) -> None:
    """Teams share prompts that way."""
    project.write("prompts/p.txt", "shared")
    (project.root / "link.txt").symlink_to(project.root / "prompts" / "p.txt")

    body = project.rendered(prompt={"file": "link.txt"}).document["body"]

    assert [{"role": "user", "content": "shared"}] == body["messages"]


def test_a_prompt_file_that_is_missing_is_named(project: Project) -> None:
    """At load, not at the first call."""
    project.cases({"id": "c", "prompt": {"file": "prompts/x.txt"}})

    assert "cases/a.json: no file 'prompts/x.txt' at /0/prompt/file" == project.refused().message


@pytest.mark.parametrize("spelling", ["{{ env.X }}", "{{env.X}}", "{% if env.X %}a{% endif %}"])
def test_call_time_variables_in_prompts_warn(project: Project, spelling: str) -> None:
    """They change what is sent and not what is keyed."""
    project.cases({"id": "c", "prompt": f"hi {spelling}"})

    warning = (
        "{{ env.X }} in prompt cases/a.json#/0 is not part of the key; "
        "if it changes the answer use ${env:X}, if it is a secret leave it"
    )
    assert (warning,) == project.load().warnings


def test_a_prompt_file_warns_once_for_all_its_cases(project: Project) -> None:
    """The file is named, not each case."""
    project.write("p.txt", "{{ env.X }}")
    project.cases({"id": "a", "prompt": {"file": "p.txt"}}, {"id": "b", "prompt": {"file": "p.txt"}})

    assert 1 == len(project.load().warnings)


def test_prompts_in_cases_warn_once_for_each_variable(project: Project) -> None:
    """A hundred thousand cases do not print as many lines."""
    project.cases(*({"id": str(i), "prompt": "{{ env.X }}"} for i in range(3)))
    (warning,) = project.load().warnings

    assert warning.startswith("{{ env.X }} in prompt cases/a.json#/0 (and 2 more) is not part of the key")


def test_every_check_in_every_spelling_is_accepted(project: Project) -> None:
    """The list of checks that exist, as cases write them."""
    checks: list[dict[str, Any]] = [
        {"contains": "a"},
        {"contains": {"any": ["a", "b"], "ignore_case": True}},
        {"not_contains": {"all": ["a"]}},
        {"equals": {"text": "a", "strip": True, "ignore_case": False}},
        {"equals": "a"},
        {"regex": "^a"},
        {"regex": {"pattern": "^a", "flags": "ims"}},
        {"json_schema": {"type": "object"}},
        {"tool_called": "f"},
        {"tool_called": {"name": "f", "arguments": {"a": 1}}},
        {"not_tool_called": "f"},
        {"max_tokens": 400},
        {"finish_reason": "stop"},
        {"finish_reason": ["stop", "length"]},
    ]

    assert tuple(checks) == project.case(checks=checks).checks
