"""Request documents of programs, and of HTTP requests whose body is no JSON."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from snapshots import request

STDIN: dict[str, Any] = {"domarinn": {"kind": "provider", "protocol": 1}, "params": {}, "vars": {"x": "a"}}


def test_a_program_is_command_and_input() -> None:
    """What is unset is absent."""
    assert {"transport": "exec", "command": ["./sut", "-v"], "stdin": STDIN} == request.exec_document(
        command=("./sut", "-v"), stdin=STDIN
    )


def test_a_declared_environment_is_a_digest() -> None:
    """Of the canonical map, so that no order of names and no value shows."""
    canonical = b'{"A":"1","B":"${env:TOKEN}"}'
    document = request.exec_document(command=["./sut"], stdin=STDIN, env={"B": "${env:TOKEN}", "A": "1"}, salt={})

    assert {"command", "env", "stdin", "transport"} == set(document)
    assert f"sha256:{hashlib.sha256(canonical).hexdigest()}" == document["env"]
    assert "env" not in request.exec_document(command=["./sut"], stdin=STDIN, env={})


def test_salts_stand_in_the_document() -> None:
    """Verbatim."""
    document = request.exec_document(command=["./sut"], stdin=STDIN, salt={"target": "", "case": "b"})

    assert {"target": "", "case": "b"} == document["salt"]


def test_a_program_sees_the_order_of_a_schema() -> None:
    """In its tools and in its params; what stands elsewhere is data."""
    schema = {"properties": {"b": {"properties": {"d": {}, "c": {}}}, "a": {}}}
    stdin = {"tools": [{"input_schema": schema}], "params": {"response_format": schema}, "vars": {"tools": schema}}

    assert {
        "/stdin/tools/0/input_schema/properties": ["b", "a"],
        "/stdin/tools/0/input_schema/properties/b/properties": ["d", "c"],
        "/stdin/params/response_format/properties": ["b", "a"],
        "/stdin/params/response_format/properties/b/properties": ["d", "c"],
    } == request.exec_document(command=["./sut"], stdin=stdin)["order"]


def test_a_body_of_text_is_a_member_of_its_own() -> None:
    """It is no JSON, and has no order."""
    document = request.http_document(method="put", url="https://h.example.com/", headers={}, body_text="<a/>")

    assert {"transport": "http", "method": "PUT", "url": "https://h.example.com/", "body_text": "<a/>"} == document


@pytest.mark.parametrize("place", request.SCHEMA_PLACES)
def test_every_place_of_schemas_is_looked_at(place: str) -> None:
    """At any depth below it."""
    value: Any = {"x": [{"properties": {"b": {}, "a": {}}}]}
    for name in reversed(place.split("/")):
        value = {name: value}

    assert {f"/body/{place}/x/0/properties": ["b", "a"]} == request.property_order(value)


@pytest.mark.parametrize(
    ("text", "segment"), [("a/b", "a%2Fb"), ("${env:X}", "${env:X}"), ("é ${env:X}/", "%C3%A9%20${env:X}%2F"), ("", "")]
)
def test_a_text_becomes_one_segment(text: str, segment: str) -> None:
    """What is read at call time stays readable."""
    assert segment == request.quoted(text)
