"""What changed between two request documents: pointers, and the part of the request that each belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from snapshots.pointer import differing, unescape

_PARTS = {
    "prompt": ("messages", "system", "input", "instructions", "contents", "systemInstruction", "prompt"),
    "tools": ("tools", "tool_choice", "functions", "function_call", "toolConfig"),
    "model": ("model",),
}
_BODY = {member: part for part, members in _PARTS.items() for member in members}
_TOP = {
    "stdin": "prompt",
    "body_text": "prompt",
    "salt": "salt",
    "transport": "endpoint",
    "method": "endpoint",
    "url": "endpoint",
    "headers": "endpoint",
    "command": "endpoint",
    "env": "endpoint",
}
# The segment of a path that is a model: /models/NAME:method.
_MODEL = re.compile(r"(?<=/models/)(?:\$\{env:\w+\}|[^/?#:])+(?=:[A-Za-z]+(?:[?#]|$))")


def request_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return ``{"pointer", "part"}`` for each part in which two request documents differ.

    A change of ``order`` is shown at the pointer that it names: the properties themselves.
    """
    pointers: dict[str, None] = {}
    for pointer in differing(dict(old), dict(new)):
        if pointer == "/order":
            named = {**old.get("order", {}), **new.get("order", {})}
            pointers.update(dict.fromkeys(named))
        elif pointer.startswith("/order/"):
            pointers[unescape(pointer.split("/")[2])] = None
        else:
            pointers[pointer] = None
    parts = {pointer: part_of(pointer) for pointer in pointers}
    if "/url" in parts and _differ_in_model(old.get("url"), new.get("url")):
        parts["/url"] = "model"
    return [{"pointer": pointer, "part": part} for pointer, part in parts.items()]


def _differ_in_model(old: Any, new: Any) -> bool:
    """Tell whether two URLs differ in nothing but the model that their path names."""
    if not isinstance(old, str) or not isinstance(new, str):
        return False
    return _MODEL.subn("", old, count=1) == _MODEL.subn("", new, count=1)


def part_of(pointer: str) -> str:
    """Return the part of a request that a pointer belongs to: prompt, tools, model, salt, endpoint or params."""
    tokens = pointer.split("/")[1:]
    if not tokens:
        return "endpoint"
    if tokens[0] == "body" and len(tokens) > 1:
        return _BODY.get(unescape(tokens[1]), "params")
    return _TOP.get(tokens[0], "params")
