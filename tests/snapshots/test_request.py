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


SCHEMA: dict[str, Any] = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": SCHEMA}}}]}},
         "/body/toolConfig/tools/0/toolSpec/inputSchema/json/properties"),
        ({"output_format": {"type": "json_schema", "schema": SCHEMA}}, "/body/output_format/schema/properties"),
        ({"guided_json": SCHEMA}, "/body/guided_json/properties"),
        ({"generation_config": {"response_schema": {**SCHEMA, "type": "OBJECT"}}}, "/body/generation_config/response_schema/properties"),
        ({"text": {"other": {**SCHEMA, "type": ["null", "object"]}}}, "/body/text/other/properties"),
        ({"x": [{"properties": SCHEMA["properties"], "required": ["a"]}]}, "/body/x/0/properties"),
        ({"x": {"properties": SCHEMA["properties"], "additionalProperties": False}}, "/body/x/properties"),
        ({"x": {"properties": {"b": True, "a": False}, "$schema": "s"}}, "/body/x/properties"),
        ({"x": {"properties": SCHEMA["properties"], "$defs": {}}}, "/body/x/properties"),
        ({"x": {"properties": SCHEMA["properties"], "description": "d"}}, "/body/x/properties"),
        ([{"params": {"a/b": SCHEMA}}], "/body/0/params/a~1b/properties"),
    ],
)  # fmt: skip
def test_a_schema_is_known_by_its_signs_wherever_it_stands(body: Any, pointer: str) -> None:
    """Every service has a place of its own for one, and the order reaches the model from there too."""
    assert {pointer: ["b", "a"]} == request.property_order(body)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"messages": [{"content": [{"type": "tool_use", "input": SCHEMA}]}]}, id="said to anthropic"),
        pytest.param({"messages": [{"content": [{"toolUse": {"input": SCHEMA}}]}]}, id="said to bedrock"),
        pytest.param({"contents": [{"parts": [{"functionCall": {"args": SCHEMA}}]}]}, id="said to gemini"),
        pytest.param({"input": [{"type": "function_call_output", "output": SCHEMA}]}, id="said to responses"),
        pytest.param({"prompt": SCHEMA, "system": [SCHEMA]}, id="said to programs"),
        pytest.param({"x": {"type": "Feature", "properties": {"b": 1, "a": {}}}}, id="a place on a map"),
        pytest.param({"x": {"properties": SCHEMA["properties"]}}, id="no sign"),
        pytest.param({"x": {"type": 7, "properties": SCHEMA["properties"]}}, id="a type that is none"),
        pytest.param({"x": {"type": "object", "properties": {"a": {}, "b": {}}}}, id="sorted already"),
        pytest.param("properties", id="no object"),
    ],
)
def test_what_is_data_has_no_order(body: Any) -> None:
    """Two spellings of one object are one request there."""
    assert {} == request.property_order(body)


def test_schemas_among_the_variables_of_a_program_have_an_order() -> None:
    """It reads them as they stand; what was said to it is data, in its prompt and in its params alike."""
    said = {"messages": [{"content": SCHEMA}]}
    stdin = {"prompt": said, "vars": {"form": SCHEMA}, "params": {**said, "form": SCHEMA}}

    assert {"/stdin/vars/form/properties": ["b", "a"], "/stdin/params/form/properties": ["b", "a"]} == request.exec_document(
        command=["./sut"], stdin=stdin
    )["order"]  # fmt: skip


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
