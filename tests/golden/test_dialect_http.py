"""Requests to any HTTP service: templates of the target over what a case gives."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from golden.model import Suite, Target
from golden.render import Rendered, Wire, render_request
from snapshots.errors import ConfigError
from tests.golden.rendering import HI, made

URL = "https://sut.example.com/answer"


def service(case: dict[str, Any], **target: Any) -> Rendered:
    return made("http", case, **{"url": URL, **target})


def wire(rendered: Rendered, **environ: str) -> Wire:
    sent = rendered.wire(environ)
    assert isinstance(sent, Wire)
    return sent


def test_a_service_gets_what_its_templates_make() -> None:
    """The shape of the vector D5: method, URL, body; a content type is sent and not keyed."""
    rendered = service({"prompt": "a"}, url="https://SUT.example.com:443/generate", body={"prompt": "{{ prompt }}"})
    sent = wire(rendered)

    assert {
        "transport": "http",
        "method": "POST",
        "url": "https://sut.example.com/generate",
        "body": {"prompt": "a"},
    } == rendered.document
    assert ("POST", "https://sut.example.com/generate") == (sent.method, sent.url)
    assert ({"content-type": "application/json"}, b'{"prompt":"a"}') == (sent.headers, sent.body)


def test_a_request_without_a_body_has_none() -> None:
    """Neither is there a content type."""
    rendered = service({"prompt": "hi"}, method="GET", url=URL + "?q={{ prompt }}")
    sent = wire(rendered)

    assert {"transport": "http", "method": "GET", "url": URL + "?q=hi"} == rendered.document
    assert ({}, None) == (sent.headers, sent.body)


def test_a_body_may_be_text() -> None:
    """Without a content type, unless one is declared."""
    rendered = service({"prompt": "hi"}, body_text="<q>{{ prompt }}</q>\n", headers={"Content-Type": "text/xml"})
    sent = wire(rendered)

    assert "<q>hi</q>\n" == rendered.document["body_text"]
    assert ({"Content-Type": "text/xml"}, b"<q>hi</q>\n") == (sent.headers, sent.body)


def test_values_of_a_body_are_templates_and_names_are_not() -> None:
    """A text that is exactly one name stays the JSON value that it names."""
    body = {
        "{{ n }}": "{{ n }}",
        "list": ["{{ items }}", "{{items}}", "{{- items -}}", " {{ n }}"],
        "text": "{{ who }}",
        "null": "{{ nothing }}",
        "plain": [1, True, None, "x"],
        "deep": {"a": [{"b": "{{ who }} has {{ n }}"}]},
    }
    case = {"prompt": "hi", "vars": {"n": 3, "items": [1, "b"], "who": "Bo", "nothing": None}}

    assert {
        "{{ n }}": 3,
        "list": [[1, "b"], [1, "b"], [1, "b"], " 3"],
        "text": "Bo",
        "null": None,
        "plain": [1, True, None, "x"],
        "deep": {"a": [{"b": "Bo has 3"}]},
    } == service(case, body=body).document["body"]


def test_templates_know_the_prompt_and_the_messages() -> None:
    """Of a prompt, rendered; of a request, literal; a var of such a name wins."""
    body = {"m": "{{ messages }}", "last": "{{ messages[-1].content }}"}
    prompted = service({"prompt": "Hi {{ who }}", "vars": {"who": "Bo"}}, body={**body, "p": "{{ prompt }}"})
    several = service({"prompt": [{"role": "user", "content": "Hi {{ who }}"}], "vars": {"who": "Bo"}}, body=body)
    requested = service({"request": {"messages": HI}}, body=body)
    named = service({"prompt": "hi", "vars": {"prompt": "mine"}}, body={"p": "{{ prompt }}"})

    assert {"m": [{"role": "user", "content": "Hi Bo"}], "last": "Hi Bo", "p": "Hi Bo"} == prompted.document["body"]
    assert {"m": [{"role": "user", "content": "Hi Bo"}], "last": "Hi Bo"} == several.document["body"]
    assert {"m": HI, "last": "hi"} == requested.document["body"]
    assert {"p": "mine"} == named.document["body"]


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("a b&c=d", "https://sut.example.com/a%20b%26c%3Dd/x?q=a%20b%26c%3Dd"),
        ("../../admin?x#y", "https://sut.example.com/..%2F..%2Fadmin%3Fx%23y/x?q=..%2F..%2Fadmin%3Fx%23y"),
        ("@evil.example.com/", "https://sut.example.com/%40evil.example.com%2F/x?q=%40evil.example.com%2F"),
        ("é\n", "https://sut.example.com/%C3%A9%0A/x?q=%C3%A9%0A"),
    ],
)
def test_what_a_template_writes_into_the_url_is_encoded(value: str, url: str) -> None:
    """No case changes the path, the query or the host that the target's author wrote."""
    rendered = service({"prompt": "hi", "vars": {"v": value}}, url="https://sut.example.com/{{ v }}/x?q={{ v }}")

    assert url == rendered.document["url"] == wire(rendered).url


def test_literal_parts_of_the_url_stay_as_they_are() -> None:
    """Tags, slashes at the end and fragments: only the last goes."""
    url = "https://sut.example.com/a/{% if deep %}b/c/{% endif %}?x=%20&y={{ n | string }}#top"

    assert (
        "https://sut.example.com/a/b/c/?x=%20&y=1"
        == (service({"prompt": "hi", "vars": {"deep": True, "n": 1}}, url=url).document["url"])
    )


def test_an_endpoint_replaces_scheme_host_and_port() -> None:
    """As for every type that speaks HTTP."""
    document = service({"prompt": "hi"}, url="http://127.0.0.1:9999/a?b={{ prompt }}", endpoint="sut").document

    assert "endpoint:sut/a?b=hi" == document["url"]


def test_the_environment_is_keyed_by_name() -> None:
    """In URL, headers and body; a credential header is in no key."""
    rendered = service(
        {"prompt": "hi"},
        url=URL + "/{{ env.A }}?k={{ env.B }}",
        headers={"X-C": "c {{ env.C }}", "Authorization": "Bearer {{ env.D }}"},
        body={"e": "{{ env.E }}"},
    )
    environ = {name: f"value of {name}" for name in "ABCDE"}
    sent = wire(rendered, **environ)

    assert "value of" not in json.dumps(rendered.document)
    assert URL + "/${env:A}?k=${env:B}" == rendered.document["url"]
    assert {"x-c": f"sha256:{hashlib.sha256(b'c ${env:C}').hexdigest()}"} == rendered.document["headers"]
    assert {"e": "${env:E}"} == rendered.document["body"]
    assert URL + "/value%20of%20A?k=value%20of%20B" == sent.url
    assert ("c value of C", "Bearer value of D") == (sent.headers["X-C"], sent.headers["Authorization"])
    assert b'{"e":"value of E"}' == sent.body
    assert (tuple("ABCDE"), tuple(environ.values())) == (rendered.env, sent.secrets)


def test_a_body_of_the_case_is_the_whole_body() -> None:
    """Literal, instead of the target's."""
    assert {"x": "{{ y }}"} == service({"body": {"x": "{{ y }}"}}, body={"z": 1}).document["body"]


def test_other_members_of_a_request_are_named() -> None:
    """A template has no place for them."""
    with pytest.raises(ConfigError) as caught:
        service({"request": {"messages": HI, "temperature": 0}}, body={})

    assert (
        "a.yaml:1: 'temperature' cannot be expressed in a request of type http at /request/temperature"
        == caught.value.message
    )


@pytest.mark.parametrize(
    ("target", "pointer"),
    [
        ({"url": URL + "?q={{ who }}"}, "/url"),
        ({"headers": {"X-A": "{{ who }}"}}, "/headers/X-A"),
        ({"body": {"a/b": ["{{ who }}"]}}, "/body/a~1b/0"),
        ({"body_text": "{{ who }}"}, "/body_text"),
    ],
)
def test_an_unknown_name_is_named_with_case_and_target(target: dict[str, Any], pointer: str) -> None:
    """Either could be wrong."""
    with pytest.raises(ConfigError) as caught:
        service({"prompt": "hi"}, **target)

    assert f"a.yaml:1: target t: template (line 1 of the text): 'who' is undefined at {pointer}" == caught.value.message


def test_a_var_cannot_end_a_header() -> None:
    """It is known before anything is sent."""
    with pytest.raises(ConfigError, match="target t: the value of header 'X-A' would hold a control character"):
        service({"prompt": "hi", "vars": {"v": "a\r\nX-Evil: 1"}}, headers={"X-A": "{{ v }}"})


def test_a_grader_gives_vars() -> None:
    """In its request, or beside it."""
    here = Path("/project")
    to = Target(name="t", type="http", url=URL, body={"a": "{{ a }}", "b": "{{ b }}"})
    suite = Suite("s", here / "whichclock.toml", here, {"t": to}, (), (), here / "snapshots", here / "results")
    rendered = render_request(suite, {"vars": {"a": "{{ b }}"}}, to, salt=None, vars={"b": 2}, place="grader g")

    assert {"a": "{{ b }}", "b": 2} == rendered.document["body"]
