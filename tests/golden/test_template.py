"""Prompt templates are strict, closed, and end."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden import template
from golden.place import Place
from snapshots.errors import CallError, ConfigError

PLACE = Place("cases/a.yaml", 3, "/cases/0")


def rendered(text: str, **variables: Any) -> str:
    return template.render(text, variables, lambda name: f"${{env:{name}}}", PLACE, "/prompt")


def refused(text: str, **variables: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        rendered(text, **variables)
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hi {{ who }}\n", "Hi <b>\n"),
        ("{% for i in items %}{{ loop.index }}/{{ loop.length }}:{{ i }} {% endfor %}", "1/2:a 2/2:b "),
        ("{{ items | tojson }}", '["a", "b"]'),
        ("{{ {'a': '<é>'} | tojson }}", '{"a": "<é>"}'),
        ("{{ items | join(', ') }}", "a, b"),
        ("{{ who | upper | replace('B', 'c') }}", "<c>"),
        ("{% macro m(x) %}[{{ x }}]{% endmacro %}{{ m(1) }}{{ m('y') }}", "[1][y]"),
        ("{% set t %}q{{ who }}{% endset %}{{ t ~ 1 }}", "q<b>1"),
        ("{{ 'x'.format(1) }}{{ '%s' | format(2) }}{{ 'a\nb' | indent(2) }}", "x2a\n  b"),
        ("{{ env.API }}{{ env['API'] }}", "${env:API}${env:API}"),
        ("{# note #}a{{ '' }}\r\nb\rc", "a\nb\nc"),
        ("no tags\r\nat all\n", "no tags\nat all\n"),
        ("{% macro m(x) %}{{ x }}{% endmacro %}{{ m(123456789012) }}", "123456789012"),
        ("{{ items }}{{ {'a': 1} }}{{ items | batch(1) | list }}", "['a', 'b']{'a': 1}[['a'], ['b']]"),
        ("{{ 2 * 3 + 1 }}{{ 2 ** 3 }}{{ 7 % 4 }}{{ 'ab' * 2 }}", "783abab"),
    ],
)
def test_templates_are_jinja_without_escaping(text: str, expected: str) -> None:
    """The trailing newline stays, line ends are LF, JSON stays readable."""
    assert expected == rendered(text, who="<b>", items=["a", "b"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ who }}", "cases/a.yaml:3: template (line 1 of the text): 'who' is undefined at /cases/0/prompt"),
        (
            "\n\n{{ x.y }}",
            "cases/a.yaml:3: template (line 3 of the text): 'str object' has no attribute 'y' at /cases/0/prompt",
        ),
        (
            "a\n{% if %}",
            "cases/a.yaml:3: template (line 2 of the text): Expected an expression, got 'end of statement block' at /cases/0/prompt",
        ),
        (
            "{% for i in none_such %}{% endfor %}",
            "cases/a.yaml:3: template (line 1 of the text): 'none_such' is undefined at /cases/0/prompt",
        ),
    ],
)
def test_what_is_undefined_or_misspelt_is_named_with_its_line(text: str, message: str) -> None:
    """The place of the case and the line within the text."""
    assert message == refused(text, x="s")


def test_errors_in_a_prompt_file_name_its_own_line() -> None:
    """Not the case that uses it."""
    with pytest.raises(ConfigError) as caught:
        template.render("a\n{{ b }}", {}, None, Place("prompts/p.txt"), "")

    assert "prompts/p.txt:2: template: 'b' is undefined" == caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ env.__class__ }}",
        "{{ env }}",
        "{% for name in env %}{% endfor %}",
        "{{ env | list }}",
        "{{ items.append(1) }}",
        "{% include 'x' %}",
        "{% import 'x' as y %}",
        "{% from 'x' import y %}",
        "{% extends 'x' %}",
        "{{ items | random }}",
        "{{ lipsum() }}",
        "{{ self.__init__.__globals__ }}",
        "{{ cycler.__init__.__globals__ }}",
    ],
)
def test_templates_reach_neither_python_nor_files_nor_chance(text: str) -> None:
    """Each is an error with its place, never a result."""
    assert refused(text, items=[1]).startswith("cases/a.yaml:3: template (line 1 of the text): ")


@pytest.mark.parametrize(
    "text",
    [
        "{{ range(100001) }}",
        "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
        "{% for i in range(100000) %}{{ big }}{% endfor %}",
        "{% set t %}{% for i in range(100000) %}{{ big }}{% endfor %}{% endset %}",
        "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
        "{% for x in items recursive %}{{ loop(items) }}{% endfor %}",
        "{% set ns = namespace(x='aaaa') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{% set ns = namespace(x='aaaa') %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{{ 'a' * 100000000 }}",
        "{{ 100000000 * [1] }}",
        "{{ 9 ** 999999999 }}",
        "{{ 'a'.ljust(1000000000) }}",
        "{{ 'a' | center(1000000000) }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%1000000000d' | format(1) }}",
        "{{ '%*d' | format(1000000000, 1) }}",
        "{{ '{:>1000000000}'.format(1) }}",
        "{{ big | indent(1000000000) }}",
        "{{ big | replace('b', big) }}",
        "{{ big.replace('b', big) }}",
        "{{ ([big] * 100000) | join }}",
        "{{ ''.join([big] * 100000) }}",
        "{{ items | batch(1000000000, 'x') | list }}",
        "{{ items | slice(1000000000) | list }}",
        "{{ ('\t' * 100000).expandtabs(1000000) }}",
        "{{ items | tojson(1000000000) }}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x | tojson }}",
    ],
)
def test_templates_end_and_stay_small(text: str) -> None:
    """Loops, recursion and growth are stopped before they hurt."""
    assert "template" in refused(text, big="b" * 100_000, items=[1])


def test_an_unset_variable_of_the_environment_is_the_errand_of_the_call() -> None:
    """The lookup's own error comes through."""

    def look_up(name: str) -> str:
        raise CallError(f"variable {name} is not set")

    with pytest.raises(CallError):
        template.render("{{ env.K }}", {}, look_up, PLACE, "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ env.B }}{% if env.A %}{% endif %}{{ env . C }}", ["A", "B", "C"]),
        ("env.A {{ environment }}", []),
        ("${env:A}", []),
    ],
)
def test_the_variables_that_a_template_uses_are_told_without_rendering_it(text: str, expected: list[str]) -> None:
    """For the warning at load."""
    assert expected == template.variables_used(text)


@given(st.text().filter(lambda t: not any(tag in t for tag in ("{{", "{%", "{#"))))
def test_text_without_tags_is_what_jinja_would_make_of_it(text: str) -> None:
    """The short cut changes nothing."""
    from golden import sandbox

    assert sandbox.run(sandbox.environment().from_string(text), {}) == rendered(text)


@pytest.mark.parametrize(
    "text",
    [
        "{{ name.upper }}",
        "{{ [name]|map('upper') }}",
        "{{ [name]|select }}",
        "{{ cycler('a') }}",
        "{{ range }}",
        "{{ 'x' ~ name.upper }}",
    ],
)
def test_an_object_has_no_text_of_its_own(text: str) -> None:
    """An address in memory would make every rendering another request."""
    assert "is an object and no text" in refused(text, name="Ann")


def test_text_that_looks_like_an_address_may_be_the_authors_own() -> None:
    """A prompt may quote one, and so may a variable."""
    quoted = "<function f at 0x7f00deadbeef>"

    assert f"{quoted} {quoted}" == rendered(f"{quoted} {{{{ seen }}}}", seen=quoted)
