"""Operations of templates that can make much out of little, each with a look at its result's size beforehand.

This is a belt against mistakes and careless data. The authors of a suite also write its graders, so templates are not
taken for hostile code: what is bounded here is what a slip of the pen reaches.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jinja2 import Undefined, filters
from jinja2.exceptions import SecurityError

MAX_CHARACTERS = 10_000_000
_MAX_PARTS = 1_000_000
# A width of six digits, or one that stands in an argument.
_WIDE = re.compile(r"[0-9]{6}|%[^a-zA-Z%]*\*")


def refuse(size: int, what: str) -> None:
    """Refuse a result that would be larger than a prompt may be.

    Raises:
        SecurityError: as Jinja's sandbox does for what it forbids.
    """
    if size > MAX_CHARACTERS:
        raise SecurityError(f"{what} gives more than {MAX_CHARACTERS:,} characters")


def result(value: Any) -> Any:
    """Return a value unless it is a text or a list that is too large."""
    refuse(_size(value), "this")
    return value


def text(value: Any) -> str:
    """Return a value as text; a list whose parts are shared is refused before it is written out."""
    if isinstance(value, list | tuple | dict):
        _parts(value)
    elif not isinstance(value, str | int | float | None | Undefined):
        raise SecurityError(f"{type(value).__name__} is an object and no text: call it, or turn it into a list")
    return str(value)


def operation(operator: str, left: Any, right: Any) -> None:
    """Refuse an operation on two values whose result would be too large, and ``%`` on texts."""
    if operator == "%" and isinstance(left, str):
        raise SecurityError("% on text is not read: use the filter format")
    if operator == "+":
        refuse(_size(left) + _size(right), operator)
    elif operator == "*":
        times = next((n for n in (left, right) if type(n) is int), 1)
        refuse(max(_size(left), _size(right)) * times, operator)
    if type(left) is int and type(right) is int:
        digits = {"*": left.bit_length() + right.bit_length(), "**": left.bit_length() * abs(right)}
        refuse(digits.get(operator, 0), operator)


def method(called: Any, arguments: Iterable[Any]) -> None:
    """Refuse a call of a text's own method whose result would be too large."""
    bound = getattr(getattr(called, "__wrapped__", called), "__self__", None)
    if not isinstance(bound, str):
        return
    name, given = called.__name__, list(arguments)
    if name == "replace" and len(given) > 1:
        _refuse_replacement(bound, given[0], given[1])
    elif name == "join" and given and isinstance(given[0], list | tuple):
        refuse(sum(len(bound) + _size(item) for item in given[0]), name)
    elif name in ("format", "format_map"):
        _refuse_wide(bound)
    else:
        widths = [n for n in given if type(n) is int]
        refuse(max(widths, default=0) * (max(1, bound.count("\t")) if name == "expandtabs" else 1), name)


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | list | tuple) else 0


def _parts(value: Any) -> int:
    """Return how many parts a value has when it is written out; parts that are shared count each time."""
    waiting, seen = [value], 0
    while waiting:
        part = waiting.pop()
        seen += 1
        if seen > _MAX_PARTS:
            raise SecurityError(f"a value has more than {_MAX_PARTS:,} parts")
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple):
            waiting += part
    return seen


def _refuse_replacement(whole: str, old: Any, new: Any) -> None:
    found = whole.count(str(old)) if str(old) else len(whole) + 1
    refuse(len(whole) + found * len(str(new)), "replace")


def _refuse_wide(form: str) -> None:
    if _WIDE.search(form):
        raise SecurityError("format has a width of more than five digits")


def _to_json(value: Any, indent: int | None = None) -> str:
    # Jinja's own is made for HTML and writes < as \u003c, which no prompt wants.
    refuse(_parts(value) * (1 + (indent or 0)), "tojson")
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _center(value: Any, width: int = 80) -> str:
    refuse(width, "center")
    return text(value).center(width)


def _format(value: Any, *args: Any, **kwargs: Any) -> str:
    _refuse_wide(str(value))
    return str(value) % (kwargs or args)


def _indent(value: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    size = len(width) if isinstance(width, str) else width
    refuse(len(value) + size * (value.count("\n") + 1), "indent")
    return filters.do_indent(value, width, first, blank)


def _replace(value: Any, old: str, new: str, count: int = -1) -> str:
    whole = text(value)
    _refuse_replacement(whole, old, new)
    return whole.replace(old, new, count)


def _join(value: Iterable[Any], d: str = "", attribute: str | None = None) -> str:
    texts = [text(item[attribute] if attribute is not None else item) for item in value]
    refuse(sum(map(len, texts)) + len(d) * len(texts), "join")
    return d.join(texts)


def _batch(value: Iterable[Any], linecount: int, fill_with: Any = None) -> Iterator[list[Any]]:
    refuse(linecount, "batch")
    return filters.do_batch(value, linecount, fill_with)


def _slice(value: Iterable[Any], slices: int, fill_with: Any = None) -> Iterator[list[Any]]:
    refuse(slices, "slice")
    return filters.sync_do_slice(list(value), slices, fill_with)


FILTERS: dict[str, Callable[..., Any]] = {
    "batch": _batch,
    "center": _center,
    "format": _format,
    "indent": _indent,
    "join": _join,
    "replace": _replace,
    "slice": _slice,
    "string": text,
    "tojson": _to_json,
}
