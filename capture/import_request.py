"""The request document of a recorded request: what the same request would be keyed as if a target sent it.

A recorder keeps all that a client sent, and most of it is the client's own noise. So of the headers only those that tell a version are
in; method, URL and body are, by the rules that hold for targets. What tells who asks is never in: user name and password of the URL and
parameters that carry a key are left out, as a target sends its key in a header.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote, urlsplit

from capture.cassette import Headers, Interaction, header
from capture.cassette_body import Parsed
from snapshots import request, strict_json
from snapshots.errors import CallError, ConfigError, JsonError

_METHOD = re.compile(r"[A-Za-z]{1,20}")
_UNSENDABLE = re.compile(r"[\x00-\x20\x7f]")
# Parameters that carry a key or a signature, by their lower-case names.
_CREDENTIALS = frozenset(
    {
        "key", "api_key", "api-key", "apikey", "access_token", "token", "auth", "subscription-key", "sig", "signature",
        "x-goog-signature", "x-goog-credential",
    }
)  # fmt: skip
_SIGNED = "x-amz-"


def document(recorded: Interaction, endpoint: str | None) -> dict[str, Any]:
    """Return the request document of a recorded request.

    Args:
        recorded: the interaction.
        endpoint: the name that stands for scheme, host and port, or ``None`` to keep them.

    Raises:
        CallError: it is no HTTP request, or one that no target could send.
    """
    if not _METHOD.fullmatch(recorded.method):
        raise CallError("the method is no word")
    kind = header(recorded.request_headers, "content-type").lower()
    if kind.startswith("application/grpc"):
        raise CallError("a gRPC call: its body is no text")
    body, text = _body(recorded.request_body, kind)
    return request.http_document(
        method=recorded.method,
        url=_url(recorded.url, endpoint),
        headers=_versions(recorded.request_headers),
        body=body,
        body_text=text,
    )


def _versions(headers: Headers) -> dict[str, str]:
    return {name: header(headers, name) for name in request.CLEAR_HEADERS if header(headers, name)}


def _url(url: str, endpoint: str | None) -> str:
    """Return the URL as the key holds it; the path and what is left of the query stay as they are spelled."""
    if _UNSENDABLE.search(url):
        raise CallError("the URL holds a space or a control character")
    try:
        parts = urlsplit(url)
        if parts.scheme.lower() in ("ws", "wss"):
            raise CallError("a WebSocket session: it is no request with an answer")
        base = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        query = _without_credentials(parts.query)
        return request.keyed_url(base, parts.path + (f"?{query}" if query else ""), endpoint=endpoint)
    except ValueError:
        raise CallError("the URL is none") from None
    except ConfigError as error:
        raise CallError(error.message.replace("base_url", "the URL")) from None


def _without_credentials(query: str) -> str:
    return "&".join(pair for pair in query.split("&") if not _is_credential(pair.partition("=")[0]))


def _is_credential(name: str) -> bool:
    lower = unquote(name).lower()
    return lower in _CREDENTIALS or lower.startswith(_SIGNED)


def _body(kept: bytes | Parsed | None, kind: str) -> tuple[Any, str | None]:
    """Return the JSON body, or the body as text: null and what strict JSON refuses are text."""
    if kept is None or kept == b"":
        return None, None
    if isinstance(kept, Parsed):
        return _value(kept.value)
    if kind.startswith("multipart/") or (kept.startswith(b"--") and b"form-data" in kept[:1000]):
        raise CallError("a multipart request: no target sends one")
    try:
        text = kept.decode("utf-8")
    except UnicodeDecodeError:
        raise CallError("the request's body is no text") from None
    try:
        value = strict_json.loads(text)
    except JsonError:
        return None, text
    return (None, text) if value is None else (value, None)


def _value(value: Any) -> tuple[Any, str | None]:
    try:
        strict_json.check(value, wrapped=1)
    except JsonError as error:
        raise CallError(f"the request's body has no JSON form: {error.message}") from None
    return (None, "null") if value is None else (value, None)
