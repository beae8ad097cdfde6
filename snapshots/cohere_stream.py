"""The answer that a stream of Cohere's chat adds up to, in either version. Part of the answer rule ``cohere/1``: nothing is dropped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from snapshots import sse
from snapshots.events import events, whole_text


def assemble(text: str) -> dict[str, Any]:
    """Return the answer that a stream spells out: version 1 as JSON lines or events, version 2 as events.

    Raises:
        ValueError: an event is no JSON object, or makes no sense.
    """
    told = list(events(text) if sse.looks_like_stream(text) else _lines(text))
    return whole_text(_old(told) if any("event_type" in event for event in told) else _new(told))


def _lines(text: str) -> Iterator[dict[str, Any]]:
    for line in text.split("\n"):
        if line.strip(" \t\r"):
            try:
                event = json.loads(line)
            except RecursionError:
                raise ValueError("an event nests too deeply") from None
            if not isinstance(event, dict):
                raise ValueError("an event is no object")
            yield event


def _old(told: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the last event of version 1 holds whole; without one, the text as far as it came and no finish reason."""
    whole: dict[str, Any] = {"text": "", "generation_id": told[0].get("generation_id")}
    for event in told:
        kind = event.get("event_type")
        if kind == "text-generation" and isinstance(event.get("text"), str):
            whole["text"] += event["text"]
        elif kind == "stream-end":
            response = event.get("response")
            reason = {"finish_reason": event["finish_reason"]} if "finish_reason" in event else {}
            error = {"error": event["error"]} if event.get("error") else {}
            whole = {**(response if isinstance(response, dict) else whole), **reason, **error}
    return whole


def _new(told: list[dict[str, Any]]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    message: dict[str, Any] = {}
    lists: dict[str, dict[int, Any]] = {"content": {}, "tool_calls": {}, "citations": {}}
    for event in told:
        kind = event.get("type")
        delta = event.get("delta")
        members = delta if isinstance(delta, dict) else {}
        if kind == "message-start":
            message = {name: value for name, value in _message(members).items() if value not in ("", [])}
            whole.update({"id": event.get("id")})
        elif kind == "message-end":
            whole.update(members)
        elif kind == "error" or "error" in event:
            whole["error"] = event.get("error", event)
        else:
            _grow(message, lists, event.get("index"), _message(members))
    if not message:
        raise ValueError("a stream without a message")
    grown = {name: [items[i] for i in sorted(items)] for name, items in lists.items() if items}
    return {**whole, "message": {**message, **grown}}


def _message(delta: dict[str, Any]) -> dict[str, Any]:
    message = delta.get("message")
    return message if isinstance(message, dict) else {}


def _grow(message: dict[str, Any], lists: dict[str, dict[int, Any]], index: Any, told: dict[str, Any]) -> None:
    for name, value in told.items():
        if name in lists:
            if not isinstance(index, int) or not isinstance(value, dict):
                raise ValueError("a part of a message without its index")
            _merge(lists[name].setdefault(index, {}), value)
        else:
            _merge(message, {name: value})


def _merge(into: dict[str, Any], piece: dict[str, Any]) -> None:
    """Add a delta: texts grow but for names, objects merge, anything else is replaced."""
    for name, value in piece.items():
        old = into.get(name)
        if isinstance(old, str) and isinstance(value, str) and name not in ("id", "type", "name", "role"):
            into[name] = old + value
        elif isinstance(old, dict) and isinstance(value, dict):
            _merge(old, value)
        else:
            into[name] = dict(value) if isinstance(value, dict) else value
