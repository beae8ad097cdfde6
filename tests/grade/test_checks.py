"""Built-in checks: each emits its code only when it is violated."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grade.checks import CHECKS
from snapshots import dialects
from snapshots.envelope import Envelope


def envelope(
    text: str | None = "Hello Ann",
    *,
    calls: tuple[tuple[str, str], ...] = (),
    tokens: int | None = 7,
    finish: str = "stop",
) -> Envelope:
    """Read a small chat completion."""
    message: dict[str, Any] = {"content": text}
    if calls:
        message["tool_calls"] = [{"function": {"name": n, "arguments": a}} for n, a in calls]
    body: dict[str, Any] = {"choices": [{"message": message, "finish_reason": finish}]}
    if tokens is not None:
        body["usage"] = {"completion_tokens": tokens, "prompt_tokens": 1}
    response = {"status": 200, "body": body}
    return Envelope(dialects.read("openai-chat", response), response, None)


CALL = (("get_order", '{"order_id": "A-17", "deep": true}'),)
SCHEMA = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("name", "argument", "read", "violated"),
    [
        ("contains", "Ann", envelope(), False),
        ("contains", "ann", envelope(), True),
        ("contains", {"text": "ann", "ignore_case": True}, envelope(), False),
        ("contains", {"any": ["Bob", "Ann"]}, envelope(), False),
        ("contains", {"all": ["Bob", "Ann"]}, envelope(), True),
        ("not_contains", "Bob", envelope(), False),
        ("not_contains", "Ann", envelope(), True),
        ("not_contains", {"any": ["Bob", "Ann"]}, envelope(), True),
        ("not_contains", {"all": ["Bob", "Ann"]}, envelope(), False),
        ("not_contains", "Bob", envelope(""), True),
        ("not_contains", "Bob", envelope(None, calls=CALL), False),
        ("equals", "Hello Ann", envelope(), False),
        ("equals", "hello ann", envelope(), True),
        ("equals", {"text": " hello ann ", "strip": True, "ignore_case": True}, envelope(), False),
        ("regex", r"^Hello \w+$", envelope(), False),
        ("regex", "^ann", envelope(), True),
        ("regex", {"pattern": "^ANN$", "flags": "im"}, envelope("Hello\nann"), False),
        ("json_schema", SCHEMA, envelope('{"a": 1}'), False),
        ("json_schema", SCHEMA, envelope('{"a": true}'), True),
        ("json_schema", SCHEMA, envelope('{"a": 1.0}'), False),
        ("json_schema", SCHEMA, envelope('{"a": '), True),
        ("json_schema", SCHEMA, envelope(None), True),
        ("tool_called", "get_order", envelope(None, calls=CALL), False),
        ("tool_called", "refund", envelope(None, calls=CALL), True),
        ("tool_called", {"name": "get_order", "arguments": {"order_id": "A-17"}}, envelope(None, calls=CALL), False),
        ("tool_called", {"name": "get_order", "arguments": {"deep": 1}}, envelope(None, calls=CALL), True),
        ("not_tool_called", "refund", envelope(None, calls=CALL), False),
        ("not_tool_called", "get_order", envelope(None, calls=CALL), True),
        ("not_tool_called", "get_order", envelope(None), True),
        ("allowed_tools", ["get_order"], envelope(None, calls=CALL), False),
        ("allowed_tools", [], envelope(None, calls=CALL), True),
        ("allowed_tools", [], envelope(), False),
        ("max_tokens", 7, envelope(), False),
        ("max_tokens", 6, envelope(), True),
        ("max_tokens", 400, envelope(tokens=None), True),
        ("finish_reason", "stop", envelope(), False),
        ("finish_reason", ["stop", "length"], envelope(finish="length"), False),
        ("finish_reason", "stop", envelope(finish="length"), True),
    ],
)
def test_a_check_is_violated_or_not(name: str, argument: Any, read: Envelope, violated: bool) -> None:
    """None says that the check holds; anything else is the evidence that it does not."""
    evidence = CHECKS[name].rule(read, argument)

    assert violated == (evidence is not None)
    json.dumps(evidence)


def test_each_check_has_a_code_of_its_own() -> None:
    """No two checks share a code, and every code says what is wrong."""
    assert {
        "allowed_tools": "tool_not_allowed",
        "contains": "text_missing",
        "ends_with": "text_end_differs",
        "equals": "text_differs",
        "finish_reason": "unexpected_finish_reason",
        "is_json": "not_json",
        "json_path": "json_value_differs",
        "json_schema": "schema_violated",
        "judge": "rubric_violated",
        "length": "length_out_of_range",
        "max_cost_usd": "too_costly",
        "max_input_tokens": "too_many_input_tokens",
        "max_latency_ms": "too_slow",
        "max_tokens": "too_many_tokens",
        "max_total_tokens": "too_many_total_tokens",
        "not_contains": "text_forbidden",
        "not_regex": "pattern_forbidden",
        "not_tool_called": "forbidden_tool_called",
        "number": "number_differs",
        "program": "program_rejected",
        "refusal": "refusal_differs",
        "regex": "pattern_missing",
        "similarity": "not_similar",
        "starts_with": "text_start_differs",
        "tool_arguments": "tool_arguments_invalid",
        "tool_called": "tool_not_called",
        "tool_order": "tool_order_differs",
    } == {name: check.code for name, check in CHECKS.items()}
    assert len(CHECKS) == len({check.code for check in CHECKS.values()})
