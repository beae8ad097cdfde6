"""Configuration of each type of target: what it must say, what it may say, and what it must not."""

from __future__ import annotations

from typing import Any

import pytest

from golden.target_type import TYPES
from tests.golden.conftest import Project

LEAST = {
    "openai": 'base_url = "https://api.example.com/v1"',
    "openai-responses": 'base_url = "https://api.example.com/v1"',
    "embeddings": 'base_url = "https://api.example.com/v1"',
    "anthropic": 'base_url = "https://api.example.com"',
    "gemini": 'base_url = "https://api.example.com"\nmodel = "m1"',
    "http": 'url = "https://sut.example.com/answer"',
    "exec": 'command = ["./sut"]',
}


def config(kind: str, lines: str = "", least: str | None = None) -> str:
    members = LEAST[kind] if least is None else least
    return f'suite = "s"\ncases = ["cases/*"]\n[targets.t]\ntype = "{kind}"\n{members}\n{lines}\n'


def test_every_type_is_in_the_table_and_in_the_schema() -> None:
    """One line each."""
    from golden import schema

    named = schema.shipped("config")["$defs"]["target"]

    assert set(LEAST) == set(TYPES) == set(named["properties"]["type"]["enum"])
    assert [[kind] for kind in TYPES] == [branch["properties"]["type"]["enum"] for branch in named["anyOf"]]


@pytest.mark.parametrize("kind", LEAST)
def test_little_is_needed(project: Project, kind: str) -> None:
    """A type and where it goes."""
    project.config(config(kind))
    rendered = project.rendered(prompt="hi")

    assert ("exec" if kind == "exec" else "http") == rendered.document["transport"]
    assert () == project.load().warnings


@pytest.mark.parametrize(
    ("kind", "member"),
    [
        ("openai", "base_url"),
        ("anthropic", "base_url"),
        ("embeddings", "base_url"),
        ("gemini", "base_url"),
        ("http", "url"),
        ("exec", "command"),
    ],
)
def test_what_is_missing_is_named_with_the_type(project: Project, kind: str, member: str) -> None:
    """A type that is not told where to go."""
    project.config(config(kind, least='model = "m1"' if kind not in ("http",) else ""))
    error = project.refused()

    assert f"whichclock.toml: no member '{member}' of a target of type {kind} at /targets/t" == error.message
    assert error.hint


@pytest.mark.parametrize(
    ("kind", "line", "member"),
    [
        ("openai", 'url = "https://x.example.com"', "url"),
        ("openai", 'command = ["x"]', "command"),
        ("openai", 'select = "/a"', "select"),
        ("anthropic", "body = {}", "body"),
        ("gemini", 'method = "GET"', "method"),
        ("http", 'base_url = "https://x.example.com"', "base_url"),
        ("http", 'api_key = "{{ env.K }}"', "api_key"),
        ("http", 'model = "m"', "model"),
        ("http", "params = {}", "params"),
        ("http", "query = {}", "query"),
        ("http", 'command = ["x"]', "command"),
        ("exec", 'base_url = "https://x.example.com"', "base_url"),
        ("exec", 'headers = { A = "b" }', "headers"),
        ("exec", "query = {}", "query"),
        ("exec", 'api_key = "{{ env.K }}"', "api_key"),
        ("exec", 'endpoint = "e"', "endpoint"),
        ("exec", "accept_status = [404]", "accept_status"),
        ("exec", 'select = "/a"', "select"),
    ],
)
def test_what_a_type_does_not_have_is_named(project: Project, kind: str, line: str, member: str) -> None:
    """With the type, and with what it has instead."""
    project.config(config(kind, line))
    error = project.refused()

    assert f"whichclock.toml: unknown key '{member}' of a target of type {kind} at /targets/t/{member}" == error.message
    assert error.hint


def test_a_credential_of_a_service_or_program_has_its_place(project: Project) -> None:
    """The hint says which."""
    project.config(config("http", 'api_key = "x"'))
    service = project.refused().hint
    project.config(config("exec", 'api_key = "x"'))

    assert "a credential is a header with {{ env.NAME }}" in service
    assert "a credential is a value of env with {{ env.NAME }}" in project.refused().hint


@pytest.mark.parametrize(
    ("kind", "line", "at"),
    [
        ("http", 'select = "a"', "select"),
        ("http", 'select = "/a~2"', "select"),
        ("http", 'volatile = ["id"]', "volatile/0"),
        ("http", 'volatile = [""]', "volatile/0"),
        ("http", 'volatile = ["/a~"]', "volatile/0"),
        ("http", 'method = "PO ST"', "method"),
        ("exec", "command = []", "command"),
        ("exec", 'command = "./sut"', "command"),
        ("exec", 'command = ["a\\u0000b"]', "command/0"),
        ("exec", 'env = { "A=B" = "x" }', "env"),
        ("exec", 'env = { A = "x\\u0000" }', "env/A"),
        ("exec", "env = { A = 1 }", "env/A"),
        ("openai", "requests_per_minute = 0", "requests_per_minute"),
        ("openai", "tokens_per_minute = -1", "tokens_per_minute"),
        ("openai", 'tokens_per_minute = "many"', "tokens_per_minute"),
    ],
)
def test_a_value_of_another_shape_is_refused(project: Project, kind: str, line: str, at: str) -> None:
    """At its pointer."""
    own = line.startswith("command")
    project.config(config(kind, "" if own else line, line if own else None))
    message = project.refused().message

    assert message.endswith(f" at /targets/t/{at}")
    assert message.startswith("whichclock.toml: found ")


def test_what_is_read_stands_in_the_target(project: Project) -> None:
    """Methods in upper case, pointers in order and once."""
    lines = 'method = "put"\nselect = "/a/0"\nvolatile = ["/b", "/items/*/id", "/b"]\nrequests_per_minute = 60\ntokens_per_minute = 0.5'
    project.config(config("http", lines))
    project.cases({"id": "c", "prompt": "hi"})
    target = project.load().targets["t"]

    assert ("PUT", "/a/0", ("/b", "/items/*/id"), 60, 0.5) == (
        target.method,
        target.select,
        target.volatile,
        target.requests_per_minute,
        target.tokens_per_minute,
    )


@pytest.mark.parametrize(
    ("kind", "header"),
    [
        ("openai", "authorization"),
        ("openai-responses", "AUTHORIZATION"),
        ("embeddings", "Authorization"),
        ("anthropic", "X-API-Key"),
        ("gemini", "X-Goog-Api-Key"),
    ],
)
def test_the_header_of_the_key_cannot_be_declared_beside_it(project: Project, kind: str, header: str) -> None:
    """Each type has its own, in any case of its name."""
    project.config(config(kind, f'api_key = "{{{{ env.K }}}}"\nheaders = {{ {header} = "{{{{ env.G }}}}" }}'))

    assert (
        f"whichclock.toml: header '{header}' is declared beside api_key, which sends the same header at "
        f"/targets/t/headers/{header}" == project.refused().message
    )


@pytest.mark.parametrize("kind", [kind for kind in LEAST if kind not in ("http", "exec")])
def test_a_credential_of_another_type_may_stand_beside_the_key(project: Project, kind: str) -> None:
    """For a gateway; it is in no key."""
    header = "x-api-key" if TYPES[kind].key_header == "Authorization" else "Authorization"
    project.config(config(kind, f'api_key = "{{{{ env.K }}}}"\nheaders = {{ {header} = "{{{{ env.G }}}}" }}'))
    rendered = project.rendered(prompt="hi")

    assert {"anthropic-version"} >= set(rendered.document.get("headers", {}))
    assert ("G", "K") == rendered.env


@pytest.mark.parametrize(
    "url",
    [
        "https://{{ host }}/x",
        "{{ url }}",
        "https://sut.example.com:{{ port }}/",
        "{{ scheme }}://sut.example.com",
        "https://sut.example.com{{ tail }}",
        "https://sut{# c #}.example.com/",
        "https://{% if a %}a{% endif %}.example.com",
    ],
)
def test_no_template_reaches_the_host(project: Project, url: str) -> None:
    """Another host is another key, and another receiver of credentials."""
    project.config(config("http", least=f'url = "{url}"'))

    assert (
        "whichclock.toml: scheme, host and port cannot be read at call time at /targets/t/url"
        == project.refused().message
    )


@pytest.mark.parametrize(
    "url", ["sut.example.com/x", "ftp://sut.example.com", "https://", "https://h:port/", "https://u:p@h.example.com/"]
)
def test_a_url_that_is_none_is_refused(project: Project, url: str) -> None:
    """Absolute, of HTTP, and without a user."""
    project.config(config("http", least=f'url = "{url}"'))
    message = project.refused().message

    assert message.startswith("whichclock.toml: url ")
    assert message.endswith(" at /targets/t/url")


@pytest.mark.parametrize(
    ("lines", "at"),
    [
        ('body_text = "{{ a"', "body_text"),
        ('body = { a = ["{% if %}"] }', "body/a/0"),
        ('headers = { X-A = "{{ a | nothing }}" }', "headers/X-A"),
    ],
)
def test_a_template_that_is_none_is_refused_at_load(project: Project, lines: str, at: str) -> None:
    """Before any case uses it."""
    project.config(config("http", lines))
    message = project.refused().message

    assert message.startswith("whichclock.toml: template (line 1 of the text): ")
    assert message.endswith(f" at /targets/t/{at}")


def test_two_bodies_are_one_too_many(project: Project) -> None:
    """JSON or text."""
    project.config(config("http", 'body = {}\nbody_text = ""'))

    assert "whichclock.toml: body and body_text are two bodies at /targets/t/body_text" == project.refused().message


@pytest.mark.parametrize(
    "line", ['command = ["./sut", "{{ prompt }}"]', 'command = ["x"]\nenv = { A = "{{ vars.a }}" }']
)
def test_programs_know_no_other_placeholder(project: Project, line: str) -> None:
    """A case speaks to a program on its input."""
    project.config(config("exec", least=line))

    assert "targets know {{ env.NAME }} only" == project.refused().hint


@pytest.mark.parametrize(
    ("kind", "lines", "where"),
    [
        ("http", 'body = { a = ["{{ env.X }}"] }', "body/a/0"),
        ("http", 'body_text = "{{ env.X }}"', "body_text"),
        ("http", 'headers = { X-A = "{{ env.X }}" }', "header X-A"),
        ("exec", 'params = { a = "{{ env.X }}" }', "params/a"),
        ("exec", 'model = "{{ env.X }}"', "model"),
    ],
)
def test_call_time_variables_outside_of_credentials_warn(project: Project, kind: str, lines: str, where: str) -> None:
    """They are not part of the key."""
    project.config(config(kind, lines))
    project.cases({"id": "c", "prompt": "hi"})

    warning = (
        f"target t: {{{{ env.X }}}} in {where} is not part of the key; "
        "if it changes the answer use ${env:X}, if it is a secret leave it"
    )
    assert (warning,) == project.load().warnings


@pytest.mark.parametrize(
    ("kind", "least", "count"),
    [
        ("http", 'url = "https://h.example.com/{{ env.X }}"', 1),
        ("http", 'url = "https://h.example.com/?key={{ env.X }}"', 0),
        ("http", 'url = "https://h.example.com/"\nheaders = { Cookie = "{{ env.X }}" }', 0),
        ("exec", 'command = ["./sut", "{{ env.X }}"]', 1),
        ("exec", 'command = ["./sut"]\nenv = { A = "{{ env.X }}" }', 0),
    ],
)
def test_places_for_credentials_do_not_warn(project: Project, kind: str, least: str, count: int) -> None:
    """A path or a word of a command is none: other people see them."""
    project.config(config(kind, least=least))
    project.cases({"id": "c", "prompt": "hi"})

    assert count == len(project.load().warnings)


@pytest.mark.parametrize(
    ("kind", "least"),
    [
        ("http", 'url = "https://h.example.com/${env:MY_TOKEN}"'),
        ("http", 'url = "https://h.example.com/"\nheaders = { X-A = "${env:MY_TOKEN}" }'),
        ("http", 'url = "https://h.example.com/"\nbody = { a = "${env:MY_TOKEN}" }'),
        ("exec", 'command = ["./sut", "${env:MY_TOKEN}"]'),
        ("exec", 'command = ["./sut"]\nenv = { A = "${env:MY_TOKEN}" }'),
    ],
)
def test_what_is_named_like_a_secret_is_not_keyed(project: Project, kind: str, least: str) -> None:
    """Unless the target says that it is none."""
    project.environ["MY_TOKEN"] = "x"
    project.config(config(kind, least=least))

    assert "variable MY_TOKEN is named like a secret and would be part of the key" in project.refused().message

    project.config(config(kind, least=f'keyed_env = ["MY_TOKEN"]\n{least}'))

    assert project.rendered(prompt="hi")


@pytest.mark.parametrize(
    ("kind", "lines", "where"),
    [
        ("http", 'headers = { Authorization = "Bearer sk-test-0123456789abcdefABCDEF" }', "header Authorization"),
        ("exec", 'env = { API = "sk-test-0123456789abcdefABCDEF" }', "env API"),
    ],
)
def test_a_key_written_into_the_file_warns(project: Project, kind: str, lines: str, where: str) -> None:
    """In every place that is made for one; the value is not repeated."""
    project.config(config(kind, lines))
    project.cases({"id": "c", "prompt": "hi"})

    assert (
        f"target t: {where} is written in the file; set a variable and write {{{{ env.NAME }}}}",
    ) == project.load().warnings


CASES: list[dict[str, Any]] = [{"id": "c", "body": {"a": 1}, "targets": ["t", "u"]}]


def test_a_body_goes_to_targets_of_one_type(project: Project) -> None:
    """It is in one dialect; the error names two targets and their types."""
    project.config(config("openai") + '[targets.u]\ntype = "exec"\ncommand = ["./sut"]\n')
    project.cases(*CASES)
    error = project.refused()

    assert (
        "cases/a.json: a body is sent as it is, and target t is of type openai, u of exec at /0/body" == error.message
    )

    project.config(config("openai") + f'[targets.u]\ntype = "openai"\n{LEAST["openai"]}\n')
    project.cases(*CASES)

    assert ("t", "u") == project.load().cases[0].targets
