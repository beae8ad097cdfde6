"""The message that an event stream of Anthropic's API spells out. Part of the answer rule ``anthropic/1``: nothing is dropped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snapshots import strict_json
from snapshots.errors import JsonError
from snapshots.events import events

Blocks = dict[int, dict[str, Any]]


def assemble(text: str) -> dict[str, Any]:
    """Return the message that an event stream spells out; an error event stands in it as ``error``.

    Arguments of a tool that do not parse stay the text that they are.

    Raises:
        ValueError: the events make no sense: no object, no start of a message, a delta of a block that never began.
    """
    message: dict[str, Any] | None = None
    blocks: Blocks = {}
    arguments: dict[int, str] = {}
    for event in events(text):
        kind = event.get("type")
        if kind == "message_start":
            message = dict(_object(event, "message"))
        elif message is None:
            raise ValueError("a stream that does not begin with a message")
        elif kind == "content_block_start":
            blocks[_index(event)] = dict(_object(event, "content_block"))
        elif kind == "content_block_delta":
            _grow(blocks, arguments, _index(event), _object(event, "delta"))
        elif kind == "message_delta":
            _change(message, event)
        elif kind == "error":
            message["error"] = event.get("error")
    if message is None:
        raise ValueError("a stream without a message")
    for index, joined in arguments.items():
        blocks[index]["input"] = _parsed(joined, blocks[index].get("input"))
    begun = message.get("content")
    return {**message, "content": [*(begun if isinstance(begun, list) else []), *(blocks[i] for i in sorted(blocks))]}


def is_ended(text: str) -> bool:
    """Tell whether a stream came to its last event."""
    return any(event.get("type") == "message_stop" for event in events(text))


def _object(event: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = event.get(name)
    if not isinstance(value, dict):
        raise ValueError(f"an event without its {name}")
    return value


def _index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    if not isinstance(index, int):
        raise ValueError("an event of a block without its index")
    return index


def _grow(blocks: Blocks, arguments: dict[int, str], index: int, delta: Mapping[str, Any]) -> None:
    """Add a delta to its block: texts grow, citations are listed, arguments are collected until they are whole."""
    block = blocks.get(index)
    if block is None:
        raise ValueError("a delta of a block that never began")
    for name, value in delta.items():
        if name == "type":
            continue
        if name == "partial_json" and isinstance(value, str):
            arguments[index] = arguments.get(index, "") + value
        elif name == "citation":
            listed = block.get("citations")
            block["citations"] = [*(listed if isinstance(listed, list) else []), value]
        elif isinstance(value, str) and isinstance(block.get(name), str):
            block[name] += value
        else:
            block[name] = value


def _parsed(text: str, begun: Any) -> Any:
    """Return the input that a text spells, or the text; an empty text says nothing beyond what the block began with."""
    if not text:
        return begun
    try:
        value = strict_json.loads(text)
    except JsonError:
        return text
    return value if isinstance(value, dict) else text


def _change(message: dict[str, Any], event: Mapping[str, Any]) -> None:
    message.update(_object(event, "delta"))
    usage, old = event.get("usage"), message.get("usage")
    if isinstance(usage, dict):
        told = {name: value for name, value in usage.items() if value is not None}
        message["usage"] = {**(old if isinstance(old, dict) else {}), **told}
    message.update((n, v) for n, v in event.items() if n not in ("type", "delta", "usage"))
