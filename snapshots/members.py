"""Members of requests and bodies as recognisers and readers take them: of a known type, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from snapshots import strict_json
from snapshots.errors import JsonError, UnreadableSnapshot
from snapshots.reading import ToolCall


def path_of(request: Mapping[str, Any]) -> str:
    """Return a request's URL without its query, or nothing where it has none."""
    return str(request.get("url", "")).split("?", 1)[0]


def count(value: Any) -> int | None:
    """Return a number of tokens, or ``None`` for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63 else None


def total(first: Any, *more: Any) -> int | None:
    """Return a number of tokens and those that are counted beside it, or ``None`` where the first is none."""
    start = count(first)
    return None if start is None else count(start + sum(count(value) or 0 for value in more))


def text(value: Any) -> str:
    """Return a text, or nothing for anything else."""
    return value if isinstance(value, str) else ""


def word(value: Any) -> str | None:
    """Return a text that is not empty, or ``None`` for anything else."""
    return value if isinstance(value, str) and value else None


def wanted(request: Mapping[str, Any], *names: str) -> int:
    """Return how many answers a request asks for by a member of its body, one where it does not say.

    Args:
        request: the request document.
        names: the member's name, after those of the objects that it stands in.
    """
    value: Any = request.get("body")
    for name in names:
        value = mapping(value).get(name)
    return count(value) or 1


def mapping(value: Any) -> Mapping[str, Any]:
    """Return an object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def is_list_of_objects(value: Any) -> bool:
    """Tell whether a value is a list with nothing but objects in it."""
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def tool_call(name: str, arguments: Any) -> ToolCall | None:
    """Return a tool call; arguments that do not parse to an object stay text. ``None`` where they are neither text nor object."""
    if arguments is None or arguments == "":
        return ToolCall(name, {}, None)
    if isinstance(arguments, dict):
        return ToolCall(name, arguments, None)
    if not isinstance(arguments, str):
        return None
    try:
        parsed = strict_json.loads(arguments)
    except JsonError:
        parsed = None
    return ToolCall(name, parsed, None) if isinstance(parsed, dict) else ToolCall(name, {}, arguments)


def unknown(reader: str, message: str, pointer: str) -> NoReturn:
    """Refuse a body that a reader does not understand.

    Raises:
        UnreadableSnapshot: always.
    """
    raise UnreadableSnapshot(message, reader=reader, pointer=pointer)
