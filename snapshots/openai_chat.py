"""OpenAI chat completions, whole and streamed: recognise, assemble, answer rule ``openai-chat/1``, read.

Groq, Mistral, OpenRouter, Azure, DeepSeek, vLLM, llama.cpp and others speak this dialect; none needs code of its own.

``openai-chat/1`` leaves out ``/id /created /model /system_fingerprint /service_tier /usage /timings``, every ``logprobs`` and every
``tool_calls/*/id``: the members in which two identical answers differ. Other servers of the dialect have more of them, and these are
left out too: ids, times and parts of the usage of the call, the seed of a draw, the id and the end of a sound, and what is signed or
encrypted anew for each call. The published rule is never edited.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snapshots import sse
from snapshots.errors import UnreadableSnapshot
from snapshots.events import is_done
from snapshots.members import count, mapping, tool_call, wanted
from snapshots.openai_stream import assemble, has_rest
from snapshots.reading import Choice, Reading, ToolCall
from snapshots.volatile import without

RULE = "openai-chat/1"
READER = "openai-chat"
READER_NUMBER = 3

_PER_CALL = frozenset(
    {
        "id", "created", "model", "system_fingerprint", "service_tier", "usage", "timings",
        "request_id", "time_info", "usage_breakdown", "x_groq",
    }
)  # fmt: skip
LEFT_OUT = (
    "/choices/*/seed", "/choices/*/message/audio/id", "/choices/*/message/audio/expires_at",
    "/choices/*/message/thought_signature", "/choices/*/message/extra_content/google/thought_signature",
    "/choices/*/message/tool_calls/*/extra_content/google/thought_signature",
    "/choices/*/message/reasoning_details/*/id", "/choices/*/message/reasoning_details/*/signature",
    "/choices/*/message/reasoning_details/*/data",
)  # fmt: skip
_PATH = "/chat/completions"


def recognises(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether a response is a chat completion, whole or streamed, or this endpoint's refusal by a content filter."""
    body = response.get("body")
    if isinstance(body, dict):
        choices = body.get("choices")
        if isinstance(choices, list):
            return all(isinstance(c, dict) and isinstance(c.get("message"), dict) for c in choices)
        url = str(request.get("url", "")).split("?", 1)[0]
        return url.endswith(_PATH) and is_filtered(response)
    text = response.get("text")
    return isinstance(text, str) and sse.looks_like_stream(text) and _assembled_or_none(text) is not None


def answer(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preimage of the answer hash under ``openai-chat/1``; a stream is assembled first."""
    body = response["body"] if "body" in response else assemble(str(response["text"]))
    kept = {
        name: _without_per_call(item) for name, item in body.items() if name not in _PER_CALL and name != "logprobs"
    }
    return {"status": response["status"], "body": without(_tool_calls_without_ids(kept), LEFT_OUT)}


def _without_per_call(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: _without_per_call(item) for name, item in value.items() if name != "logprobs"}
        return _tool_calls_without_ids(kept)
    if isinstance(value, list):
        return [_without_per_call(item) for item in value]
    return value


def _tool_calls_without_ids(members: dict[str, Any]) -> dict[str, Any]:
    calls = members.get("tool_calls")
    if isinstance(calls, list):
        members["tool_calls"] = [
            {n: v for n, v in call.items() if n != "id"} if isinstance(call, dict) else call for call in calls
        ]
    return members


def is_complete(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether an answer was received to its end.

    It has no error, and in a stream a finish reason for each choice: for as many as were asked for, with all that was asked for
    beside them, or for all that there are where the stream says itself that it is done.
    """
    if "body" in response:
        body = mapping(response["body"])
        return isinstance(body.get("choices"), list) and bool(body["choices"]) and not body.get("error")
    text = str(response.get("text", ""))
    body = _assembled_or_none(text)
    if body is None or body.get("error"):  # a gateway tells an error within a chunk, even after a finish reason
        return False
    choices = body["choices"]
    if not all(choice["finish_reason"] for choice in choices):
        return False
    return (len(choices) >= wanted(request, "n") and has_rest(request, body)) or is_done(text)


def is_filtered(response: Mapping[str, Any]) -> bool:
    """Tell whether a body is a content filter's refusal sent as an error (``error.code`` is ``content_filter``)."""
    body = response.get("body")
    error = body.get("error") if isinstance(body, dict) else None
    return isinstance(error, dict) and error.get("code") == "content_filter"


def _assembled_or_none(text: str) -> dict[str, Any] | None:
    try:
        return assemble(text)
    except ValueError:
        return None


def read(response: Mapping[str, Any]) -> Reading:
    """Read a chat completion into the uniform envelope fields.

    Raises:
        UnreadableSnapshot: a member has a type that this dialect does not know; the pointer names it.
    """
    body = response["body"] if "body" in response else _assembled(response)
    if not isinstance(body, dict):
        return _unknown("a body that is no object", "/body")
    if body.get("choices") is None:
        return _filtered(body) if is_filtered(response) else _unknown("an error, not an answer", "/body/error")
    if not isinstance(body["choices"], list):
        _unknown("choices that are no list", "/body/choices")
    choices = tuple(_choice(c, f"/body/choices/{i}") for i, c in enumerate(body["choices"]))
    if not choices:
        _unknown("no choice", "/body/choices")
    usage = body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("prompt_tokens_details")
    return Reading(
        choices=choices,
        model=body.get("model") if isinstance(body.get("model"), str) else None,
        input_tokens=count(usage.get("prompt_tokens")),
        output_tokens=count(usage.get("completion_tokens")),
        cached_tokens=count(details.get("cached_tokens")) if isinstance(details, dict) else None,
        explained=any(_is_spoken(c["message"]) for c in body["choices"]),
    )


def _assembled(response: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return assemble(str(response.get("text", "")))
    except ValueError as error:
        raise UnreadableSnapshot(f"the stream cannot be assembled ({error})", reader=READER, pointer="/text") from None


def _is_spoken(message: Mapping[str, Any]) -> bool:
    """Tell whether a message is sound: it has no other text than what was said. Some servers send the member empty."""
    audio = message.get("audio")
    return isinstance(audio, dict) and bool(audio.get("data") or audio.get("transcript"))


def _filtered(body: Mapping[str, Any]) -> Reading:
    text = body["error"].get("message")
    refusal = text if isinstance(text, str) else ""
    choice = Choice("", (), True, refusal, "content_filter", "")
    return Reading(choices=(choice,), model=None, input_tokens=None, output_tokens=None)


def _choice(choice: Any, at: str) -> Choice:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        return _unknown("no message", f"{at}/message")
    text, refusal_text = _content(message.get("content"), f"{at}/message/content")
    if isinstance(message.get("refusal"), str):
        refusal_text = message["refusal"] or refusal_text
    finish = choice.get("finish_reason")
    if finish is not None and not isinstance(finish, str):
        _unknown("a finish reason that is no text", f"{at}/finish_reason")
    reasoning = message.get("reasoning_content") or message.get("reasoning") or _thinking(message.get("content"))
    if not text and _is_spoken(message):
        said = message["audio"].get("transcript")
        text = said if isinstance(said, str) else ""
    return Choice(
        text=text,
        tool_calls=_tool_calls(message, f"{at}/message"),
        refusal=bool(refusal_text) or finish == "content_filter",
        refusal_text=refusal_text,
        finish_reason=finish,
        reasoning=reasoning if isinstance(reasoning, str) else "",
    )


def _content(content: Any, at: str) -> tuple[str, str]:
    """Return the text and the refusal text of a message's content: text, parts, or null."""
    if content is None:
        return "", ""
    if isinstance(content, str):
        return content, ""
    if not isinstance(content, list):
        return _unknown("content that is neither text nor parts", at)
    texts: list[str] = []
    refusals: list[str] = []
    for i, part in enumerate(content):
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif isinstance(part, dict) and isinstance(part.get("refusal"), str):
            refusals.append(part["refusal"])
        elif not isinstance(part, dict):
            return _unknown("a content part that is no object", f"{at}/{i}")
    return "".join(texts), "".join(refusals)


def _thinking(content: Any) -> str:
    """Return what the thinking parts of a content hold: texts, or parts with texts."""
    thoughts: list[str] = []
    for part in content if isinstance(content, list) else ():
        thought = part.get("thinking") if part.get("type") == "thinking" else None
        if isinstance(thought, str):
            thoughts.append(thought)
        elif isinstance(thought, list):
            thoughts += [p["text"] for p in thought if isinstance(p, dict) and isinstance(p.get("text"), str)]
    return "".join(thoughts)


def _tool_calls(message: Mapping[str, Any], at: str) -> tuple[ToolCall, ...]:
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        return _unknown("tool calls that are no list", f"{at}/tool_calls")
    read = [_tool_call(call, f"{at}/tool_calls/{i}") for i, call in enumerate(calls)]
    legacy = message.get("function_call")
    if isinstance(legacy, dict) and legacy.get("name") != "":  # an empty one is how some servers say that there is none
        read.append(_tool_call({"function": legacy}, f"{at}/function_call"))
    return tuple(read)


def _tool_call(call: Any, at: str) -> ToolCall:
    if not isinstance(call, dict):
        return _unknown("a tool call that is no object", at)
    if call.get("type") == "custom" and isinstance(call.get("custom"), dict):
        return ToolCall(str(call["custom"].get("name") or ""), {}, str(call["custom"].get("input") or ""))
    function = call.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return _unknown("a tool call without a function name", f"{at}/function")
    made = tool_call(function["name"], function.get("arguments"))
    return made or _unknown("arguments that are neither text nor an object", f"{at}/function/arguments")


def _unknown(message: str, pointer: str) -> Any:
    raise UnreadableSnapshot(message, reader=READER, pointer=pointer)
