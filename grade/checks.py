"""Built-in checks: data in the case. A check emits its code only when it is violated.

Each check is one function of (envelope, argument) in a module ``grade/check_….py``; it returns ``None`` when it holds, or the evidence
of the violation. The number beside its name enters the grader digest: whoever changes what a check does bumps the number, and a test
holds them to it.

A check that forbids something never holds on an answer without text: an empty answer proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from grade import check_asked, check_json, check_limit, check_number, check_pattern, check_text, check_tool


@dataclass(frozen=True, slots=True)
class Check:
    """A built-in check.

    Attributes:
        code: the finding code of its violation.
        number: the number of its rule.
        rule: the function that judges.
        takes: what the rule takes third: ``cost`` (US dollars or ``None``) or ``answers`` to the check's own requests.
    """

    code: str
    number: int
    rule: Callable[..., Any]
    takes: Literal["", "cost", "answers"] = ""


_CHECKS = {
    "allowed_tools": Check("tool_not_allowed", 1, check_tool.allowed_tools),
    "contains": Check("text_missing", 1, check_text.contains),
    "ends_with": Check("text_end_differs", 1, check_text.ends_with),
    "equals": Check("text_differs", 1, check_text.equals),
    "finish_reason": Check("unexpected_finish_reason", 1, check_limit.finish_reason),
    "is_json": Check("not_json", 1, check_json.is_json),
    "json_path": Check("json_value_differs", 1, check_json.json_value),
    "json_schema": Check("schema_violated", 1, check_json.json_schema),
    "judge": Check("rubric_violated", 1, check_asked.judge, "answers"),
    "length": Check("length_out_of_range", 1, check_text.length),
    "max_cost_usd": Check("too_costly", 1, check_limit.max_cost_usd, "cost"),
    "max_input_tokens": Check("too_many_input_tokens", 1, check_limit.max_input_tokens),
    "max_latency_ms": Check("too_slow", 1, check_limit.max_latency_ms),
    "max_tokens": Check("too_many_tokens", 1, check_limit.max_tokens),
    "max_total_tokens": Check("too_many_total_tokens", 1, check_limit.max_total_tokens),
    "not_contains": Check("text_forbidden", 1, check_text.not_contains),
    "not_regex": Check("pattern_forbidden", 1, check_pattern.not_regex),
    "not_tool_called": Check("forbidden_tool_called", 1, check_tool.not_tool_called),
    "number": Check("number_differs", 1, check_number.number),
    "program": Check("program_rejected", 1, check_asked.program, "answers"),
    "refusal": Check("refusal_differs", 1, check_limit.refusal),
    "regex": Check("pattern_missing", 1, check_pattern.regex),
    "similarity": Check("not_similar", 1, check_asked.similarity, "answers"),
    "starts_with": Check("text_start_differs", 1, check_text.starts_with),
    "tool_arguments": Check("tool_arguments_invalid", 1, check_tool.tool_arguments),
    "tool_called": Check("tool_not_called", 1, check_tool.tool_called),
    "tool_order": Check("tool_order_differs", 1, check_tool.tool_order),
}
CHECKS: Mapping[str, Check] = MappingProxyType(_CHECKS)
EMPTY_ANSWER = "empty_answer"
EMPTY_ANSWER_NUMBER = 2
RESERVED_CODES = frozenset(check.code for check in CHECKS.values()) | {EMPTY_ANSWER}
