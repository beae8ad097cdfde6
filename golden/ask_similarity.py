"""The built-in similarity: the two embeddings that it needs, and how a vector is read from the recorded answer."""

from __future__ import annotations

import base64
import binascii
import math
import struct
from collections.abc import Mapping
from typing import Any

from golden.asking_check import sendable

ANSWER = ""
WANTED = "/to"


def subject(argument: Mapping[str, Any]) -> Any:
    """Return the text that answers are compared with."""
    return argument["to"]


def requests(argument: Mapping[str, Any], kind: str | None, envelope: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request for the vector of the answer and one for that of the wanted text; no text has no vector."""
    del kind  # only embeddings are asked for
    if not envelope["text"]:
        return {}
    return {ANSWER: {"input": sendable(envelope["text"])}, WANTED: {"input": argument["to"]}}


def is_usable(envelope: Mapping[str, Any]) -> bool:
    """Tell whether an answer holds exactly one vector."""
    return vector(envelope) is not None


def vector(envelope: Mapping[str, Any]) -> list[float] | None:
    """Return the one vector of an answer, or ``None``: a list of numbers, or base64 of 32-bit floats, little-endian."""
    raw = envelope["raw"]
    data = raw.get("data") if isinstance(raw, dict) else None
    if not isinstance(data, list) or len(data) != 1 or not isinstance(data[0], dict):
        return None
    found: Any = data[0].get("embedding")
    numbers = _decoded(found) if isinstance(found, str) else found
    if not isinstance(numbers, list) or not numbers or not all(map(_is_number, numbers)):
        return None
    try:
        return [float(n) for n in numbers]
    except OverflowError:
        return None


def _decoded(text: str) -> list[float] | None:
    try:
        data = base64.b64decode(text, validate=True)
        return list(struct.unpack(f"<{len(data) // 4}f", data))
    except (binascii.Error, struct.error, ValueError):
        return None


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and (isinstance(value, int) or math.isfinite(value))
    )


def cosine(one: list[float], other: list[float]) -> float:
    """Return the cosine of two vectors.

    Raises:
        ValueError: they have other lengths, or one is zero and points nowhere.
    """
    if len(one) != len(other):
        raise ValueError(f"the vectors have {len(one)} and {len(other)} numbers")
    first, second = _scaled(one), _scaled(other)
    product = math.fsum(a * b for a, b in zip(first, second, strict=True))
    return product / math.sqrt(math.fsum(a * a for a in first)) / math.sqrt(math.fsum(b * b for b in second))


def _scaled(numbers: list[float]) -> list[float]:
    """Return a vector of the same direction whose largest number is 1: squares of very large and very small ones do not fit."""
    largest = max(map(abs, numbers))
    if largest == 0:
        raise ValueError("one of the vectors is zero")
    return [n / largest for n in numbers]
