"""Schemas of checks are judged at load, offline."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from golden import schema
from tests.golden.conftest import Project


class _Counter(http.server.BaseHTTPRequestHandler):
    hits: list[str]

    def do_GET(self) -> None:
        self.hits.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class's name
        del format, args


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """A loopback server that counts who asks it for schemas."""
    hits: list[str] = []
    handler = type("Handler", (_Counter,), {"hits": hits})
    with http.server.HTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}/s.json", hits
        running.shutdown()
        thread.join()


def test_a_remote_reference_is_refused_at_load_and_never_fetched(
    project: Project, server: tuple[str, list[str]]
) -> None:
    """Neither by the loading nor by the meta-schema."""
    url, hits = server
    project.cases({"id": "c", "prompt": "p", "checks": [{"json_schema": {"properties": {"a": {"$ref": url}}}}]})
    error = project.refused()

    assert (
        f"cases/a.json: reference '{url}' leads outside the schema at /0/checks/0/json_schema/properties/a/$ref"
        == error.message
    )
    assert [] == hits


def test_no_validator_ever_fetches(server: tuple[str, list[str]]) -> None:
    """Even where a reference slipped through, the registry is closed."""
    url, hits = server
    with pytest.raises(Exception, match="Unresolvable"):
        list(schema.validator({"$ref": url}).iter_errors({}))

    assert [] == hits


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"type": "objekt"}, "no JSON Schema: 'objekt' is not valid under any of the given schemas at /type"),
        (
            {"properties": {"a": {"minimum": "1"}}},
            "no JSON Schema: '1' is not of type 'number' at /properties/a/minimum",
        ),
        ({"$schema": "https://example.com/draft"}, "$schema 'https://example.com/draft' is no known dialect"),
        (
            {"pattern": "("},
            "pattern '(' does not compile: missing ), unterminated subpattern at position 0 at /pattern",
        ),
        (
            {"patternProperties": {"[": {}}},
            "pattern '[' does not compile: unterminated character set at position 0 at /patternProperties",
        ),
        ({"$ref": "#/$defs/none"}, "reference '#/$defs/none' leads nowhere at /$ref"),
        ({"$ref": "#none"}, "reference '#none' leads nowhere at /$ref"),
        ({"items": {"$ref": "other.json"}}, "reference 'other.json' leads outside the schema at /items/$ref"),
        ({"$ref": "file:///etc/passwd"}, "reference 'file:///etc/passwd' leads outside the schema at /$ref"),
        ([1], "found [1], expected a JSON Schema"),
        ({"$id": 5}, "no JSON Schema: 5 is not of type 'string' at /$id"),
    ],
)
def test_what_could_not_be_applied_is_refused_with_file_and_pointer(project: Project, value: Any, message: str) -> None:
    """Before any answer is graded."""
    project.write("s.json", json.dumps(value))
    project.cases({"id": "c", "prompt": "p", "checks": [{"json_schema": "s.json"}]})

    assert f"s.json: {message}" == project.refused().message


@pytest.mark.parametrize(
    "value",
    [
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
        {"$ref": "#a", "$defs": {"x": {"$anchor": "a"}}},
        {"$ref": "item", "$defs": {"i": {"$id": "item", "type": "string"}}},
        {"$id": "https://example.com/root", "$ref": "#/$defs/a", "$defs": {"a": {}}},
        {"$id": "https://example.com/root", "properties": {"a": {"$ref": "https://example.com/root"}}},
        {"properties": {"$ref": {"type": "string"}}},
        {"const": {"$ref": "https://example.com/x"}},
        {"default": {"$ref": "https://example.com/x"}, "enum": [{"$ref": "https://example.com/x"}]},
        {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {"$id": "#a"}}, "$ref": "#a"},
        {"$ref": "#"},
        {"id": {"a": 1}, "$ref": "#"},
        {"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": {}}},
    ],
)
def test_references_within_the_schema_and_data_that_looks_like_one_are_accepted(project: Project, value: Any) -> None:
    """All ways to name a part of oneself."""
    assert 1 == len(project.case(checks=[{"json_schema": value}]).checks)


def test_a_mapping_with_a_file_is_no_schema(project: Project) -> None:
    """It would accept everything in silence."""
    project.cases({"id": "c", "prompt": "p", "checks": [{"json_schema": {"file": "s.json"}}]})

    assert "write the path itself: json_schema: PATH" == project.refused().hint


@pytest.mark.parametrize(
    ("rule", "value", "fits"),
    [
        ({"multipleOf": 11}, 9007199254740995, 9007199254740995 % 11 == 0),
        ({"multipleOf": 11.0}, 9007199254740995, 9007199254740995 % 11 == 0),
        ({"multipleOf": 0.1}, 1.1, True),
        ({"multipleOf": 0.1}, 1.15, False),
        ({"multipleOf": 2}, True, True),
        ({"type": "integer"}, True, False),
        ({"type": "integer"}, 1.0, True),
        ({"type": "integer", "$schema": "http://json-schema.org/draft-04/schema#"}, 1.0, False),
        ({"type": "integer"}, 9007199254740995, True),
    ],
)
def test_numbers_are_judged_exactly_and_by_the_dialect(rule: dict[str, Any], value: Any, fits: bool) -> None:
    """No float division on integers; true is never an integer."""
    assert fits == schema.validator(rule).is_valid(value)
