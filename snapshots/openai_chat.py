"""OpenAI chat completions, whole and streamed: recognise, assemble, answer rule ``openai-chat/1``, read.

Groq, Mistral, OpenRouter, Azure, DeepSeek, vLLM, llama.cpp and others speak this dialect; none needs code of its own.

``openai-chat/1`` leaves out ``/id /created /model /system_fingerprint /service_tier /usage /timings``, every ``logprobs`` and every
``tool_calls/*/id``: the members in which two identical answers differ. The published rule is never edited.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from snapshots import sse, strict_json
from snapshots.errors import JsonError, UnreadableSnapshot
from snapshots.reading import Choice, Reading, ToolCall

RULE = "openai-chat/1"
READER = "openai-chat"
READER_NUMBER = 1

_PER_CALL = frozenset({"id", "created", "model", "system_fingerprint", "service_tier", "usage", "timings"})
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


def reads(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether the reader understands a response: what the rule recognises, and whole answers that strict JSON cannot hold.

    Such an answer (a NaN among log probabilities, half a surrogate pair, a member twice) is kept as text and hashed whole.
    """
    if recognises(request, response):
        return True
    body = _lenient(response.get("text"))
    return body is not None and recognises(request, {"body": body})


def _lenient(text: Any) -> dict[str, Any] | None:
    """Return the object that a text spells for a reader who forgives, or ``None``."""
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return None
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def answer(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preimage of the answer hash under ``openai-chat/1``; a stream is assembled first."""
    body = response["body"] if "body" in response else assemble(str(response["text"]))
    kept = {
        name: _without_per_call(item) for name, item in body.items() if name not in _PER_CALL and name != "logprobs"
    }
    return {"status": response["status"], "body": _tool_calls_without_ids(kept)}


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


def is_complete(response: Mapping[str, Any]) -> bool:
    """Tell whether an answer was received to its end: a stream has a finish reason for each choice and no error event."""
    if "body" in response:
        choices = response["body"].get("choices")
        return isinstance(choices, list) and bool(choices)
    body = _assembled_or_none(str(response.get("text", "")))
    return body is not None and bool(body["choices"]) and all(c["finish_reason"] for c in body["choices"])


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


def assemble(text: str) -> dict[str, Any]:
    """Return the chat completion that an event stream spells out.

    Raises:
        ValueError: an event is no JSON object, no chunk, or an error; or the joined text is not Unicode.
    """
    try:
        return _assemble(text)
    except RecursionError:
        raise ValueError("an event nests too deeply") from None


def _assemble(text: str) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for data in sse.data_events(text):
        if data.strip() == "[DONE]":
            break
        # The standard reader lets half of a surrogate pair through: its other half may stand in the next chunk.
        chunk = json.loads(data)
        if not isinstance(chunk, dict) or not isinstance(chunk.get("choices"), list):
            raise ValueError("an event is no chunk of a chat completion")
        _replace(whole, {name: value for name, value in chunk.items() if name not in ("choices", "object")})
        for part in chunk["choices"]:
            _add(choices, part)
    if not choices:
        raise ValueError("a stream without a single choice")
    return _whole_text(
        {**whole, "object": "chat.completion", "choices": [_joined(choices[i]) for i in sorted(choices)]}
    )


def _add(choices: dict[int, dict[str, Any]], part: Any) -> None:
    if not isinstance(part, dict) or not isinstance(part.get("delta"), dict):
        raise ValueError("a choice of a chunk has no delta")
    index = part.get("index", 0)
    if not isinstance(index, int):
        raise ValueError("a choice of a chunk has no whole index")
    choice = choices.setdefault(index, {"index": index, "message": {"role": "assistant"}, "finish_reason": None})
    _merge(choice["message"], part["delta"])
    _replace(choice, {name: value for name, value in part.items() if name not in ("delta", "index", "logprobs")})


def _replace(members: dict[str, Any], newer: Mapping[str, Any]) -> None:
    """Take the newer value of each member; null says nothing about one that is there already."""
    members.update((name, value) for name, value in newer.items() if value is not None or name not in members)


# Members that name and do not grow: servers repeat them from chunk to chunk.
_NAMING = frozenset({"id", "index", "role", "type"})


def _merge(into: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Add a delta to what came before: texts grow, objects merge, lists grow by index; nothing is dropped."""
    for name, value in delta.items():
        old = into.get(name)
        if value is None:
            into.setdefault(name, None)
        elif old is None or name in _NAMING:
            into[name] = _grown([], value, name) if isinstance(value, list) else value
        elif isinstance(old, str) and isinstance(value, str):
            into[name] = old + value
        elif isinstance(old, dict) and isinstance(value, dict):
            _merge(old, value)
        elif isinstance(old, list) and isinstance(value, list):
            into[name] = _grown(old, value, name)
        elif isinstance(old, str | dict | list) or isinstance(value, str | dict | list):
            raise ValueError(f"{name} is of one kind in one chunk and of another in the next")
        else:
            into[name] = value


def _grown(items: list[Any], more: list[Any], name: str) -> list[Any]:
    for item in more:
        known = _continued(items, item, name)
        if known is None:
            # A copy of its own: later chunks are merged into it.
            items.append(json.loads(json.dumps(item)) if isinstance(item, dict) else item)
        else:
            _merge(known, item)
    return items


def _continued(items: list[Any], item: Any, name: str) -> dict[str, Any] | None:
    """Return the item that a later one goes on with: of the same index, or the last tool call where the later names none."""
    if not isinstance(item, dict):
        return None
    if isinstance(item.get("index"), int):
        return next((i for i in items if isinstance(i, dict) and i.get("index") == item["index"]), None)
    if name != "tool_calls" or not items or not isinstance(items[-1], dict):
        return None
    function = item.get("function")
    named = item.get("id") or (isinstance(function, dict) and function.get("name"))
    return None if named else items[-1]


def _is_call(call: Any) -> bool:
    return isinstance(call, dict) and isinstance(call.get("function", {}), dict)


def _joined(choice: dict[str, Any]) -> dict[str, Any]:
    """Return a choice as a whole body spells it: tool calls in the order of their index, without it."""
    calls = choice["message"].get("tool_calls")
    if calls is not None:
        if not isinstance(calls, list) or not all(_is_call(call) for call in calls):
            raise ValueError("tool calls are no list of objects")
        ordered = sorted(calls, key=lambda call: call["index"] if isinstance(call.get("index"), int) else 0)
        choice["message"]["tool_calls"] = [{n: v for n, v in call.items() if n != "index"} for call in ordered]
    return choice


def _whole_text(value: Any) -> Any:
    """Join surrogate halves that two chunks split. Raises ``ValueError`` (UnicodeDecodeError) where one stays alone."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16")
    if isinstance(value, dict):
        return {_whole_text(n): _whole_text(v) for n, v in value.items()}
    if isinstance(value, list):
        return [_whole_text(v) for v in value]
    return value


def read(response: Mapping[str, Any]) -> Reading:
    """Read a chat completion into the uniform envelope fields.

    Raises:
        UnreadableSnapshot: a member has a type that this dialect does not know; the pointer names it.
    """
    body = response.get("body") or _lenient(response.get("text"))
    if body is None:
        try:
            body = assemble(str(response["text"]))
        except ValueError as error:
            raise UnreadableSnapshot(
                f"the stream cannot be assembled ({error})", reader=READER, pointer="/text"
            ) from None
    if "choices" not in body:
        return _filtered(body) if is_filtered(response) else _unknown("an error, not an answer", "/body/error")
    choices = tuple(_choice(c, f"/body/choices/{i}") for i, c in enumerate(body["choices"]))
    if not choices:
        _unknown("no choice", "/body/choices")
    usage = body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Reading(
        choices=choices,
        model=body.get("model") if isinstance(body.get("model"), str) else None,
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
    )


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
    reasoning = message.get("reasoning_content") or message.get("reasoning")
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


def _tool_calls(message: Mapping[str, Any], at: str) -> tuple[ToolCall, ...]:
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        return _unknown("tool calls that are no list", f"{at}/tool_calls")
    read = [_tool_call(call, f"{at}/tool_calls/{i}") for i, call in enumerate(calls)]
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
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
    arguments = function.get("arguments")
    if arguments is None or arguments == "":
        return ToolCall(function["name"], {}, None)
    if isinstance(arguments, dict):
        return ToolCall(function["name"], arguments, None)
    if not isinstance(arguments, str):
        return _unknown("arguments that are neither text nor an object", f"{at}/function/arguments")
    try:
        parsed = strict_json.loads(arguments)
    except JsonError:
        parsed = None
    return (
        ToolCall(function["name"], parsed, None)
        if isinstance(parsed, dict)
        else ToolCall(function["name"], {}, arguments)
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63 else None


def _unknown(message: str, pointer: str) -> Any:
    raise UnreadableSnapshot(message, reader=READER, pointer=pointer)
