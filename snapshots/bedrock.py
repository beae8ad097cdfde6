"""Bedrock's converse, whole and streamed: recognise, answer rule ``bedrock-converse/1``, read.

Models whose own body is converse's (Nova) are also asked by ``invoke``. A stream is binary frames, kept as base64 and assembled.
``bedrock-converse/1`` leaves out what differs between two identical answers: usage, metrics, the trace of guardrails and routers, which
holds times, performance settings and service tier; ids of tool calls and of their results; signatures and encrypted reasoning. Text,
reasoning, arguments, stop reason and every member that is not named stay, but for members of the body that are null: those count as
absent. The published rule is never edited.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from snapshots import aws_events
from snapshots.bedrock_stream import assemble
from snapshots.members import count, is_list_of_objects, mapping, path_of, text, tool_call, total, unknown, word
from snapshots.reading import Choice, Reading, ToolCall
from snapshots.volatile import without, without_nulls

RULE = "bedrock-converse/1"
READER = "bedrock-converse"
READER_NUMBER = 1
LEFT_OUT = (
    "/usage", "/metrics", "/trace", "/performanceConfig", "/serviceTier",
    "/output/message/content/*/toolUse/toolUseId", "/output/message/content/*/toolResult/toolUseId",
    "/output/message/content/*/reasoningContent/reasoningText/signature",
    "/output/message/content/*/reasoningContent/redactedContent",
)  # fmt: skip

PATH = re.compile(r"/model/.+/(?:converse|converse-stream|invoke|invoke-with-response-stream)\Z")
_FILTERED = frozenset({"guardrail_intervened", "content_filtered"})
_EXPLAINED = _FILTERED | {"max_tokens", "model_context_window_exceeded"}
_KNOWN = frozenset({"text", "toolUse", "reasoningContent", "citationsContent"})
_SERVER = "server_tool_use"


def recognises(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether a response is an answer of converse, whole or streamed."""
    return PATH.search(path_of(request)) is not None and _content(whole(response)) is not None


def _content(body: Any) -> list[dict[str, Any]] | None:
    content = mapping(mapping(mapping(body).get("output")).get("message")).get("content")
    return content if is_list_of_objects(content) else None


def whole(response: Mapping[str, Any]) -> Any:
    """Return the body of a response, assembled where it is a stream, or ``None`` where it is neither."""
    if "body" in response:
        return response["body"]
    data = aws_events.stream_of(response)
    if data is None:
        return None
    try:
        return assemble(data)
    except (ValueError, RecursionError):
        return None


def answer(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preimage of the answer hash under ``bedrock-converse/1``; a stream is assembled first."""
    return {"status": response["status"], "body": without_nulls(without(whole(response), LEFT_OUT), "")}


def is_complete(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether an answer was received to its end: it has a stop reason and no error."""
    body = mapping(whole(response))
    return bool(body.get("stopReason")) and not body.get("error")


def read(response: Mapping[str, Any]) -> Reading:
    """Read an answer into the uniform envelope fields. Tokens read from a cache or written to one count as input.

    The model is in the URL; no answer names it.

    Raises:
        UnreadableSnapshot: a member has a type that this dialect does not know; the pointer names it.
    """
    body = whole(response)
    content = _content(body)
    if content is None:
        return unknown(READER, "neither an answer nor a stream of one", "/body" if "body" in response else "/base64")
    usage = mapping(body.get("usage"))
    cached = usage.get("cacheReadInputTokens", usage.get("cacheReadInputTokenCount"))
    written = usage.get("cacheWriteInputTokens", usage.get("cacheWriteInputTokenCount"))
    choice = _choice(body, content)
    return Reading(
        choices=(choice,),
        model=None,
        input_tokens=total(usage.get("inputTokens"), cached, written),
        output_tokens=count(usage.get("outputTokens")),
        cached_tokens=count(cached),
        cache_write_tokens=count(written),
        explained=choice.finish_reason in _EXPLAINED or any(block.keys() - _KNOWN for block in content),
    )


def _choice(body: Mapping[str, Any], content: list[dict[str, Any]]) -> Choice:
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    for i, block in enumerate(content):
        at = f"/body/output/message/content/{i}"
        if "text" in block:
            texts.append(_text(block["text"], f"{at}/text"))
        if "citationsContent" in block:
            texts += _cited(block["citationsContent"], f"{at}/citationsContent/content")
        if "reasoningContent" in block:
            thoughts.append(text(mapping(mapping(block["reasoningContent"]).get("reasoningText")).get("text")))
        if "toolUse" in block and mapping(block["toolUse"]).get("type") != _SERVER:
            calls.append(_call(block["toolUse"], f"{at}/toolUse"))
    reason = word(body.get("stopReason"))
    thought = "\n\n".join(t for t in thoughts if t)
    return Choice("".join(texts), tuple(calls), reason in _FILTERED, "", reason, thought)


def _text(value: Any, at: str) -> str:
    return value if isinstance(value, str) else unknown(READER, "text that is no text", at)


def _cited(block: Any, at: str) -> list[str]:
    parts = mapping(block).get("content") or []
    if not is_list_of_objects(parts):
        return unknown(READER, "parts that are no list of objects", at)
    return [text(part.get("text")) for part in parts]


def _call(use: Any, at: str) -> ToolCall:
    name = mapping(use).get("name")
    if not isinstance(name, str):
        return unknown(READER, "a call without a name", f"{at}/name")
    call = tool_call(name, use.get("input"))
    return call or unknown(READER, "an input that is neither an object nor text", f"{at}/input")
