"""Strict JSON reading: no value changes on its way in, and what is refused is named by pointer.

Refused: NaN and infinities, numbers beyond the double range, lone surrogates, duplicate members, a byte order mark,
trailing text, bytes that are not UTF-8, more than 200 nested containers. Integers of any size are read exactly.
"""

from __future__ import annotations

import json
import math
import re
import sys
from typing import Any, NoReturn

import orjson

from snapshots.errors import JsonError
from snapshots.pointer import escape

MAX_DEPTH = 200
MAX_DIGITS = 4000  # Python itself refuses to read integers of more than 4,300 digits
_MAX_BITS = (10**MAX_DIGITS).bit_length()
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Bad:
    """Stands for a refused token until the walk finds its place."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class _Duplicate(_Bad):
    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__(f"duplicate member {json.dumps(name)[:80]}")
        self.name = name


def _pairs(pairs: list[tuple[str, Any]]) -> Any:
    # Interned, for a suite of many cases spells the same few names again and again.
    members = {sys.intern(name): value for name, value in pairs}
    if len(members) == len(pairs):
        return members
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            return _Duplicate(name)
        seen.add(name)
    return members


def _float(token: str) -> Any:
    value = float(token)
    return value if math.isfinite(value) else _Bad(f"number {token[:40]} is beyond the double range")


def _int(token: str) -> Any:
    return int(token) if len(token) <= MAX_DIGITS else _Bad(f"integer of {len(token)} digits (at most {MAX_DIGITS})")


_decoder = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_float=_float,
    parse_int=_int,
    parse_constant=lambda token: _Bad(f"{token} is not JSON"),
)


def loads(data: bytes | str, *, wrapped: int = 0) -> Any:
    """Read one JSON text strictly and losslessly.

    Args:
        data: the text, or its UTF-8 bytes.
        wrapped: how many containers of our own stand around what somebody else's depth limit is for.

    Returns:
        The value; integers keep all their digits.

    Raises:
        JsonError: the text is refused; ``pointer`` names the offender where it has a place in a value.
    """
    text = _decode(data)
    try:
        value = _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise JsonError(f"not JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise JsonError(f"more than {MAX_DEPTH} nested containers") from None
    check(value, wrapped=wrapped)
    return value


def loosely(text: str) -> Any:
    """Return the value of a text that is JSON to lenient readers (NaN, a member given twice), or ``None`` where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_DIGITS_TO_ZERO = bytes.maketrans(b"0123456789", b"0" * 10)
_BEYOND_64_BITS = b"0" * 19


def may_exceed_64_bits(data: bytes) -> bool:
    """Tell whether a JSON text could hold an integer beyond 64 bits: it has a run of 19 digits."""
    return _BEYOND_64_BITS in data.translate(_DIGITS_TO_ZERO)


def loads_own(data: bytes) -> Any:
    """Read JSON that this package wrote: quickly, and strictly only where a number may not fit into 64 bits.

    orjson reads an integer beyond 64 bits as a float; a run of 19 digits shows where that could happen.

    Raises:
        JsonError: it is no JSON.
    """
    if may_exceed_64_bits(data):
        return loads(data)
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise JsonError(f"not JSON: {error}") from None


def _decode(data: bytes | str) -> str:
    if isinstance(data, bytes):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise JsonError(f"not UTF-8: byte {error.start} is 0x{data[error.start]:02x}") from None
    else:
        text = data
    if text.startswith("\ufeff"):
        raise JsonError("a byte order mark stands before the text", hint="save the file as UTF-8 without a BOM")
    return text


def check(value: Any, *, wrapped: int = 0) -> None:
    """Refuse a value that no JSON text under these rules can hold; ``wrapped`` as for ``loads``.

    Raises:
        JsonError: with the pointer of the first offender in document order.
    """
    if not _is_sound(value, -wrapped):
        _refuse_first(value, "", -wrapped)


def is_too_deep(value: Any) -> bool:
    """Tell whether a value that a lenient reader made has more nested containers than the rule allows."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for one in level
            for item in (one.values() if isinstance(one, dict) else one)
            if isinstance(item, dict | list)
        ]
        if not level:
            return False
    return True


def _is_sound(value: Any, depth: int) -> bool:
    """Tell whether nothing is to be refused; pointers are spelled only where something is, for they cost most of the time."""
    kind = type(value)
    if kind is str:
        return value.isascii() or _SURROGATE.search(value) is None
    if kind is dict:
        if depth >= MAX_DEPTH:
            return False
        for name, item in value.items():
            if type(name) is not str or not (name.isascii() or _SURROGATE.search(name) is None):
                return False
            if not _is_sound(item, depth + 1):
                return False
        return True
    if kind is list or kind is tuple:
        if depth >= MAX_DEPTH:
            return False
        for item in value:  # noqa: SIM110 - a generator would cost as much again
            if not _is_sound(item, depth + 1):
                return False
        return True
    if kind is float:
        return math.isfinite(value)
    if kind is int:
        return value.bit_length() <= _MAX_BITS
    return kind is bool or value is None


def _refuse_first(value: Any, at: str, depth: int) -> None:
    kind = type(value)
    if kind is str:
        _check_text(value, at)
    elif kind is dict:
        if depth >= MAX_DEPTH:
            _refuse(f"more than {MAX_DEPTH} nested containers", "/" + at[1:].split("/", 1)[0] if at else "")
        for name, item in value.items():
            if type(name) is not str:
                _refuse(f"member name of type {type(name).__name__}", at)
            here = f"{at}/{escape(name)}"
            _check_text(name, here)
            _refuse_first(item, here, depth + 1)
    elif kind is list or kind is tuple:
        if depth >= MAX_DEPTH:
            _refuse(f"more than {MAX_DEPTH} nested containers", "/" + at[1:].split("/", 1)[0] if at else "")
        for i, item in enumerate(value):
            _refuse_first(item, f"{at}/{i}", depth + 1)
    else:
        _refuse_scalar(value, at)


def _refuse_scalar(value: Any, at: str) -> None:
    kind = type(value)
    if kind is float:
        if not math.isfinite(value):
            _refuse(f"{value} is not a JSON number", at)
    elif kind is int:
        if value.bit_length() > _MAX_BITS:
            _refuse(f"integer of more than {MAX_DIGITS} digits", at)
    elif isinstance(value, _Bad):
        where = f"{at}/{escape(value.name)}" if isinstance(value, _Duplicate) else at
        _refuse(value.reason, where)
    elif kind is not bool and value is not None:
        _refuse(f"type {kind.__name__} has no JSON form", at)


def _check_text(text: str, at: str) -> None:
    if not text.isascii() and _SURROGATE.search(text):
        _refuse("lone surrogate in text", at.encode("utf-8", "replace").decode())


def _refuse(reason: str, at: str) -> NoReturn:
    raise JsonError(reason, pointer=at)
