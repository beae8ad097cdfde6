"""Binary event streams of AWS (``application/vnd.amazon.eventstream``): frames with checksums, and the JSON events in them.

A frame is: total length, length of its headers, CRC-32 of those eight bytes, headers, payload, CRC-32 of all before; numbers are big
endian. The format is public: smithy.io, "Amazon Event Stream Specification". Part of published answer rules.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_PRELUDE = 12
_CHECKSUM = 4
_MAX_FRAME = 24 << 20
_TEXT = 7
_COUNTED = frozenset({6, _TEXT})
# Bytes of the values of headers that have a fixed length, by their type: truth, numbers, a time, a UUID.
_FIXED = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: its headers that are text, and its payload."""

    headers: Mapping[str, str]
    payload: bytes


def begins(data: bytes) -> bool:
    """Tell whether some bytes begin as a frame does: with lengths that match their checksum."""
    return len(data) >= _PRELUDE and zlib.crc32(data[:8]) == int.from_bytes(data[8:_PRELUDE], "big")


def frames(data: bytes) -> Iterator[Frame]:
    """Yield the frames of a stream.

    Raises:
        ValueError: a frame is cut off, or a checksum does not match.
    """
    at = 0
    while at < len(data):
        if len(data) - at < _PRELUDE + _CHECKSUM:
            raise ValueError("a frame is cut off")
        total = int.from_bytes(data[at : at + 4], "big")
        size = int.from_bytes(data[at + 4 : at + 8], "big")
        if not begins(data[at : at + _PRELUDE]):
            raise ValueError("the lengths of a frame do not match their checksum")
        if total > _MAX_FRAME or total < _PRELUDE + size + _CHECKSUM or at + total > len(data):
            raise ValueError("a frame is cut off")
        end = at + total - _CHECKSUM
        if zlib.crc32(data[at:end]) != int.from_bytes(data[end : end + _CHECKSUM], "big"):
            raise ValueError("a frame does not match its checksum")
        start = at + _PRELUDE + size
        yield Frame(_headers(data[at + _PRELUDE : start]), data[start:end])
        at += total


def _headers(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while at < len(data):
        name = data[at + 1 : at + 1 + data[at]]
        at += 1 + data[at]
        if at >= len(data):
            raise ValueError("the headers of a frame are cut off")
        kind = data[at]
        at += 1
        size = _FIXED.get(kind)
        if kind in _COUNTED:
            size = int.from_bytes(data[at : at + 2], "big")
            at += 2
        if size is None or at + size > len(data):
            raise ValueError("a header of a frame makes no sense")
        if kind == _TEXT:
            found[name.decode("utf-8", "replace")] = data[at : at + size].decode("utf-8", "replace")
        at += size
    return found


def stream_of(response: Mapping[str, Any]) -> bytes | None:
    """Return the bytes of a response that may be such a stream, or ``None`` where it is none."""
    text = response.get("base64")
    if not isinstance(text, str):
        return None
    try:
        data = base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return None
    # The smallest frame: no headers, no payload.
    return data if len(data) >= _PRELUDE + _CHECKSUM else None


def events(data: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the events of a stream, each with its name; what a model's own event is wrapped in is taken off (named ``chunk``).

    An exception among them is named ``error``.

    Raises:
        ValueError: a frame makes no sense, or a payload is no JSON object.
    """
    for frame in frames(data):
        kind = frame.headers.get(":message-type")
        if kind != "event":
            code = frame.headers.get(":exception-type") or frame.headers.get(":error-code") or kind or "unknown"
            yield "error", {"type": code, "message": frame.payload.decode("utf-8", "replace")}
            continue
        name, payload = frame.headers.get(":event-type", ""), _object(frame.payload)
        wrapped = payload.get("bytes")
        if name == "chunk" and isinstance(wrapped, str):
            payload = _object(base64.b64decode(wrapped, validate=True))
        yield name, payload


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except RecursionError:
        raise ValueError("an event nests too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("an event is no object")
    return value
