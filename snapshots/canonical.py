"""Canonical bytes: RFC 8785 (JCS) with one extension, integers are printed exactly whatever their size.

Where RFC 8785 is defined the bytes are the same. The text never depends on the version of a JSON library: orjson
writes strings and plain numbers, and the three places where its text could differ (integral floats, floats outside
[1e-5, 1e16), names beyond the basic plane) are decided here.
"""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import Any

import orjson

from snapshots import strict_json

_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1
_EXACT = 2.0**53


def encode(value: Any, *, wrapped: int = 0) -> bytes:
    """Return the canonical bytes of a JSON value.

    Args:
        value: the value.
        wrapped: how many containers of our own stand around what the depth limit is for.

    Raises:
        JsonError: the value holds what JSON cannot (see ``strict_json.check``), with its pointer.
    """
    try:
        # Most values need nothing decided; looking costs half of what making a sorted copy does.
        if _is_plain(value, -wrapped):
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # a name that is no text, or half a surrogate pair: the walk says where
        return _dumps(value, _sorted_members, wrapped)
    return _dumps(value, _sorted_members, wrapped)


def encode_ordered(value: Any) -> bytes:
    """Return the same text as ``encode`` but with the members in their given order.

    This is how requests go over the wire: numbers as the canonical form prints them, members as the author wrote them.
    """
    return _dumps(value, _given_members, 0)


def digest(value: Any, *, wrapped: int = 0) -> str:
    """Return the SHA-256 of the canonical bytes as 64 lower-case hex digits; ``wrapped`` as for ``encode``."""
    return hashlib.sha256(encode(value, wrapped=wrapped)).hexdigest()


def sort_key(name: str) -> bytes:
    """Return the sort key of a member name: its UTF-16 code units (RFC 8785 section 3.2.3)."""
    return name.encode("utf-16-be", "surrogatepass")


def in_sorted_order(names: list[str]) -> bool:
    """Tell whether member names stand in the order of the canonical form."""
    keys = [sort_key(n) for n in names]
    return all(a < b for a, b in pairwise(keys))


def _dumps(value: Any, members: Any, wrapped: int) -> bytes:
    # One walk for what is sound. What is not makes it or orjson stumble, and is then looked for with its pointer.
    try:
        return orjson.dumps(_walk(value, members, -wrapped))
    except (TypeError, ValueError):
        strict_json.check(value, wrapped=wrapped)
        raise


def _is_plain(value: Any, depth: int) -> bool:
    """Tell whether orjson writes a container canonically by itself: ASCII names, and no number that is decided here."""
    if depth >= strict_json.MAX_DEPTH:
        return False
    kind = type(value)
    if kind is dict:
        if not "".join(value).isascii():
            return False
        items = value.values()
    elif kind is list:
        items = value
    else:
        return False
    for item in items:
        kind = type(item)
        if kind is str or kind is bool or item is None:
            continue
        if kind is int:
            if not _INT_MIN <= item <= _INT_MAX:
                return False
        elif kind is float:
            if item.is_integer() or not 1e-5 <= abs(item) < 1e16:
                return False
        elif not _is_plain(item, depth + 1):
            return False
    return True


def _given_members(value: dict[str, Any]) -> list[str]:
    return list(value)


def _sorted_members(value: dict[str, Any]) -> list[str]:
    # For ASCII names the order by UTF-16 code unit is the order by code point, which is quicker to compute.
    return sorted(value) if all(map(str.isascii, value)) else sorted(value, key=sort_key)


def _walk(value: Any, members: Any, depth: int) -> Any:
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        return value if _INT_MIN <= value <= _INT_MAX else orjson.Fragment(str(value))
    if kind is float:
        return _float(value)
    if depth >= strict_json.MAX_DEPTH:
        raise ValueError("too deep")
    if kind is dict:
        return {name: _walk(value[name], members, depth + 1) for name in members(value)}
    if kind is list or kind is tuple:
        return [_walk(item, members, depth + 1) for item in value]
    raise TypeError(kind.__name__)


def _float(value: float) -> Any:
    """Return a float as ECMAScript's Number::toString prints it (ECMA-262 section 6.1.6.1.20)."""
    if value.is_integer() and abs(value) < 1e21:
        if abs(value) <= _EXACT:
            return int(value)
        return orjson.Fragment(_positional(value))
    if 1e-5 <= abs(value) < 1e16:
        return value
    mantissa, _, exponent = repr(value).partition("e")
    power = int(exponent)
    sign, digits = ("-" if value < 0 else ""), mantissa.lstrip("-").replace(".", "")
    if power in (-6, -5):
        return orjson.Fragment(
            f"{sign}0.{'0' * (-power - 1)}{digits.removesuffix('0') if mantissa.endswith('.0') else digits}"
        )
    return orjson.Fragment(f"{mantissa.removesuffix('.0')}e{'+' if power > 0 else '-'}{abs(power)}")


def _positional(value: float) -> str:
    """Return the digits of an integral float between 2^53 and 1e21: shortest digits, then zeros."""
    mantissa, _, exponent = repr(abs(value)).partition("e+")
    whole, _, fraction = mantissa.partition(".")
    if not exponent:
        digits = whole
    else:
        shown = whole + ("" if fraction == "0" else fraction)
        digits = shown + "0" * (int(exponent) + 1 - len(shown))
    return f"-{digits}" if value < 0 else digits
