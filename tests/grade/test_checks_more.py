"""Checks of edges, lengths, patterns, tool calls, limits and refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grade.checks import CHECKS
from snapshots import dialects
from snapshots.envelope import Envelope
from tests.grade.test_checks import CALL, SCHEMA, envelope

EMPTY = {"answer": "empty"}
TWO = (("get_order", '{"a": 1}'), ("refund", '{"a": "x"}'), ("get_order", '{"a": 2}'))


def refused(text: str | None = None) -> Envelope:
    """Read a chat completion whose message is a refusal."""
    body = {"choices": [{"message": {"content": text, "refusal": "I cannot."}, "finish_reason": "stop"}]}
    response = {"status": 200, "body": body}
    return Envelope(dialects.read("openai-chat", response), response, None)


def timed(latency_ms: float | None) -> Envelope:
    """Read an answer whose latency is recorded, or is not."""
    response = {"status": 200, "body": {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}}
    return Envelope(dialects.read("openai-chat", response), response, latency_ms)


@pytest.mark.parametrize(
    ("name", "argument", "read", "evidence"),
    [
        ("starts_with", "Hello", envelope(), None),
        ("starts_with", "hello", envelope(), {"start": "Hello Ann"}),
        ("starts_with", {"text": "hello", "ignore_case": True}, envelope(), None),
        ("starts_with", {"any": ["Bye", "Hello"]}, envelope(), None),
        ("starts_with", "Hello", envelope("  Hello"), {"start": "  Hello"}),
        ("starts_with", {"text": "Hello", "strip": True}, envelope("  Hello"), None),
        ("starts_with", {"text": "STRASSE", "ignore_case": True}, envelope("Straße 5"), None),
        ("starts_with", "Hello", envelope(None), {"start": ""}),
        ("starts_with", "x", envelope("y" * 1000), {"start": "y" * 80}),
        ("ends_with", "Ann", envelope(), None),
        ("ends_with", {"any": [".", "!"]}, envelope(), {"end": "Hello Ann"}),
        ("ends_with", {"text": "Ann", "strip": True}, envelope("Hello Ann\n"), None),
        ("length", {"max": 9}, envelope(), None),
        ("length", {"max": 8}, envelope(), {"length": 9}),
        ("length", {"min": 10}, envelope(), {"length": 9}),
        ("length", {"min": 2, "max": 2}, envelope("\U0001f600é"), None),
        ("length", {"max": 5}, envelope(None), None),
        ("length", {"min": 1}, envelope(None), {"length": 0}),
        ("not_regex", "sorry", envelope(), None),
        ("not_regex", {"pattern": "ANN", "flags": "i"}, envelope(), {"found": "Ann"}),
        ("not_regex", "sorry", envelope(None), EMPTY),
        ("not_regex", "sorry", envelope(None, calls=CALL), None),
        ("not_regex", ".+", envelope("y" * 1000), {"found": "y" * 299 + "…"}),
    ],
)  # fmt: skip
def test_texts(name: str, argument: Any, read: Envelope, evidence: Any) -> None:
    """Edges, lengths in code points, and patterns that must not be there."""
    assert evidence == CHECKS[name].rule(read, argument)


@pytest.mark.parametrize(
    ("name", "argument", "read", "evidence"),
    [
        ("tool_order", ["get_order", "refund"], envelope(None, calls=TWO), None),
        ("tool_order", ["refund", "get_order"], envelope(None, calls=TWO), None),
        ("tool_order", ["refund", "refund"], envelope(None, calls=TWO), {"called": ["get_order", "refund", "get_order"]}),
        ("tool_order", {"names": ["get_order", "refund", "get_order"], "exact": True}, envelope(None, calls=TWO), None),
        ("tool_order", {"names": ["get_order", "refund"], "exact": True}, envelope(None, calls=TWO), {"called": ["get_order", "refund", "get_order"]}),
        ("tool_order", {"names": [], "exact": True}, envelope(), None),
        ("tool_order", ["get_order"], envelope(), {"called": []}),
        ("tool_arguments", {"name": "get_order", "schema": SCHEMA}, envelope(None, calls=TWO), None),
        ("tool_arguments", {"name": "refund", "schema": SCHEMA}, envelope(None, calls=TWO), {"call": 0, "pointer": "/a", "keyword": "type", "violations": 1}),
        ("tool_arguments", {"name": "get_order", "schema": SCHEMA}, envelope(None, calls=(*TWO, ("get_order", '{"a": '))), {"call": 2, "reason": "the arguments are no JSON object"}),
        ("tool_arguments", {"name": "get_order", "schema": SCHEMA}, envelope(None, calls=(("get_order", ""),)), {"call": 0, "pointer": "", "keyword": "required", "violations": 1}),
        ("tool_arguments", {"name": "cancel", "schema": SCHEMA}, envelope(None, calls=(("refund", "{}"),)), {"called": ["refund"]}),
        ("tool_arguments", {"name": "get_order", "schema": SCHEMA}, envelope(), {"called": []}),
    ],
)  # fmt: skip
def test_tool_calls(name: str, argument: Any, read: Envelope, evidence: Any) -> None:
    """Their order and their arguments, those included that do not parse."""
    assert evidence == CHECKS[name].rule(read, argument)


@pytest.mark.parametrize(
    ("name", "argument", "read", "evidence"),
    [
        ("refusal", True, refused(), None),
        ("refusal", False, refused(), {"refusal": True}),
        ("refusal", False, envelope(), None),
        ("refusal", True, envelope(), {"refusal": False}),
        ("refusal", True, envelope(None), {"refusal": False}),
        ("refusal", False, envelope(None), EMPTY),
        ("refusal", False, envelope(None, calls=CALL), None),
        ("max_input_tokens", 1, envelope(), None),
        ("max_input_tokens", 0, envelope(), {"input_tokens": 1}),
        ("max_input_tokens", 9, envelope(tokens=None), {"input_tokens": None}),
        ("max_total_tokens", 8, envelope(), None),
        ("max_total_tokens", 7, envelope(), {"input_tokens": 1, "output_tokens": 7}),
        ("max_total_tokens", 9, envelope(tokens=None), {"input_tokens": None, "output_tokens": None}),
        ("max_latency_ms", 12.5, timed(12.5), None),
        ("max_latency_ms", 12, timed(12.5), {"latency_ms": 12.5, "replayed": True}),
        ("max_latency_ms", 12, timed(None), {"latency_ms": None, "replayed": True}),
    ],
)
def test_refusals_and_limits(name: str, argument: Any, read: Envelope, evidence: Any) -> None:
    """What an answer does not say is no answer within the limit."""
    assert evidence == CHECKS[name].rule(read, argument)


@pytest.mark.parametrize(
    ("cost", "evidence"),
    [(0.01, None), (0.0100001, {"cost_usd": 0.0100001}), (None, {"cost_usd": None})],
)
def test_a_cost_that_is_not_known_is_not_within_the_limit(cost: float | None, evidence: Any) -> None:
    """Costs are told to the rule by the price that the case holds."""
    assert evidence == CHECKS["max_cost_usd"].rule(envelope(), 0.01, cost)


ARGUMENTS: dict[str, Any] = {
    "contains": "sorry",
    "ends_with": "Ann",
    "equals": "Ann",
    "finish_reason": "length",
    "is_json": "object",
    "json_path": {"path": "$.a", "equals": 1},
    "json_schema": SCHEMA,
    "length": {"max": 3},
    "max_input_tokens": 0,
    "max_latency_ms": 0,
    "max_tokens": 0,
    "max_total_tokens": 0,
    "not_contains": "x",
    "not_regex": "x+",
    "not_tool_called": "refund",
    "number": 1,
    "refusal": True,
    "regex": "^sorry",
    "starts_with": "Ann",
    "tool_arguments": {"name": "x" * 1000, "schema": SCHEMA},
    "tool_order": ["refund"],
}


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
@pytest.mark.parametrize(
    "text", ["x" * 1_000_000, "1" * 1_000_000, "1,111" * 200_000, "x\ud800 1", "[" * 100_000, "\0\x1b[31m\u202e"]
)  # fmt: skip
def test_evidence_of_hostile_text_is_short_json(name: str, text: str) -> None:
    """A line of a megabyte, half a surrogate pair, deep nesting, control characters: short evidence, and no exception."""
    calls = (("refund\ud800", '{"a": 1}'), ("y" * 400, "{"))
    evidence = CHECKS[name].rule(envelope(text, calls=calls), ARGUMENTS[name])

    assert len(json.dumps(evidence)) < 3000


def test_choices_beyond_the_first_are_not_what_checks_read() -> None:
    """*The* answer is the first choice."""
    body = {
        "choices": [
            {"index": 0, "message": {"content": "first"}, "finish_reason": "stop"},
            {"index": 1, "message": {"content": "second"}, "finish_reason": "stop"},
        ]
    }
    response = {"status": 200, "body": body}
    read = Envelope(dialects.read("openai-chat", response), response, None)

    assert (None, {"start": "first"}) == (
        CHECKS["starts_with"].rule(read, "first"),
        CHECKS["starts_with"].rule(read, "second"),
    )
