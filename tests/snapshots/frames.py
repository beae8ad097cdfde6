"""Event streams of AWS, written by the public format: lengths, CRC-32 of them, headers, payload, CRC-32 of all."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from typing import Any


def frame(payload: bytes, **headers: str) -> bytes:
    """Return one frame; ``event_type`` stands for ``:event-type``."""
    told = b""
    for name, value in headers.items():
        key = f":{name.replace('_', '-')}".encode()
        told += bytes([len(key)]) + key + b"\x07" + struct.pack(">H", len(value)) + value.encode()
    lengths = struct.pack(">II", 16 + len(told) + len(payload), len(told))
    head = lengths + struct.pack(">I", zlib.crc32(lengths)) + told + payload
    return head + struct.pack(">I", zlib.crc32(head))


def event(name: str, **members: Any) -> bytes:
    """Return the frame of an event."""
    data = json.dumps({**members, "p": "abcdef"}).encode()
    return frame(data, event_type=name, content_type="application/json", message_type="event")


def chunk(**members: Any) -> bytes:
    """Return the frame of a model's own event."""
    return event("chunk", bytes=base64.b64encode(json.dumps(members).encode()).decode())


def fault(code: str, message: str) -> bytes:
    """Return the frame of an exception."""
    return frame(json.dumps({"message": message}).encode(), exception_type=code, message_type="exception")


def stream(*parts: bytes) -> dict[str, Any]:
    """Return a response that holds a stream."""
    return {"status": 200, "base64": base64.b64encode(b"".join(parts)).decode()}
