"""Bodies as recorders keep them, brought back to the bytes that were sent: ``string``, ``base64_string``, ``parsed_body``, or plain.

A header ``content-encoding`` is only believed where the bytes bear it out: many recorders unpack a body and leave the header.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from golden.model import MAX_ENTRY_BYTES
from snapshots.errors import CallError

_WRAPPERS = frozenset({"string", "base64_string", "encoding"})
_GZIP = b"\x1f\x8b\x08"
_MAX_MEMBERS = 1000
_ZSTD = b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True, slots=True)
class Parsed:
    """A body that the recorder kept as the value that it spells, and not as its text."""

    value: Any


def body_of(message: Mapping[str, Any]) -> bytes | Parsed | None:
    """Return the body of a request or response as a cassette holds it, still packed, or ``None`` where it holds none.

    Raises:
        CallError: it is held in a form that is none.
    """
    raw = message.get("body")
    if isinstance(raw, dict) and raw.keys() <= _WRAPPERS:
        raw = _wrapped(raw)
    if raw is None and "parsed_body" in message:
        return Parsed(message["parsed_body"])
    if raw is None:
        raw = message.get("content")  # how an older recorder of httpx calls it
    if isinstance(raw, str):
        return _bytes(raw)
    return raw if raw is None or isinstance(raw, bytes) else Parsed(raw)


def _wrapped(body: Mapping[str, Any]) -> Any:
    """Return the text or the bytes that a mapping around a body holds."""
    packed, text = body.get("base64_string"), body.get("string")
    if isinstance(packed, str | bytes):
        try:
            data = packed if isinstance(packed, bytes) else packed.encode("ascii", "replace")
            return base64.b64decode(b"".join(data.split()), validate=True)
        except (ValueError, binascii.Error):
            raise CallError("the body is no base64") from None
    if isinstance(text, str) and str(body.get("encoding", "")).lower() == "iso-8859-1":
        # A recorder that guessed so read bytes one by one; what cannot be such bytes was text to begin with.
        try:
            return text.encode("latin-1")
        except UnicodeEncodeError:
            return text
    if text is not None and not isinstance(text, str | bytes):
        raise CallError("the body's string is no text")
    return text


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise CallError("the body holds half of a surrogate pair, which no bytes spell") from None


def spelled(parsed: Parsed) -> bytes:
    """Return a JSON text for a body that was kept as a value.

    Raises:
        CallError: no JSON text spells it.
    """
    try:
        return json.dumps(parsed.value, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise CallError("the body is kept as a value that JSON has no text for") from None


def unpacked(data: bytes, encodings: str) -> bytes:
    """Return a body without its content codings.

    Args:
        data: the bytes as they are kept.
        encodings: the value of the header ``content-encoding``, empty where there is none.

    Raises:
        CallError: it is packed, and cut off or damaged, or packed in a way that is not read.
    """
    for name in reversed([part.strip().lower() for part in encodings.split(",")]):
        if name in ("gzip", "x-gzip"):
            data = _inflated(data, 31) if data.startswith(_GZIP[:2]) else data
        elif name == "deflate":
            data = _deflated(data)
        elif name in ("br", "zstd") and not _is_plain(data, name):
            data = _other(data, name)
    return data


def _is_plain(data: bytes, name: str) -> bool:
    if name == "zstd":
        return not data.startswith(_ZSTD)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _deflated(data: bytes) -> bytes:
    if len(data) >= 2 and data[0] & 15 == 8 and int.from_bytes(data[:2], "big") % 31 == 0:
        return _inflated(data, 15)
    return data if _is_plain(data, "deflate") else _inflated(data, -15)


def _inflated(data: bytes, window: int) -> bytes:
    """Return what zlib unpacks; a file of several members is read to its end."""
    parts: list[bytes] = []
    size = 0
    while data.strip(b"\0"):
        if len(parts) == _MAX_MEMBERS:
            raise CallError(f"the body is packed in more than {_MAX_MEMBERS} pieces")
        unpacker = zlib.decompressobj(window)
        try:
            part = unpacker.decompress(data, MAX_ENTRY_BYTES + 1 - size)
        except zlib.error:
            raise CallError("the body is packed and cannot be unpacked: it is damaged") from None
        size += len(part)
        if size > MAX_ENTRY_BYTES:
            raise CallError(f"the body unpacks to more than {MAX_ENTRY_BYTES >> 20} MiB")
        if not unpacker.eof:
            raise CallError("the body is packed and cannot be unpacked: it is cut off")
        parts.append(part)
        data = unpacker.unused_data
    return b"".join(parts)


def _other(data: bytes, name: str) -> bytes:
    if name != "br":
        raise CallError(f"the body is packed with {name}, which is not read")
    try:
        # Only there where somebody installed it.
        import brotli  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise CallError("the body is packed with br, which needs the package brotli") from None
    try:
        unpacked_data: bytes = brotli.decompress(data)
    except brotli.error:
        raise CallError("the body is packed and cannot be unpacked: it is damaged") from None
    return unpacked_data
