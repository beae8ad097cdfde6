"""JSON pointers (RFC 6901): written for people, read for rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def escape(name: str) -> str:
    """Return one reference token of a JSON pointer (RFC 6901 section 3)."""
    return name.replace("~", "~0").replace("/", "~1")


def unescape(token: str) -> str:
    """Return the member name that a reference token stands for."""
    return token.replace("~1", "/").replace("~0", "~")


def differing(old: Any, new: Any, at: str = "") -> Iterator[str]:
    """Yield the pointers of the smallest parts in which two JSON values differ.

    Objects are compared member by member, arrays of equal length item by item; arrays of other lengths differ
    item by item as far as they go and then at each item that only one side has. ``1`` and ``1.0`` are equal, ``True`` and ``1`` are not.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(n for n in new if n not in old)]:
            here = f"{at}/{escape(name)}"
            if name in old and name in new:
                yield from differing(old[name], new[name], here)
            else:
                yield here
    elif isinstance(old, list) and isinstance(new, list):
        for i in range(max(len(old), len(new))):
            if i < len(old) and i < len(new):
                yield from differing(old[i], new[i], f"{at}/{i}")
            else:
                yield f"{at}/{i}"
    elif isinstance(old, bool) != isinstance(new, bool) or old != new:
        yield at


def look_up(value: Any, pointer: str) -> tuple[bool, Any]:
    """Return ``(True, part)`` for the part that ``pointer`` names, or ``(False, None)`` where there is none."""
    if not pointer:
        return True, value
    for token in pointer[1:].split("/"):
        name = unescape(token)
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return False, None
    return True, value
