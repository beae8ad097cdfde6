"""Anthropic messages, whole and streamed: recognise, answer rule ``anthropic/1``, read.

``anthropic/1`` leaves out what differs between two identical answers: the ids of message, blocks, tool calls, containers and files in
them, the reported model, usage, how a prompt cache did; the signatures, encrypted data and encrypted indexes that are made anew for
each call; and how old a search result is. Text, thinking, tool inputs, results, stop reason and every member that is not named stay,
but for members of the message and of its blocks that are null: those count as absent. The published rule is never edited.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snapshots.anthropic_stream import assemble, is_ended
from snapshots.events import body_of
from snapshots.members import count, is_list_of_objects, mapping, path_of, text, tool_call, total, unknown, word
from snapshots.reading import Choice, Reading, ToolCall
from snapshots.volatile import without, without_nulls

RULE = "anthropic/1"
READER = "anthropic"
READER_NUMBER = 1
LEFT_OUT = (
    "/id", "/model", "/usage", "/container", "/diagnostics",
    "/content/*/id", "/content/*/tool_use_id", "/content/*/signature", "/content/*/data", "/content/*/encrypted_content",
    "/content/*/caller/tool_id", "/content/*/file_id",
    "/content/*/citations/*/encrypted_index",
    "/content/*/content/encrypted_content", "/content/*/content/encrypted_stdout", "/content/*/content/retrieved_at",
    "/content/*/content/*/encrypted_content", "/content/*/content/*/page_age", "/content/*/content/*/file_id",
    "/content/*/content/content/*/file_id",
)  # fmt: skip

# The last two are how Vertex AI gives a model of Anthropic's.
_PATHS = ("/messages", ":rawPredict", ":streamRawPredict")
# Blocks that are read, and what the server did on its way to the answer.
_KNOWN = frozenset(
    {"text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use", "compaction"}
)


def recognises(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether a response is a message, whole or streamed."""
    if not path_of(request).endswith(_PATHS):
        return False
    body = body_of(response, assemble)
    return isinstance(body, dict) and body.get("type") == "message" and is_list_of_objects(body.get("content"))


def answer(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preimage of the answer hash under ``anthropic/1``; a stream is assembled first."""
    return {
        "status": response["status"],
        "body": without_nulls(without(body_of(response, assemble), LEFT_OUT), "content"),
    }


def is_complete(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether a message was received to its end: it has a stop reason, and a stream no error and its last event."""
    body = body_of(response, assemble)
    if not isinstance(body, dict) or body.get("error") or not body.get("stop_reason"):
        return False
    return "body" in response or is_ended(str(response["text"]))


def whole(response: Mapping[str, Any]) -> Any:
    """Return the body of a recognised response, assembled where it is a stream."""
    return body_of(response, assemble)


def read(response: Mapping[str, Any]) -> Reading:
    """Read a message into the uniform envelope fields. Tokens read from a cache or written to one count as input.

    Raises:
        UnreadableSnapshot: a member has a type that this dialect does not know; the pointer names it.
    """
    body = body_of(response, assemble)
    content = body.get("content") if isinstance(body, dict) else None
    if not isinstance(content, list):
        return unknown(READER, "neither a message nor a stream of one", "/text" if "text" in response else "/body")
    usage = mapping(body.get("usage"))
    cached, written = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    return Reading(
        choices=(_choice(body, content),),
        model=word(body.get("model")),
        input_tokens=total(usage.get("input_tokens"), cached, written),
        output_tokens=count(usage.get("output_tokens")),
        cached_tokens=count(cached),
        cache_write_tokens=count(written),
        explained=any(not _is_known(text(mapping(block).get("type"))) for block in content),
    )


def _is_known(kind: str) -> bool:
    return kind in _KNOWN or kind.endswith("_tool_result")


def _choice(body: Mapping[str, Any], content: list[Any]) -> Choice:
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    for i, block in enumerate(content):
        at = f"/body/content/{i}"
        if not isinstance(block, dict):
            return unknown(READER, "a block that is no object", at)
        kind = block.get("type")
        if kind == "text":
            texts.append(_member(block, "text", at))
        elif kind == "thinking":
            thoughts.append(_member(block, "thinking", at))
        elif kind == "tool_use":
            calls.append(_call(block, at))
    reason = body.get("stop_reason")
    if reason is not None and not isinstance(reason, str):
        return unknown(READER, "a stop reason that is no text", "/body/stop_reason")
    refusal = text(mapping(body.get("stop_details")).get("explanation")) if reason == "refusal" else ""
    return Choice(
        "".join(texts), tuple(calls), reason == "refusal", refusal, reason, "\n\n".join(t for t in thoughts if t)
    )


def _member(block: Mapping[str, Any], name: str, at: str) -> str:
    value = block.get(name)
    return value if isinstance(value, str) else unknown(READER, f"{name} that is no text", f"{at}/{name}")


def _call(block: Mapping[str, Any], at: str) -> ToolCall:
    call = tool_call(_member(block, "name", at), block.get("input"))
    return call or unknown(READER, "an input that is neither an object nor text", f"{at}/input")
