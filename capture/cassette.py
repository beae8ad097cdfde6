"""Cassettes: the layouts in which recorders keep requests and their answers, read as one.

- VCR.py: ``interactions``, YAML or JSON; its version 0, a bare list with Python tags, URLs in parts and headers as lines;
- the older recorder of httpx: ``content``, ``status_code``; pydantic-ai: ``parsed_body``; others of the family: ``http_interactions``;
- one interaction a JSON file: ``request`` and ``response`` at the top.

A file is told by what is in it. Nothing here says whether an answer may be stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capture import cassette_yaml
from capture.cassette_body import Parsed, body_of, unpacked
from snapshots import strict_json
from snapshots.errors import CallError, JsonError, UsageError
from snapshots.store import read_bytes

MAX_BYTES = 256 << 20
SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_NO_CASSETTE = "it is no cassette: it has neither interactions nor a request with its response"
_GRPC = ("request_sample", "response_sample", "request_stream", "response_stream")
_PARTS = ("protocol", "host", "port", "path")
_DEFAULT_PORTS = {"http": 80, "https": 443}

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Cassette:
    """A read file: its entries as they stand there, and whether tags were taken off."""

    entries: tuple[Any, ...]
    tagged: bool


@dataclass(frozen=True, slots=True)
class Interaction:
    """One request with its response; bodies are unpacked, ``Parsed`` where the recorder kept values."""

    method: str
    url: str
    request_headers: Headers
    request_body: bytes | Parsed | None
    status: int
    headers: Headers
    body: bytes | Parsed | None
    recorded_at: str


def load(path: Path) -> Cassette:
    """Read a file.

    Raises:
        UsageError: it cannot be read, is neither YAML nor JSON, or is no cassette.
        StoreError: the system refuses to read it.
    """
    if path.stat().st_size > MAX_BYTES:
        raise UsageError(f"it is larger than {MAX_BYTES >> 20} MiB")
    return parse(read_bytes(str(path)), is_json=path.suffix.lower() == ".json")


def parse(data: bytes, *, is_json: bool) -> Cassette:
    """Read the bytes of a file.

    Raises:
        UsageError: they are neither YAML nor JSON, or no cassette.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"it is not UTF-8: byte {error.start}") from None
    if is_json:
        try:
            return Cassette(_entries(strict_json.loads(text, wrapped=20)), tagged=False)
        except JsonError as error:
            raise UsageError(f"it is not JSON as recorders write it: {error.message}") from None
    document = cassette_yaml.read(text)
    return Cassette(_entries(document.value), document.tagged)


def _entries(value: Any) -> tuple[Any, ...]:
    if isinstance(value, dict):
        for name in ("interactions", "http_interactions"):
            if isinstance(value.get(name), list):
                return tuple(value[name])
        if _is_pair(value):
            return (value,)
    elif isinstance(value, list) and value and all(_is_pair(item) for item in value):
        return tuple(value)
    raise UsageError(_NO_CASSETTE)


def _is_pair(value: Any) -> bool:
    """Tell whether a value is one interaction; a snapshot of ours, which looks like one, is none."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("request"), dict)
        and "response" in value
        and "integrity" not in value
    )


def interaction(entry: Any) -> Interaction:
    """Return an entry as one request with its response.

    Raises:
        CallError: it is something else, which the message names.
    """
    if not isinstance(entry, dict):
        raise CallError("the entry is no interaction")
    if any(name in entry for name in _GRPC):
        raise CallError("a gRPC call: it has no URL, status or headers")
    if "direction" in entry and "request" not in entry:
        raise CallError("a message of a WebSocket session: it is no request with an answer")
    request, response = entry.get("request"), entry.get("response")
    if not isinstance(request, dict) or not isinstance(response, dict):
        raise CallError("the entry has no request and response")
    sent, received = tuple(_headers(request.get("headers"))), tuple(_headers(response.get("headers")))
    return Interaction(
        method=_text(request.get("method"), "the method"),
        url=_url(request),
        request_headers=sent,
        request_body=_plain(body_of(request), sent),
        status=_status(response),
        headers=received,
        body=_plain(body_of(response), received),
        recorded_at=next(
            (m for m in (entry.get("recorded_at"), response.get("recorded_at")) if isinstance(m, str)), ""
        ),
    )


def header(headers: Headers, name: str) -> str:
    """Return the value of a header by its lower-case name, several joined by a comma, or nothing."""
    return ", ".join(value for key, value in headers if key.lower() == name)


def _plain(body: bytes | Parsed | None, headers: Headers) -> bytes | Parsed | None:
    return unpacked(body, header(headers, "content-encoding")) if isinstance(body, bytes) else body


def _url(request: Mapping[str, Any]) -> str:
    for name in ("uri", "url"):
        if isinstance(request.get(name), str | bytes):
            return _text(request[name], "the URL")
    if not all(name in request for name in _PARTS):
        raise CallError("the request has no URL")
    scheme, host, path = (_text(request[name], f"the {name}") for name in ("protocol", "host", "path"))
    port = request["port"]
    shown = "" if port == _DEFAULT_PORTS.get(scheme) else f":{port}"
    return f"{scheme}://{host}{shown}{path}"


def _status(response: Mapping[str, Any]) -> int:
    told = response.get("status")
    values = [response.get("status_code"), response.get("code"), told]
    if isinstance(told, dict):
        values = [told.get("code")]
    for value in values:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        word = value.split(" ", 1)[0] if isinstance(value, str) else ""
        if len(word) == 3 and word.isascii() and word.isdecimal():
            return int(word)
    raise CallError("the response has no status")


def _headers(value: Any) -> Iterator[tuple[str, str]]:
    """Yield names and values: a mapping to values or lists of them, lists of pairs, or lines as they were received."""
    if isinstance(value, dict):
        for name, told in value.items():
            for one in told if isinstance(told, list) else (told,):
                yield name, _shown(one)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, str | bytes):
                name, colon, told = _shown(item).partition(":")
                if colon:
                    yield name.strip(), told.strip()
            elif isinstance(item, list) and len(item) == 2 and all(isinstance(part, str | bytes) for part in item):
                yield _shown(item[0]), _shown(item[1])
            elif isinstance(item, dict | list):
                yield from _headers(item)


def _shown(value: Any) -> str:
    """Return a header's value as text; no byte of it is lost."""
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return value.decode("latin-1")
    return value if isinstance(value, str) else "" if value is None else str(value)


def _text(value: Any, what: str) -> str:
    text = _shown(value) if isinstance(value, str | bytes) else ""
    if not text:
        raise CallError(f"{what} is no text")
    return text
