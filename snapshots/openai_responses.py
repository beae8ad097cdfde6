"""OpenAI responses, whole and streamed: recognise, answer rule ``openai-responses/1``, read.

``openai-responses/1`` leaves out what differs between two identical answers:

- of the call: ids, times, the reported model, usage, service tier, who pays, ``timings``, how a prompt cache did;
- of the request, which the body repeats with the defaults of the day: a server that begins to repeat another one, or names another
  default, has not answered anything else, and what was sent is keyed already;
- of items: ids, encrypted reasoning, ids of containers and of files in them, fingerprints of programs, log probabilities;
- of moderation: its model and scores; categories and flags stay.

``output``, ``status``, ``incomplete_details``, ``error`` and every member that is not named stay, but for members of the body and of its
items that are null: those count as absent. The published rule is never edited.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snapshots.events import body_of
from snapshots.members import count, is_list_of_objects, mapping, path_of, text, tool_call, unknown, word
from snapshots.openai_responses_stream import assemble
from snapshots.reading import Choice, Reading, ToolCall
from snapshots.volatile import without, without_nulls

RULE = "openai-responses/1"
READER = "openai-responses"
READER_NUMBER = 1
LEFT_OUT = (
    "/id", "/created_at", "/completed_at", "/model", "/usage", "/tool_usage", "/service_tier", "/billing", "/timings",
    "/prompt_cache_diagnostics",
    "/access_programs", "/background", "/conversation", "/frequency_penalty", "/instructions", "/max_output_tokens", "/max_tool_calls",
    "/metadata", "/parallel_tool_calls", "/presence_penalty", "/previous_response_id", "/prompt", "/prompt_cache_key",
    "/prompt_cache_options", "/prompt_cache_retention", "/reasoning", "/safety_identifier", "/store", "/temperature", "/text",
    "/tool_choice", "/tools", "/top_logprobs", "/top_p", "/truncation", "/user",
    "/output/*/id", "/output/*/call_id", "/output/*/approval_request_id", "/output/*/encrypted_content", "/output/*/container_id",
    "/output/*/fingerprint", "/output/*/caller/caller_id", "/output/*/pending_safety_checks/*/id",
    "/output/*/content/*/logprobs", "/output/*/content/*/annotations/*/container_id", "/output/*/content/*/annotations/*/file_id",
    "/moderation/*/model", "/moderation/*/category_scores",
)  # fmt: skip

_PATH = "/responses"
_UNFINISHED = frozenset({"queued", "in_progress", "failed", "cancelled"})
# Calls that the client has to run and that have no name of their own: item type -> the member that says what to do.
_NAMELESS = {
    "apply_patch_call": "operation",
    "computer_call": "action",
    "local_shell_call": "action",
    "shell_call": "action",
}
# Items beside the answer: what the server did on its way to it.
_WORK = frozenset(
    {
        "reasoning", "message", "web_search_call", "file_search_call", "code_interpreter_call", "mcp_call", "mcp_list_tools",
        "tool_search_call", "tool_search_output", "additional_tools", "program_output", "compaction", "function_call",
        "custom_tool_call",
    }
)  # fmt: skip


def recognises(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether a response is one of the Responses API, whole or streamed, or this endpoint's refusal by a content filter."""
    if not path_of(request).endswith(_PATH):
        return False
    body = body_of(response, assemble)
    if not isinstance(body, dict):
        return False
    return (body.get("object") == "response" and is_list_of_objects(body.get("output"))) or _is_filtered(body)


def _is_filtered(body: Mapping[str, Any]) -> bool:
    return "output" not in body and mapping(body.get("error")).get("code") == "content_filter"


def answer(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preimage of the answer hash under ``openai-responses/1``; a stream is assembled first."""
    return {
        "status": response["status"],
        "body": without_nulls(without(body_of(response, assemble), LEFT_OUT), "output"),
    }


def is_complete(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether an answer was received to its end: neither under way nor failed, and with a reason where it is incomplete."""
    body = body_of(response, assemble)
    if not isinstance(body, dict) or not isinstance(body.get("output"), list) or body.get("error"):
        return False
    status = text(body.get("status"))
    return bool(body.get("incomplete_details")) if status == "incomplete" else status not in _UNFINISHED


def whole(response: Mapping[str, Any]) -> Any:
    """Return the body of a recognised response, assembled where it is a stream."""
    return body_of(response, assemble)


def read(response: Mapping[str, Any]) -> Reading:
    """Read a response into the uniform envelope fields.

    Raises:
        UnreadableSnapshot: a member has a type that this dialect does not know; the pointer names it.
    """
    body = body_of(response, assemble)
    if not isinstance(body, dict):
        return unknown(READER, "neither a response nor a stream of one", "/text" if "text" in response else "/body")
    if _is_filtered(body):
        choice = Choice("", (), True, text(body["error"].get("message")), "content_filter", "")
        return Reading(choices=(choice,), model=None, input_tokens=None, output_tokens=None)
    output = body.get("output")
    if not isinstance(output, list):
        return unknown(READER, "no output", "/body/output")
    usage = mapping(body.get("usage"))
    details = mapping(usage.get("input_tokens_details"))
    return Reading(
        choices=(_choice(body, output),),
        model=word(body.get("model")),
        input_tokens=count(usage.get("input_tokens")),
        output_tokens=count(usage.get("output_tokens")),
        cached_tokens=count(details.get("cached_tokens")),
        cache_write_tokens=count(details.get("cache_write_tokens")),
        # An image, or a kind of item that came later, is an answer without text.
        explained=any(text(mapping(item).get("type")) not in _WORK for item in output),
    )


def _choice(body: Mapping[str, Any], output: list[Any]) -> Choice:
    texts: list[str] = []
    refusals: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    for i, item in enumerate(output):
        at = f"/body/output/{i}"
        if not isinstance(item, dict):
            return unknown(READER, "an item that is no object", at)
        kind = item.get("type")
        if kind == "message":
            texts += _parts(item, "content", "text", at)
            refusals += _parts(item, "content", "refusal", at)
        elif kind == "reasoning":
            thoughts += _parts(item, "content", "text", at) or _parts(item, "summary", "text", at)
        else:
            calls += _calls(item, at)
    finish = _finish(body)
    refusal = "".join(refusals)
    return Choice(
        "".join(texts),
        tuple(calls),
        bool(refusal) or finish == "content_filter",
        refusal,
        finish,
        "\n\n".join(thoughts),
    )


def _finish(body: Mapping[str, Any]) -> str | None:
    return word(mapping(body.get("incomplete_details")).get("reason")) or word(body.get("status"))


def _parts(item: Mapping[str, Any], member: str, name: str, at: str) -> list[str]:
    """Return the texts that stand under a name in the parts of an item."""
    parts = item.get(member) or []
    if isinstance(parts, str):
        return [parts] if name == "text" else []
    if not is_list_of_objects(parts):
        return unknown(READER, "parts that are no list of objects", f"{at}/{member}")
    return [part[name] for part in parts if isinstance(part.get(name), str)]


def _calls(item: Mapping[str, Any], at: str) -> list[ToolCall]:
    kind = text(item.get("type"))
    if kind in _NAMELESS:
        return [ToolCall(kind.removesuffix("_call"), mapping(item.get(_NAMELESS[kind])), None)]
    if kind == "tool_search_call" and item.get("execution") == "client":
        return [ToolCall("tool_search", mapping(item.get("arguments")), None)]
    if kind not in ("function_call", "custom_tool_call"):
        return []
    if not isinstance(item.get("name"), str):
        return unknown(READER, "a call without a name", f"{at}/name")
    if kind == "custom_tool_call":
        return [ToolCall(item["name"], {}, text(item.get("input")))]
    call = tool_call(item["name"], item.get("arguments"))
    return [call] if call else unknown(READER, "arguments that are neither text nor an object", f"{at}/arguments")
