"""The answer that a stream of Bedrock's converse events adds up to. Part of the answer rule ``bedrock-converse/1``: nothing is dropped
but the padding ``p`` of each event.
"""

from __future__ import annotations

from typing import Any

from snapshots import aws_events, strict_json
from snapshots.errors import JsonError
from snapshots.events import whole_text

Block = dict[str, Any]

_NAMES = frozenset(
    {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}
)


def assemble(data: bytes) -> dict[str, Any]:
    """Return the answer as a whole body spells it; an error stands in it as ``error``.

    Models that speak the same events are also asked by ``invoke``: there each event is one member of a chunk.

    Raises:
        ValueError: a frame is damaged or cut off, or its event makes no sense.
    """
    whole: dict[str, Any] = {}
    message: dict[str, Any] = {}
    blocks: dict[int, Block] = {}
    for name, payload in aws_events.events(data):
        for kind, event in ((name, payload),) if name != "chunk" else _unwrapped(payload):
            members = {key: value for key, value in event.items() if key != "p"}
            if kind == "error":
                whole["error"] = members
            elif kind == "messageStart":
                message.update(members)
            elif kind in ("contentBlockStart", "contentBlockDelta"):
                _grow(blocks, members)
            elif kind in ("messageStop", "metadata"):
                whole.update(members)
    if not message:
        raise ValueError("a stream without a message")
    content = [_closed(blocks[i]) for i in sorted(blocks)]
    return whole_text({"output": {"message": {**message, "content": content}}, **whole})


def _unwrapped(chunk: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(name, event) for name, event in chunk.items() if name in _NAMES and isinstance(event, dict)]


def _grow(blocks: dict[int, Block], event: dict[str, Any]) -> None:
    index = event.get("contentBlockIndex", 0)
    piece = event.get("start", event.get("delta"))
    if not isinstance(index, int) or not isinstance(piece, dict):
        raise ValueError("an event of a block without its index or its delta")
    _merge(blocks.setdefault(index, {}), piece)


def _merge(into: Block, piece: Block) -> None:
    """Add a delta: texts grow but for names, objects merge, a citation is listed, anything else is replaced."""
    for name, value in piece.items():
        old = into.get(name)
        if name == "citation":
            into.setdefault("citations", []).append(value)
        elif isinstance(old, str) and isinstance(value, str) and name not in ("name", "toolUseId", "type"):
            into[name] = old + value
        elif isinstance(old, dict) and isinstance(value, dict):
            _merge(old, value)
        else:
            into[name] = dict(value) if isinstance(value, dict) else value


def _closed(block: Block) -> Block:
    """Return a block as a whole body spells it: arguments parsed, reasoning and citations in the objects that hold them."""
    closed = dict(block)
    use = closed.get("toolUse")
    if isinstance(use, dict):
        closed["toolUse"] = {**use, "input": _parsed(use.get("input"))}
    thought = closed.get("reasoningContent")
    if isinstance(thought, dict) and isinstance(thought.get("text", thought.get("signature")), str):
        told = {name: thought[name] for name in ("text", "signature") if name in thought}
        rest = {name: value for name, value in thought.items() if name not in told}
        closed["reasoningContent"] = {"reasoningText": told, **rest}
    if "citations" in closed:
        said = [{"text": closed.pop("text")}] if "text" in closed else []
        closed["citationsContent"] = {"content": said, "citations": closed.pop("citations")}
    return closed


def _parsed(text: Any) -> Any:
    """Return the arguments that a text spells; one that spells no object stays the text that it is, and none is an empty object."""
    if not isinstance(text, str):
        return {} if text is None else text
    try:
        value = strict_json.loads(text) if text else {}
    except JsonError:
        return text
    return value if isinstance(value, dict) else text
