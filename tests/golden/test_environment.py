"""Variables of the configuration are resolved at load, and what looks like a secret is never keyed."""

from __future__ import annotations

import pytest

from tests.golden.conftest import Project

FAKE_KEY = "sk-test-0123456789abcdefABCDEF"


def target(**members: str) -> str:
    lines = "\n".join(
        f"{name} = {text}" for name, text in {"base_url": '"https://api.example.com/v1"', **members}.items()
    )
    return f'suite = "s"\ncases = ["cases/*"]\n[targets.gpt]\ntype = "openai"\n{lines}\n'


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "https://api.example.com/v1"),
        ({"BASE": ""}, "https://api.example.com/v1"),
        ({"BASE": "http://127.0.0.1:8080/v1"}, "http://127.0.0.1:8080/v1"),
    ],
)
def test_a_default_stands_in_for_a_variable_that_is_unset_or_empty(
    project: Project, environ: dict[str, str], expected: str
) -> None:
    """As in a shell."""
    project.config(target(base_url='"${env:BASE:-https://api.example.com/v1}"'))
    project.cases({"id": "c", "prompt": "hi"})
    project.environ = environ

    assert expected == project.load().targets["gpt"].base_url


def test_an_unset_variable_names_every_target_that_it_keys(project: Project) -> None:
    """The author sees what depends on it."""
    text = target(base_url='"https://${env:HOST_NAME}/v1"') + (
        '[targets.b]\ntype = "openai"\nbase_url = "https://api.example.com"\nmodel = "${env:HOST_NAME}"\n'
    )
    project.config(text)
    error = project.refused()

    assert (
        "whichclock.toml: variable HOST_NAME is not set; it is part of the key of target b, gpt at /targets/gpt/base_url"
        == error.message
    )
    assert "${env:HOST_NAME:-…}" in error.hint


def test_an_unset_variable_outside_of_targets_is_an_error_too(project: Project) -> None:
    """Paths may hold variables; they key nothing."""
    project.config('snapshots = "${env:STORE}"\n' + target())

    assert "whichclock.toml: variable STORE is not set at /snapshots" == project.refused().message


@pytest.mark.parametrize("name", ["API_KEY", "MY_TOKEN", "CLIENT_SECRET", "DB_PASSWORD", "AWS_CREDENTIALS", "api_key"])
@pytest.mark.parametrize(
    "members",
    [
        {"base_url": '"https://api.example.com/${env:NAME}"'},
        {"headers": '{ X-A = "${env:NAME}" }'},
        {"headers": '{ Authorization = "Bearer ${env:NAME}" }'},
        {"params": '{ user = "${env:NAME}" }'},
        {"params": '{ metadata = { a = ["${env:NAME}"] } }'},
        {"query": '{ k = "${env:NAME}" }'},
        {"model": '"${env:NAME}"'},
        {"base_url": '"https://api.example.com/${env:NAME:-x}"'},
    ],
)
def test_variables_named_like_secrets_are_refused_wherever_they_would_be_keyed(
    project: Project, name: str, members: dict[str, str]
) -> None:
    """Set or not, default or not: the name alone decides."""
    project.config(target(**{member: text.replace("NAME", name) for member, text in members.items()}))
    project.environ = {name: "plain"}
    error = project.refused()

    assert f"variable {name} is named like a secret" in error.message
    assert f"{{{{ env.{name} }}}}" in error.hint


@pytest.mark.parametrize(
    "value",
    [
        FAKE_KEY,
        "ghp_" + "a1B2c3D4e5" * 3,
        "AKIA" + "ABCDEFGH12345678",
        "Bearer abcdEFGH1234abcdEFGH1234abcdEFGH1234",
        "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2lnbmF0dXJl",
        "-----BEGIN PRIVATE KEY-----",
    ],
)
def test_values_that_look_like_keys_are_refused_whatever_their_name(project: Project, value: str) -> None:
    """The message does not repeat the value."""
    project.config(target(headers='{ X-A = "${env:TENANT}" }'))
    project.environ = {"TENANT": value}
    error = project.refused()

    assert "the value of variable TENANT looks like a key" in error.message
    assert value not in error.message + error.hint


@pytest.mark.parametrize(
    "value", ["gpt-4.1-mini-2025-04-14", "https://api.example.com/v1", "acme", "a" * 64, "0123456789abcdef" * 4]
)
def test_ordinary_values_do_not_look_like_keys(project: Project, value: str) -> None:
    """Model names, addresses and digests may be keyed."""
    project.config(target(headers='{ X-A = "${env:TENANT}" }'))
    project.cases({"id": "c", "prompt": "hi"})
    project.environ = {"TENANT": value}

    assert {"X-A": value} == project.load().targets["gpt"].headers


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (target() + '[defaults]\nsalt = "${env:MY_TOKEN}"\n', "/defaults/salt"),
        (target(salt='"${env:MY_TOKEN}"'), "/targets/gpt/salt"),
    ],
)
def test_salts_are_keyed_too(project: Project, text: str, at: str) -> None:
    """They stand in every snapshot as they are."""
    project.config(text)
    project.environ = {"MY_TOKEN": "x"}
    error = project.refused()

    assert (
        f"whichclock.toml: variable MY_TOKEN is named like a secret and would be part of the key at {at}"
        == error.message
    )
    assert "take a value that is no secret" in error.hint


def test_bytes_that_are_no_text_do_not_reach_the_key(project: Project) -> None:
    """Python shows them as lone surrogates."""
    project.config(target(model='"${env:MODEL}"'))
    project.environ = {"MODEL": "m\udcff"}

    assert "whichclock.toml: lone surrogate in text at /targets/gpt/model" == project.refused().message


def test_keyed_env_lets_a_variable_through_by_name(project: Project) -> None:
    """The author says that it is no secret."""
    project.config(target(headers='{ X-A = "${env:KEYBOARD}" }', keyed_env='["KEYBOARD"]'))
    project.cases({"id": "c", "prompt": "hi"})
    project.environ = {"KEYBOARD": "qwerty"}

    assert {"X-A": "qwerty"} == project.load().targets["gpt"].headers


def test_a_load_time_variable_in_api_key_is_refused(project: Project) -> None:
    """Grading would need the credential."""
    project.config(target(api_key='"${env:OPENAI_API_KEY:-none}"'))
    error = project.refused()

    assert "in api_key would be needed even to grade" in error.message
    assert "write {{ env.OPENAI_API_KEY }}, which is read at call time and never keyed" == error.hint


@pytest.mark.parametrize("text", ["${env:}", "${env:A B}", "${env:1A}", "${env:A", "${env:A:x}"])
def test_misspelt_references_are_refused(project: Project, text: str) -> None:
    """They would be sent as they stand."""
    project.config(target(model=f'"{text}"'))

    assert "is no ${env:NAME} at /targets/gpt/model" in project.refused().message


def test_case_files_are_literal(project: Project) -> None:
    """`${env:X}` is read in the configuration only."""
    project.environ = {"X": "value"}

    assert "say ${env:X}" == project.rendered(prompt="say ${env:X}").document["body"]["messages"][0]["content"]
