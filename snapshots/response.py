"""The response as it is kept: raw, with the one lossless form its bytes allow, and the headers that an allow list lets through."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from snapshots import strict_json
from snapshots.errors import JsonError

KEPT_HEADERS = frozenset(
    {
        "content-type", "date", "openai-model", "openai-processing-ms", "openai-version", "request-id", "retry-after", "server",
        "x-request-id",
    }
)  # fmt: skip


def response(status: int, headers: Iterable[tuple[str, str]], data: bytes) -> dict[str, Any]:
    """Return the ``response`` member for what a server sent.

    Args:
        status: HTTP status.
        headers: names and values as received; only ``KEPT_HEADERS`` are kept, lower-cased and sorted, repeated ones joined by ``, ``.
        data: the body's bytes after transfer and content decoding.
    """
    kept: dict[str, str] = {}
    for name, value in headers:
        lower = name.lower()
        if lower in KEPT_HEADERS:
            kept[lower] = f"{kept[lower]}, {value}" if lower in kept else value
    return {"status": status, "headers": {name: kept[name] for name in sorted(kept)}, **body_member(data)}


def body_member(data: bytes) -> dict[str, Any]:
    """Return ``{"body": …}`` where JSON keeps every value, else ``{"text": …}``, else ``{"base64": …}``."""
    try:
        value = strict_json.loads(data)
    except JsonError:
        value = None
    else:
        # 64-bit limits, and floats: what reads back must be equal, so that nothing recorded ever changes value.
        try:
            written = orjson.dumps(value)
            if orjson.loads(written) == value:
                return {"body": value}
        except (TypeError, orjson.JSONDecodeError):
            value = None
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def payload(response_member: Mapping[str, Any]) -> Any:
    """Return the body in whichever form it is kept."""
    for name in ("body", "text"):
        if name in response_member:
            return response_member[name]
    return response_member.get("base64")
