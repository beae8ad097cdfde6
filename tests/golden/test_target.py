"""Targets refuse what could leak, contradict itself, or not be sent."""

from __future__ import annotations

import pytest

from tests.golden.conftest import Project


def config(lines: str, base_url: str = "https://api.example.com/v1") -> str:
    return f'suite = "s"\ncases = ["cases/*"]\n[targets.gpt]\ntype = "openai"\nbase_url = "{base_url}"\n{lines}\n'


def test_an_unknown_type_lists_the_types_that_exist(project: Project) -> None:
    """Later types are not guessed at."""
    project.config(config("").replace('"openai"', '"cohere"'))

    assert (
        'whichclock.toml: found "cohere", expected one of "openai", "openai-responses", "embeddings", "anthropic", '
        '"gemini", "http", "exec" at /targets/gpt/type' == project.refused().message
    )


@pytest.mark.parametrize("url", ["https://user:pw@api.example.com", "https://user@api.example.com/v1"])
def test_a_user_name_in_the_url_is_refused(project: Project, url: str) -> None:
    """Credentials in a URL would be keyed and logged."""
    project.config(config("", url))
    error = project.refused()

    assert "base_url holds a user name or password at /targets/gpt/base_url" in error.message
    assert "pw" not in error.message.replace("password", "")


@pytest.mark.parametrize("url", ["api.example.com/v1", "ftp://api.example.com", "https://", "https://h:port/"])
def test_a_base_url_that_is_none_is_refused(project: Project, url: str) -> None:
    """Only absolute http and https addresses are."""
    project.config(config("", url))

    assert project.refused().message.startswith("whichclock.toml: base_url is no ")


@pytest.mark.parametrize("name", ["Authorization", "authorization", "AUTHORIZATION"])
def test_the_header_that_api_key_sends_cannot_be_declared_beside_it(project: Project, name: str) -> None:
    """In any case of its name."""
    project.config(config(f'api_key = "{{{{ env.K }}}}"\nheaders = {{ {name} = "x" }}'))

    assert "is declared beside api_key" in project.refused().message


def test_another_credential_header_beside_api_key_is_allowed(project: Project) -> None:
    """Gateways ask for both; neither is keyed."""
    project.config(config('api_key = "{{ env.K }}"\nheaders = { X-Api-Key = "{{ env.G }}" }'))
    rendered = project.rendered(prompt="hi")

    assert "headers" not in rendered.document
    assert ("G", "K") == rendered.env
    assert () == project.load().warnings


def test_headers_that_differ_in_case_only_are_refused(project: Project) -> None:
    """HTTP knows one of them."""
    project.config(config('headers = { X-A = "1", x-a = "2" }'))

    assert "header 'x-a' is already declared as 'X-A'" in project.refused().message


@pytest.mark.parametrize("name", ["Content-Length", "transfer-encoding", "Connection"])
def test_headers_that_the_client_sets_are_refused(project: Project, name: str) -> None:
    """They follow from the body and the connection."""
    project.config(config(f'headers = {{ {name} = "1" }}'))

    assert "is set by the client" in project.refused().message


@pytest.mark.parametrize("value", ["a\\r\\nX-B: 1", "a\\n", "\\u0000", "\\u007f"])
def test_control_characters_in_a_header_are_refused(project: Project, value: str) -> None:
    """A line end would start another header."""
    project.config(config(f'headers = {{ X-A = "{value}" }}'))

    assert "holds a control character at /targets/gpt/headers/X-A" in project.refused().message


def test_a_header_name_must_be_one(project: Project) -> None:
    """RFC 9110 tokens only."""
    project.config(config('headers = { "X A" = "1" }'))

    assert "expected a header name" in project.refused().message


@pytest.mark.parametrize(
    "line", ['model = "{{ model }}"', 'headers = { X-A = "{{ env }}" }', 'params = { stop = ["{{ env.A | upper }}"] }']
)
def test_targets_know_no_other_placeholder(project: Project, line: str) -> None:
    """What is not read must not be sent as if it were."""
    project.config(config(line))

    assert "targets know {{ env.NAME }} only" == project.refused().hint


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ('model = "{{ env.X }}"', "model"),
        ('params = { a = { b = ["{{ env.X }}"] } }', "params/a/b/0"),
        ('headers = { X-A = "{{ env.X }}" }', "header X-A"),
    ],
)
def test_call_time_variables_outside_of_credentials_warn(project: Project, line: str, where: str) -> None:
    """They are not part of the key."""
    project.config(config(line))
    project.cases({"id": "c", "prompt": "hi"})

    warning = (
        f"target gpt: {{{{ env.X }}}} in {where} is not part of the key; "
        "if it changes the answer use ${env:X}, if it is a secret leave it"
    )
    assert (warning,) == project.load().warnings


def test_a_call_time_variable_in_the_path_warns(project: Project) -> None:
    """It is keyed by its name alone."""
    project.config(config("", "https://api.example.com/{{ env.X }}/v1"))
    project.cases({"id": "c", "prompt": "hi"})

    assert 1 == len(project.load().warnings)


@pytest.mark.parametrize(
    "line", ['api_key = "{{ env.X }}"', 'headers = { Cookie = "{{ env.X }}" }', 'query = { key = "{{ env.X }}" }']
)
def test_credentials_do_not_warn(project: Project, line: str) -> None:
    """That is what call-time variables are for."""
    project.config(config(line))
    project.cases({"id": "c", "prompt": "hi"})

    assert () == project.load().warnings


@pytest.mark.parametrize("url", ["https://{{ env.H }}/v1", "{{ env.H }}", "https://h:{{ env.P }}/", "{{ env.S }}://h"])
def test_the_host_cannot_be_read_at_call_time(project: Project, url: str) -> None:
    """Another host is another key."""
    project.config(config("", url))

    assert "scheme, host and port cannot be read at call time" in project.refused().message


def test_a_key_written_into_the_file_warns(project: Project) -> None:
    """Dummy keys for local servers do not."""
    project.config(config('api_key = "sk-test-0123456789abcdefABCDEF"'))
    project.cases({"id": "c", "prompt": "hi"})
    (warning,) = project.load().warnings

    assert "api_key is written in the file" in warning
    assert "sk-test" not in warning

    project.config(config('api_key = "none"'))

    assert () == project.load().warnings


def test_limits_come_from_the_target(project: Project) -> None:
    """Those that are not given have the documented defaults."""
    project.config(config("timeout_s = 5\nretries = 0\naccept_status = [404]"))
    project.cases({"id": "c", "prompt": "hi"})
    target = project.load().targets["gpt"]

    assert (5, 0, 16, (404,)) == (target.timeout_s, target.retries, target.concurrency, target.accept_status)
