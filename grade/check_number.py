"""Checks of a number: read out of the text, or at a place of the JSON that the text is, and compared as exact decimals.

Read as one number: ``1,234.5``, ``-3`` (also with U+2212), ``.5``, ``6.02e23``; commas part groups of three digits. Digits that belong to a
word (``x2``) are none. What people write otherwise (``1.234,5``) is several numbers, and several are never silently one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Context, Decimal
from typing import Any

from golden import json_path
from grade.violation import Violation, brief
from snapshots import strict_json
from snapshots.envelope import Envelope
from snapshots.errors import JsonError

_NUMBER = (
    r"(?:(?<![\w)])[-+\u2212])?(?<!\w)"
    r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]++)?|[0-9]++(?:\.[0-9]++)?|\.[0-9]++)"
    r"(?:[eE][-+]?[0-9]++)?(?!_)"
)
# No trap: what is too large for a decimal is infinite, and outside every limit.
_EXACT = Context(prec=60, traps=[])
_MOST = 20


def number(envelope: Envelope, argument: Any) -> Violation:
    """``number_differs``: there is no such number, or it is another one, or it is not known which of several is meant."""
    options: Mapping[str, Any] = argument if isinstance(argument, Mapping) else {"value": argument}
    found = _numbers(envelope["text"]) if "path" not in options else _at(envelope["text"], options["path"])
    if isinstance(found, dict):
        return found
    which = options.get("which", "only")
    if not found or (which == "only" and len(found) > 1):
        return {"numbers": [text[:60] for text in found[:_MOST]]}
    text = found[-1] if which == "last" else found[0]
    return None if _is_within(_decimal(text), options) else {"number": text[:60]}


def _at(text: str, path: str) -> list[str] | Violation:
    """Return the numbers at a place of the JSON that a text is, or what is wrong with it."""
    try:
        value = strict_json.loads(text)
    except JsonError as error:
        return {"reason": error.message[:200]}
    found, part = json_path.find(value, path)
    if not found:
        return {"path": path, "exists": False}
    if isinstance(part, str):
        return _numbers(part)
    is_number = isinstance(part, int | float) and not isinstance(part, bool)
    return [repr(part)] if is_number else {"path": path, "found": brief(part)}


def _numbers(text: str) -> list[str]:
    return [found[0] for found in re.finditer(_NUMBER, text)]


def _decimal(text: str) -> Decimal:
    return _EXACT.create_decimal(text.replace(",", "").replace("\u2212", "-"))


def _is_within(found: Decimal, options: Mapping[str, Any]) -> bool:
    tolerance = _given(options.get("tolerance", 0))
    if "value" in options:
        return abs(_EXACT.subtract(found, _given(options["value"]))) <= tolerance
    above = "min" not in options or found >= _EXACT.subtract(_given(options["min"]), tolerance)
    return above and ("max" not in options or found <= _EXACT.add(_given(options["max"]), tolerance))


def _given(value: float) -> Decimal:
    # The shortest text of a float is what its author wrote: 0.1 is a tenth.
    return Decimal(repr(value))
