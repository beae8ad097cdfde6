"""The chat completion that an event stream spells out, chunk by chunk. Part of the answer rule ``openai-chat/1``: nothing is dropped but
what hides the length of each chunk.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from snapshots import sse
from snapshots.events import PADDING, whole_text
from snapshots.members import mapping

_OF_CHUNKS = frozenset({"choices", "object", PADDING})


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
        parts = _choices(chunk)
        _replace(whole, {name: value for name, value in chunk.items() if name not in _OF_CHUNKS})
        for part in parts:
            _add(choices, part)
    if not choices:
        raise ValueError("a stream without a single choice")
    return whole_text({**whole, "object": "chat.completion", "choices": [_joined(choices[i]) for i in sorted(choices)]})


def has_rest(request: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
    """Tell whether what a stream tells after its choices is there: the usage and the moderation, where they were asked for."""
    asked = mapping(request.get("body"))
    is_counted = mapping(asked.get("stream_options")).get("include_usage") is True
    return not (is_counted and not body.get("usage")) and not (asked.get("moderation") and not body.get("moderation"))


def _choices(chunk: Any) -> list[Any]:
    """Return the choices of a chunk; null, which some servers send beside the usage, is none."""
    if isinstance(chunk, dict) and "choices" in chunk and not (chunk["choices"] is None and chunk.get("error")):
        choices = chunk["choices"]
        if isinstance(choices, list | None):
            return choices or []
    raise ValueError("an event is no chunk of a chat completion")


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
        elif isinstance(old, _Mixed) and isinstance(value, list):
            old += value
        elif isinstance(old, list) and isinstance(value, list):
            into[name] = _grown(old, value, name)
        elif name == "content" and isinstance(old, str | list) and isinstance(value, str | list):
            into[name] = _Mixed([*_as_parts(old), *_as_parts(value)])
        elif isinstance(old, str | dict | list) or isinstance(value, str | dict | list):
            raise ValueError(f"{name} is of one kind in one chunk and of another in the next")
        else:
            into[name] = value


class _Mixed(list[Any]):
    """Content that came as text in one chunk and as parts in another; its pieces are joined once all are there."""


def _as_parts(content: str | list[Any]) -> list[Any]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []


def _joined_parts(pieces: list[Any]) -> list[Any]:
    """Return the parts that pieces add up to: a piece of the same type as the one before goes on with its text or thinking."""
    parts: list[Any] = []
    for piece in pieces:
        last = parts[-1] if parts else None
        if not isinstance(piece, dict):
            raise ValueError("a part of content is no object")
        if last is None or last.get("type") != piece.get("type"):
            parts.append(dict(piece))
        elif isinstance(last.get("text"), str) and isinstance(piece.get("text"), str):
            last["text"] += piece["text"]
        elif isinstance(last.get("thinking"), list) and isinstance(piece.get("thinking"), list):
            last["thinking"] = [*last["thinking"], *piece["thinking"]]
        else:
            parts.append(dict(piece))
    for part in parts:
        if isinstance(part.get("thinking"), list):
            part["thinking"] = _joined_parts(part["thinking"])
    return parts


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
    content = choice["message"].get("content")
    if isinstance(content, _Mixed):
        choice["message"]["content"] = _joined_parts(content)
    calls = choice["message"].get("tool_calls")
    if calls is not None:
        if not isinstance(calls, list) or not all(_is_call(call) for call in calls):
            raise ValueError("tool calls are no list of objects")
        ordered = sorted(calls, key=lambda call: call["index"] if isinstance(call.get("index"), int) else 0)
        choice["message"]["tool_calls"] = [{n: v for n, v in call.items() if n != "index"} for call in ordered]
    return choice
