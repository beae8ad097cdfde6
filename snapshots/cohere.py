"""Cohere's chat, versions 1 and 2, whole and streamed: recognise, answer rule ``cohere/1``, read.

Bedrock gives version 1 by ``invoke``. ``cohere/1`` leaves out what differs between two identical answers: ids of response, generation and
tool calls, usage, log probabilities, and the history that version 1 repeats with the answer at its end. Text, plan, calls, citations,
finish reason and every member that is not named stay, but for members of the body that are null: those count as absent. The published
rule is never edited.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snapshots.cohere_stream import assemble
from snapshots.members import count, is_list_of_objects, mapping, path_of, text, tool_call, unknown, word
from snapshots.reading import Choice, Reading, ToolCall
from snapshots.volatile import without, without_nulls

RULE = "cohere/1"
READER = "cohere"
READER_NUMBER = 1
LEFT_OUT = (
    "/id", "/response_id", "/generation_id", "/meta", "/usage", "/logprobs", "/chat_history", "/prompt",
    "/search_queries/*/generation_id", "/message/tool_calls/*/id",
)  # fmt: skip

_PATHS = ("/v1/chat", "/v2/chat", "/invoke")
_FAILED = frozenset({"ERROR", "TIMEOUT", "USER_CANCEL"})
_TOXIC = "ERROR_TOXIC"
_EXPLAINED = frozenset({"MAX_TOKENS", "ERROR_LIMIT", _TOXIC})


def recognises(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether a response is an answer of the chat, whole or streamed."""
    if not path_of(request).endswith(_PATHS):
        return False
    body = mapping(whole(response))
    return (isinstance(body.get("text"), str) and "generation_id" in body) or _is_new(body)


def _is_new(body: Mapping[str, Any]) -> bool:
    message = mapping(body.get("message"))
    return message.get("role") == "assistant" and "id" in body and "choices" not in body


def whole(response: Mapping[str, Any]) -> Any:
    """Return the body of a response, assembled where it is a stream, or ``None`` where it is neither."""
    if "body" in response:
        return response["body"]
    told = response.get("text")
    if not isinstance(told, str):
        return None
    try:
        return assemble(told)
    except (ValueError, RecursionError):
        return None


def answer(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preimage of the answer hash under ``cohere/1``; a stream is assembled first."""
    return {"status": response["status"], "body": without_nulls(without(whole(response), LEFT_OUT), "")}


def is_complete(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether an answer was received to its end: a finish reason that is no failure, and no error."""
    body = mapping(whole(response))
    reason = word(body.get("finish_reason"))
    return reason is not None and reason not in _FAILED and not body.get("error")


def read(response: Mapping[str, Any]) -> Reading:
    """Read an answer into the uniform envelope fields. The plan before a tool call counts as reasoning.

    Raises:
        UnreadableSnapshot: a member has a type that this dialect does not know; the pointer names it.
    """
    body = whole(response)
    if not isinstance(body, dict):
        return unknown(READER, "neither an answer nor a stream of one", "/text" if "text" in response else "/body")
    usage = mapping(body.get("usage", body.get("meta")))
    tokens = mapping(usage.get("tokens"))
    choice = _new(body) if "message" in body else _old(body)
    return Reading(
        choices=(choice,),
        model=None,
        input_tokens=count(tokens.get("input_tokens")),
        output_tokens=count(tokens.get("output_tokens")),
        cached_tokens=count(usage.get("cached_tokens")),
        explained=choice.finish_reason in _EXPLAINED,
    )


def _old(body: Mapping[str, Any]) -> Choice:
    said = body.get("text")
    if not isinstance(said, str):
        return unknown(READER, "text that is no text", "/body/text")
    calls = body.get("tool_calls") or []
    if not is_list_of_objects(calls):
        return unknown(READER, "tool calls that are no list of objects", "/body/tool_calls")
    made = [_call(call.get("name"), call.get("parameters"), f"/body/tool_calls/{i}") for i, call in enumerate(calls)]
    reason = word(body.get("finish_reason"))
    return Choice(said, tuple(made), reason == _TOXIC, "", reason, "")


def _new(body: Mapping[str, Any]) -> Choice:
    message = mapping(body.get("message"))
    content = message.get("content") or []
    if not is_list_of_objects(content):
        return unknown(READER, "content that is no list of objects", "/body/message/content")
    calls = message.get("tool_calls") or []
    if not is_list_of_objects(calls):
        return unknown(READER, "tool calls that are no list of objects", "/body/message/tool_calls")
    made: list[ToolCall] = []
    for i, call in enumerate(calls):
        function = mapping(call.get("function"))
        made.append(_call(function.get("name"), function.get("arguments"), f"/body/message/tool_calls/{i}/function"))
    thoughts = [text(message.get("tool_plan")), *(text(part.get("thinking")) for part in content)]
    reason = word(body.get("finish_reason"))
    return Choice(
        "".join(text(part.get("text")) for part in content),
        tuple(made),
        reason == _TOXIC,
        "",
        reason,
        "\n\n".join(thought for thought in thoughts if thought),
    )


def _call(name: Any, arguments: Any, at: str) -> ToolCall:
    if not isinstance(name, str):
        return unknown(READER, "a call without a name", f"{at}/name")
    call = tool_call(name, arguments)
    return call or unknown(READER, "arguments that are neither text nor an object", f"{at}/arguments")
