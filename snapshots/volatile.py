"""Members in which two identical answers differ, named by JSON pointers and taken out before an answer is hashed.

Part of published answer rules: what this returns for a value and its pointers never changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from snapshots.errors import JsonError
from snapshots.pointer import unescape

_ANY = "*"
_Path = tuple[str, ...]


def without(value: Any, pointers: Iterable[str]) -> Any:
    """Return a value without the parts that pointers name; a pointer that names nothing takes out nothing.

    Args:
        value: a JSON value, which is not changed.
        pointers: JSON pointers below the top; a token ``*`` stands for any member and any item.

    Raises:
        JsonError: one is no such pointer.
    """
    return _pruned(value, [_path(pointer) for pointer in pointers])


def without_nulls(body: Any, items: str) -> Any:
    """Return a body without the members that are null, of its own and of the objects in one of its lists.

    Servers add members over the years, null for whoever does not use them; an answer that came before is no other one. Deeper down
    null may be what a model chose to say.
    """
    if not isinstance(body, dict):
        return body
    kept = _not_null(body)
    listed = kept.get(items)
    return {**kept, items: [_not_null(item) for item in listed]} if isinstance(listed, list) else kept


def _not_null(value: Any) -> Any:
    return {name: item for name, item in value.items() if item is not None} if isinstance(value, dict) else value


def _path(pointer: Any) -> _Path:
    if not isinstance(pointer, str) or not pointer.startswith("/"):
        raise JsonError(f"{pointer!r} is no JSON pointer to a part of an answer", hint="write /name or /list/*/name")
    return tuple(map(unescape, pointer[1:].split("/")))


def _pruned(value: Any, paths: list[_Path]) -> Any:
    if not paths:
        return value
    if isinstance(value, dict):
        below = ((name, item, _below(name, paths)) for name, item in value.items())
        return {name: _pruned(item, rest) for name, item, rest in below if () not in rest}
    if isinstance(value, list):
        items = ((item, _below(str(i), paths)) for i, item in enumerate(value))
        return [_pruned(item, rest) for item, rest in items if () not in rest]
    return value


def _below(token: str, paths: list[_Path]) -> list[_Path]:
    return [path[1:] for path in paths if path[0] in (token, _ANY)]
