"""What a program answered (transport ``exec``, protocol 1): recognise, answer rule ``exec/1``, read.

A program prints one JSON object: ``output`` where it stands for a provider, ``pass`` where it judges. The exit code is the status.
``exec/1`` leaves out what differs between two identical answers: ``usage``, ``cost_usd``, ``metadata``, ``model`` and the ids of tool
calls. The digest of the program's own files stands beside the body and never counts. The published rule is never edited.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from snapshots.generic import as_text
from snapshots.members import count, mapping, text, total, unknown, word
from snapshots.reading import Choice, Reading, ToolCall
from snapshots.volatile import without

RULE = "exec/1"
READER = "exec"
READER_NUMBER = 1
LEFT_OUT = ("/usage", "/cost_usd", "/metadata", "/model", "/tool_calls/*/id")


def recognises(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether a response is a program's, of either kind."""
    return request.get("transport") == "exec" and _is_answer(response.get("body"))


def _is_answer(body: Any) -> bool:
    return isinstance(body, dict) and ("output" in body or "pass" in body)


def answer(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preimage of the answer hash under ``exec/1``."""
    return {"status": response["status"], "body": without(response["body"], LEFT_OUT)}


def is_complete(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether a program answered: it ended with 0, and reports no error."""
    body = response.get("body")
    return response.get("status") == 0 and _is_answer(body) and mapping(body).get("error") is None


def read(response: Mapping[str, Any]) -> Reading:
    """Read a program's answer into the uniform envelope fields; what is no text is its compact JSON. A verdict is its own text.

    Raises:
        UnreadableSnapshot: a member has a type that this protocol does not know; the pointer names it.
    """
    body = response.get("body")
    if not isinstance(body, dict) or not _is_answer(body):
        return unknown(READER, "neither output nor pass", "/body")
    if body.get("error") is not None:
        return unknown(READER, "an error, not an answer", "/body/error")
    usage = mapping(body.get("usage"))
    cached = usage.get("cache_read_tokens")
    written = usage.get("cache_write_tokens"), usage.get("cache_write_1h_tokens")
    reason = word(body.get("empty_reason"))
    choice = Choice(
        text=as_text(body.get("output", body)),
        tool_calls=_tool_calls(body.get("tool_calls")),
        refusal=False,
        refusal_text="",
        finish_reason=word(body.get("stop_reason")) or reason,
        reasoning=text(body.get("reasoning")),
    )
    return Reading(
        choices=(choice,),
        model=word(body.get("model")),
        input_tokens=total(usage.get("input_tokens"), cached, *written),
        output_tokens=count(usage.get("output_tokens")),
        cached_tokens=count(cached),
        cache_write_tokens=None if written == (None, None) else total(0, *written),
        cost_usd=_cost(body.get("cost_usd")),
        explained=reason is not None,
    )


def _cost(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        return None
    try:
        cost = float(value)
    except OverflowError:
        return None
    return cost if math.isfinite(cost) else None


def _tool_calls(calls: Any) -> tuple[ToolCall, ...]:
    if calls is None:
        return ()
    if not isinstance(calls, list):
        return unknown(READER, "tool calls that are no list", "/body/tool_calls")
    return tuple(_tool_call(call, f"/body/tool_calls/{i}") for i, call in enumerate(calls))


def _tool_call(call: Any, at: str) -> ToolCall:
    """Return a tool call. Its arguments are decoded already: what is no object was never meant as one."""
    name, arguments = mapping(call).get("name"), mapping(call).get("arguments")
    if not isinstance(name, str):
        return unknown(READER, "a tool call without a name", f"{at}/name")
    if arguments is None or isinstance(arguments, dict):
        return ToolCall(name, arguments or {}, None)
    return ToolCall(name, {}, as_text(arguments))
