"""What a recorded response is worth: the member that may be stored, or the reason why it is refused.

Stored are whole answers with a status of success, a content filter's refusals, and the statuses that were asked for. A recording says
nothing about whether its end was reached, so what no dialect can judge is refused where it may have been cut: streams.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qsl

from capture.cassette import Interaction, header
from capture.cassette_body import Parsed, spelled
from snapshots import aws_events, dialects, response, sse, strict_json
from snapshots.errors import CallError

_NO_CONTENT = frozenset({204, 205})
_FRAMES = "application/vnd.amazon.eventstream"
_LINES = ("application/x-ndjson", "application/stream+json", "application/jsonl")
_LAST_CHUNK = "amazon-bedrock-invocationMetrics"
# What an authorisation server gives and takes. A body with one of them is a credential, whatever it looks like.
_TOKENS = frozenset({"access_token", "refresh_token", "id_token", "client_secret"})
_GRANTS = _TOKENS | {"client_assertion", "assertion"}
_LATEST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def answer(recorded: Interaction, document: Mapping[str, Any], accepted: Collection[int]) -> dict[str, Any]:
    """Return the response member of a recorded response.

    Args:
        recorded: the interaction.
        document: its request document.
        accepted: other statuses than those of success that are answers too.

    Raises:
        CallError: it is no answer that may be stored.
    """
    body = recorded.body
    data = spelled(body) if isinstance(body, Parsed) else body or b""
    kept = response.response(recorded.status, recorded.headers, data)
    _refuse_tokens(document, kept)
    if recorded.status not in accepted and not dialects.is_filtered(document, kept):
        _refuse_status(recorded.status)
        _refuse_empty(recorded, data)
        _refuse_unfinished(document, kept, header(recorded.headers, "content-type").lower())
    elif 200 <= recorded.status < 300:
        _refuse_unfinished(document, kept, header(recorded.headers, "content-type").lower())
    return kept


def second(recorded: Interaction) -> int:
    """Return the second of a recording: when the server answered, else when the recorder says, else the first second of 1970."""
    for told in (header(recorded.headers, "date"), recorded.recorded_at):
        for read in (parsedate_to_datetime, datetime.fromisoformat):
            try:
                when = read(told.strip())
                when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
            except (ValueError, TypeError, OverflowError, IndexError):
                continue
            if _EPOCH <= when <= _LATEST:
                return int(when.timestamp())
    return 0


def _refuse_status(status: int) -> None:
    if status == 101:
        raise CallError("a WebSocket session: it is no request with an answer")
    if 300 <= status < 400:
        raise CallError(f"status {status}: a redirect, and no answer")
    if not 200 <= status < 300:
        raise CallError(f"status {status}: an error, and no answer")


def _refuse_empty(recorded: Interaction, data: bytes) -> None:
    if data or recorded.status in _NO_CONTENT or header(recorded.headers, "content-length").strip() == "0":
        return
    raise CallError("the body is empty, and the recorder does not say that it was")


def _refuse_unfinished(document: Mapping[str, Any], kept: Mapping[str, Any], kind: str) -> None:
    if dialects.reader_for(document, kept)[0] != dialects.RAW_READER:
        if not dialects.is_complete(document, kept):
            raise CallError("the answer did not come to its end: it was cut off, failed, or was still under way")
        return
    body, text = kept.get("body"), kept.get("text")
    if isinstance(body, dict) and body.get("error"):
        raise CallError("the body is an error, and no answer")
    if "base64" in kept and (kind.startswith(_FRAMES) or _is_framed(kept)):
        if not _came_to_its_end(kept):
            raise CallError("a binary event stream that is cut off or damaged, or does not say where it ends")
    elif isinstance(text, str) and text and (sse.looks_like_stream(text) or kind.startswith(_LINES)):
        raise CallError("a stream that was cut off, failed, or is of a dialect whose end is not known here")
    elif isinstance(text, str) and "json" in kind and _is_no_value(text):
        # Kept as text, the names and punctuation of the whole body would be judged as if the model had said them.
        raise CallError(
            "a JSON body that cannot be read: cut off, nested too deep, or with a number of too many digits"
        )


def _is_no_value(text: str) -> bool:
    """Tell whether a text begins like an object of JSON and is none, to a reader who forgives."""
    if not text.lstrip().startswith("{"):
        return False
    value = strict_json.loosely(text)
    return value is None or strict_json.is_too_deep(value)


def _is_framed(kept: Mapping[str, Any]) -> bool:
    try:
        next(aws_events.frames(base64.b64decode(kept["base64"])), None)
    except ValueError:
        return False
    return True


def _came_to_its_end(kept: Mapping[str, Any]) -> bool:
    """Tell whether a stream of a model's own events is sound and has the chunk that is always the last."""
    data = aws_events.stream_of(kept)
    if data is None:
        return False
    try:
        events = list(aws_events.events(data))
    except ValueError:
        return False
    return bool(events) and _LAST_CHUNK in events[-1][1] and all(name != "error" for name, _ in events)


def _refuse_tokens(document: Mapping[str, Any], kept: Mapping[str, Any]) -> None:
    for what, value, names in (("request", document, _GRANTS), ("answer", kept, _TOKENS)):
        held = names & {name for name, told in _members(value) if isinstance(told, str) and told}
        if held:
            raise CallError(f"the {what} holds a credential: {min(held)}")


def _members(value: Mapping[str, Any]) -> list[tuple[str, Any]]:
    body = value.get("body")
    if isinstance(body, dict):
        return list(body.items())
    text = value.get("body_text", "")
    return list(parse_qsl(text)) if isinstance(text, str) and len(text) < 100_000 else []
