"""Checks of tool calls: which are there, in which order, and with which arguments. They are those of the first choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grade.check_json import first_error
from grade.violation import EMPTY, Violation, clipped
from snapshots.envelope import Envelope

_MOST_NAMES = 20


def tool_called(envelope: Envelope, argument: Any) -> Violation:
    """``tool_not_called``: no call of that tool has these arguments (a subset is enough)."""
    name = argument if isinstance(argument, str) else argument["name"]
    wanted: Mapping[str, Any] = {} if isinstance(argument, str) else argument.get("arguments", {})
    calls = envelope["tool_calls"]
    for call in calls:
        if call["name"] == name and all(
            k in call["arguments"] and _same(call["arguments"][k], v) for k, v in wanted.items()
        ):
            return None
    return {"called": [c["name"] for c in calls]}


def _same(found: Any, wanted: Any) -> bool:
    # JSON has one kind of number but true is none of them.
    return isinstance(found, bool) == isinstance(wanted, bool) and found == wanted


def not_tool_called(envelope: Envelope, name: Any) -> Violation:
    """``forbidden_tool_called``: the tool was called, or the answer is empty."""
    calls = [c["name"] for c in envelope["tool_calls"]]
    if name in calls:
        return {"calls": calls.count(name)}
    return None if calls or envelope["text"] or envelope["refusal"] else EMPTY


def allowed_tools(envelope: Envelope, allowed: Any) -> Violation:
    """``tool_not_allowed``: a tool outside the case's ``allowed_tools`` was called."""
    others = sorted({c["name"] for c in envelope["tool_calls"]} - set(allowed))
    return {"called": others} if others else None


def tool_order(envelope: Envelope, argument: Any) -> Violation:
    """``tool_order_differs``: the tools were not called in this order; other calls may stand between, unless it is exact."""
    names = list(argument["names"] if isinstance(argument, Mapping) else argument)
    called = [call["name"] for call in envelope["tool_calls"]]
    if isinstance(argument, Mapping) and argument.get("exact"):
        holds = called == names
    else:
        left = iter(called)
        holds = all(name in left for name in names)  # each name is looked for behind the one before
    return None if holds else _called(called)


def tool_arguments(envelope: Envelope, argument: Any) -> Violation:
    """``tool_arguments_invalid``: the arguments of a call of that tool do not fit the schema, or it was not called."""
    calls = [call for call in envelope["tool_calls"] if call["name"] == argument["name"]]
    for number, call in enumerate(calls):
        if "arguments_text" in call:
            return {"call": number, "reason": "the arguments are no JSON object"}
        wrong = first_error(call["arguments"], argument["schema"])
        if wrong is not None:
            return {"call": number, **wrong}
    return None if calls else _called([call["name"] for call in envelope["tool_calls"]])


def _called(names: list[str]) -> Violation:
    return {"called": [clipped(name)[:60] for name in names[:_MOST_NAMES]]}
