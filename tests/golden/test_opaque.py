"""Variables of the environment in templates: written out whole, keyed by name, and never confused with the same text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from golden.render import Rendered
from golden.wire import Wire
from snapshots.errors import ConfigError
from tests.golden.conftest import Project
from tests.golden.rendering import made

SECRET = "abcq-efgh-ijkl"

COMPUTED = [
    "{{ env.T[:9] }}",
    "{{ env.T[0] }}",
    "{{ env.T | replace('q', 'z') }}",
    "{{ env.T | upper }}",
    "{{ env.T | default('x') }}",
    "{{ env.T | tojson }}",
    "{{ env.T | length }}",
    "{{ [env.T] | join }}",
    "{{ [env.T] }}",
    "{{ {'a': env.T} }}",
    "{{ env.T ~ 'x' }}",
    "{{ env.T + 'x' }}",
    "{{ 'x' + env.T }}",
    "{{ env.T * 2 }}",
    "{{ 2 * env.T }}",
    "{{ '%s' | format(env.T) }}",
    "{{ '{}'.format(env.T) }}",
    "{{ 'x'.join([env.T]) }}",
    "{{ 'abc'.replace('a', env.T) }}",
    "{{ env.T.upper() }}",
    "{{ env.T._mark }}",
    "{{ dict(a=env.T)['a'] }}",
    "{% if env.T %}x{% endif %}",
    "{% if env.T == 'x' %}x{% endif %}",
    "{% if 'x' != env.T %}x{% endif %}",
    "{% if env.T > 'b' %}x{% endif %}",
    "{% if 'x' in env.T %}x{% endif %}",
    "{% if env.T in 'x' %}x{% endif %}",
    "{% for c in env.T %}{{ c }}{% endfor %}",
    "{{ env['T'] | first }}",
    "{% set t = env.T %}{{ t | upper }}",
    "{% macro m(x) %}{{ x | upper }}{% endmacro %}{{ m(env.T) }}",
]
CAUGHT = {
    "{% set t %}{{ env.T }}{% endset %}{{ t | upper }}": SECRET,
    "{% set t %}{{ env.T }}{% endset %}{{ t[:9] }}": SECRET,
    "{% set t %}{{ env.T }}{% endset %}{{ t | replace('q', 'z') }}": SECRET,
    "{% filter upper %}a{{ env.T }}{% endfilter %}": "A" + SECRET,
    "{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(env.T) }}": f"<{SECRET}>",
    "{% set t = env.T %}{{ t }}": SECRET,
    "{{ env.T if true else 'x' }}": SECRET,
}


def chat(prompt: str) -> Rendered:
    return made("openai", {"prompt": prompt, "vars": {"literal": "${env:T}"}}, model="m1")


def sent(rendered: Rendered, value: str = SECRET) -> Any:
    wire = rendered.wire({"T": value, "U": "other"})
    assert isinstance(wire, Wire)
    assert wire.body is not None
    return json.loads(wire.body)


@pytest.mark.parametrize("text", COMPUTED)
def test_nothing_is_computed_with_a_variable(text: str) -> None:
    """Before anything is keyed or sent."""
    with pytest.raises(ConfigError, match="template"):
        chat(text)


def test_the_error_says_what_can_be_done() -> None:
    """The line, what was tried, and the way out."""
    with pytest.raises(ConfigError) as caught:
        chat("a\n{{ env.T | upper }}")

    assert (
        "a.yaml:1: template (line 2 of the text): env.T can only be written out whole, as {{ env.T }}: "
        "no filter, part, comparison or joining at /prompt" == caught.value.message
    )
    assert "put what is to be sent into a variable of its own" == caught.value.hint


@pytest.mark.parametrize(("text", "expected"), CAUGHT.items())
def test_what_a_block_caught_still_holds_the_whole_value(text: str, expected: str) -> None:
    """Key and wire differ in the value alone, whatever is done to the text around it."""
    rendered = chat(text)

    assert expected == sent(rendered)["messages"][0]["content"]
    assert expected.replace(SECRET, "${env:T}") == rendered.document["body"]["messages"][0]["content"]


def test_a_variable_and_the_text_that_it_is_keyed_as_are_two_requests() -> None:
    """Also where a template wrote that text, and where both stand side by side."""
    texts = [
        "{{ env.T }}",
        "${env:T}",
        "{{ literal }}",
        "{{ env.T }}${env:T}",
        "${env:T}{{ env.T }}",
        "{{ env.T }}{{ env.T }}",
    ]
    rendered = [chat(text) for text in texts]
    wires = [sent(one)["messages"][0]["content"] for one in rendered]

    assert (
        len(set(wires)) == len({one.request_hash for one in rendered}) == len({one.sent_hash for one in rendered}) == 5
    )
    assert [{"/body/messages/0/content": [0]}, None, None, *({"/body/messages/0/content": at} for at in ([0], [1], [0, 1]))] == [
        one.document.get("variables") for one in rendered
    ]  # fmt: skip


def test_two_variables_are_two_keys() -> None:
    """By name, in one text as well."""
    one, other = chat("{{ env.T }} {{ env.U }}"), chat("{{ env.U }} {{ env.T }}")

    assert "${env:T} ${env:U}" == one.document["body"]["messages"][0]["content"]
    assert f"{SECRET} other" == sent(one)["messages"][0]["content"]
    assert one.request_hash != other.request_hash


def test_a_request_without_a_variable_in_its_texts_has_no_such_member() -> None:
    """A key in a header is in no text."""
    rendered = made("openai", {"prompt": "hi"}, model="m1", api_key="{{ env.T }}", headers={"x-t": "{{ env.T }}"})

    assert {"transport", "method", "url", "headers", "body"} == rendered.document.keys()


def test_a_prompt_that_a_service_gets_in_parts_keeps_its_variables_whole() -> None:
    """The template of a target may cut the prompt of a case, and no variable in it."""
    rendered = made(
        "http",
        {"prompt": "{{ env.T }} and more"},
        url="https://h.example.com/a",
        body={"q": "{{ (prompt | upper)[:5] }}"},
    )

    assert ({"q": f"{SECRET} AND"}, {"q": "${env:T} AND"}) == (sent(rendered), rendered.document["body"])


def test_in_a_url_the_text_is_encoded_and_the_variable_is_not() -> None:
    """So that the two are two addresses in the key, as they are on the wire."""
    url = "https://h.example.com/{{ env.T }}/{{ literal }}"
    rendered = made("http", {"prompt": "hi", "vars": {"literal": "${env:T}"}}, url=url, body={})
    wire = rendered.wire({"T": "a/b"})

    assert "https://h.example.com/${env:T}/%24%7Benv%3AT%7D" == rendered.document["url"]
    assert isinstance(wire, Wire)
    assert "https://h.example.com/a%2Fb/%24%7Benv%3AT%7D" == wire.url


def test_a_header_that_spells_a_key_itself_is_refused() -> None:
    """Its digest would be that of the variable."""
    with pytest.raises(ConfigError, match="holds"):
        made(
            "http",
            {"prompt": "hi", "vars": {"v": "${env:T}"}},
            url="https://h.example.com/",
            headers={"x-t": "{{ v }}"},
        )


@pytest.mark.parametrize("text", ["\\ud800", "\\udbff"])
def test_half_a_character_in_a_case_is_no_mark(project: Project, text: str) -> None:
    """No suite that holds one is loaded, so that nothing but a lookup makes a mark."""
    project.write("cases/a.json", f'[{{"id": "c", "prompt": "x {text}"}}]')

    assert "lone surrogate in text at /0/prompt" in project.refused().message
