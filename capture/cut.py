"""What shows in a reply that no dialect recognises: that it is no whole answer, for it reports an error or was cut off.

A service of its own says nothing about where its answers end. So its streams are taken where their last event is sound, unless they
speak a dialect that is known: then that dialect says where they end, whatever the URL is called.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any

from snapshots import aws_events, bedrock, dialects, members, sse, strict_json

_CUT = "the answer was cut off before its end"
_CUT_STREAM = "the stream was cut off before its end"
_ERROR = "the body is an error"
_ERROR_EVENT = "the stream reports an error"

_EVENTS = "text/event-stream"
_FRAMES = "application/vnd.amazon.eventstream"
_LINES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/stream+json"})
_UNSAID = frozenset({"", "application/octet-stream"})
_DONE = "[DONE]"
# Where each dialect that streams is spoken, for a stream that comes from elsewhere.
_PATHS = {
    "openai-chat": "/chat/completions",
    "openai-responses": "/responses",
    "anthropic": "/v1/messages",
    "gemini": "/m:streamGenerateContent",
    "openai-completions": "/completions",
    "bedrock-converse": "/model/m/converse-stream",
    "bedrock-anthropic": "/model/m/invoke-with-response-stream",
    "cohere": "/v2/chat",
}
# What events of these dialects say of themselves. One that says it in a stream that does not assemble was never finished.
_OURS = re.compile(
    r"""message_(start|delta|stop) | content_block_(start|delta|stop)
      | response\.(created|queued|in_progress|completed|incomplete|failed|output_text\.delta)
      | message-(start|end) | content-(start|delta|end) | stream-(start|end) | text-generation""",
    re.VERBOSE,
)
_OUR_FRAMES = frozenset({"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop"})
_LAST_CHUNK = "amazon-bedrock-invocationMetrics"


def fault(document: Mapping[str, Any], kept: Mapping[str, Any], data: bytes, content_type: str) -> str | None:
    """Return why a reply is no whole answer, or ``None`` where nothing shows.

    Args:
        document: the request document.
        kept: the response member as it would be stored, which no dialect recognises.
        data: the body's bytes, at least one.
        content_type: the header, or nothing.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if "body" in kept:
        if _is_error(kept["body"]):
            return _ERROR
        return _CUT_STREAM if _is_event(kept["body"]) or (kind in _LINES and _is_undone(kept["body"])) else None
    if kind == _FRAMES or aws_events.begins(data) or bedrock.PATH.search(members.path_of(document)):
        return _in_frames(document, data)
    text = kept.get("text")
    if not isinstance(text, str):
        return _CUT_STREAM if kind == _EVENTS else None
    if kind == _EVENTS or (sse.looks_like_stream(text) and (kind == "" or any(True for _ in sse.data_events(text)))):
        return _in_events(document, kept, text)
    value = strict_json.loosely(text)
    if value is not None:
        return _ERROR if _is_error(value) else None
    return _in_text(document, kept, text, kind)


def _is_error(value: Any) -> bool:
    """Tell whether a value says that it is an error, or is a list of nothing but such."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, dict) and _is_error(item) for item in value)
    told = members.mapping(value)
    return bool(told.get("error")) or "error" in (told.get("type"), told.get("object"), told.get("event"))


def _in_events(document: Mapping[str, Any], kept: Mapping[str, Any], text: str) -> str | None:
    is_whole = _is_whole(document, kept)
    if is_whole is not None:
        return None if is_whole else _CUT_STREAM
    told = list(sse.data_events(text))
    values = [strict_json.loosely(data) for data in told]
    if any(map(_is_error, values)) or "error" in sse.names(text):
        return _ERROR_EVENT
    if any(map(_is_ours, values)) or not told:
        return _CUT_STREAM
    if told[-1].strip() == _DONE:
        return None
    return None if sse.is_ended(text) and _is_sound(told, values) else _CUT_STREAM


def _in_text(document: Mapping[str, Any], kept: Mapping[str, Any], text: str, kind: str) -> str | None:
    """Judge a text that is no JSON value: lines of JSON, the beginning of a value, or words."""
    is_json = kind in _LINES or kind.endswith(("/json", "+json"))
    lines = [line for line in text.split("\n") if line.strip()]
    values = [strict_json.loosely(line) for line in lines]
    if kind in _LINES or ((is_json or kind in _UNSAID) and len(lines) > 1 and isinstance(values[0], dict)):
        is_whole = _is_whole(document, kept)
        if is_whole is not None:
            return None if is_whole else _CUT_STREAM
        if any(map(_is_error, values)):
            return _ERROR_EVENT
        return _CUT_STREAM if any(map(_is_ours, values)) or not _is_sound(lines, values) else None
    return _CUT if is_json and text.lstrip("\ufeff \t\r\n").startswith(("{", "[", '"')) else None


def _in_frames(document: Mapping[str, Any], data: bytes) -> str | None:
    is_whole = _is_whole(document, {"status": 200, "base64": base64.b64encode(data).decode("ascii")})
    if is_whole is not None:
        return None if is_whole else _CUT_STREAM
    try:
        told = [frame.headers for frame in aws_events.frames(data)]
        if any(headers.get(":message-type") != "event" for headers in told):
            return _ERROR_EVENT
        names = {headers.get(":event-type") for headers in told}
        # A model's own events have no end of their own, but what they are wrapped in has: its last one counts them.
        is_counted = "chunk" not in names or _LAST_CHUNK in list(aws_events.events(data))[-1][1]
    except ValueError:
        return _CUT_STREAM
    return None if names and is_counted and not names & _OUR_FRAMES else _CUT_STREAM


def _is_whole(document: Mapping[str, Any], kept: Mapping[str, Any]) -> bool | None:
    """Tell whether a stream came to its end by the dialect that it speaks, or ``None`` where that is none that is known."""
    for name, path in _PATHS.items():
        asked = {**document, "url": path}
        if dialects.DIALECTS[name].recognises(asked, kept):
            return dialects.DIALECTS[name].is_complete(asked, kept)
    return None


def _is_event(value: Any) -> bool:
    """Tell whether a value is by its own word an event of a dialect, and so never an answer alone."""
    told = members.mapping(value)
    return any(_OURS.fullmatch(members.text(told.get(name))) for name in ("type", "event_type"))


def _is_undone(value: Any) -> bool:
    """Tell whether a value says itself that more is to come."""
    return members.mapping(value).get("done") is False


def _is_ours(value: Any) -> bool:
    if _is_event(value):
        return True
    told = members.mapping(value)
    choices = told.get("choices")
    is_chunk = isinstance(choices, list) and any(members.mapping(one).keys() & {"delta", "text"} for one in choices)
    return is_chunk or members.is_list_of_objects(told.get("candidates"))


def _is_sound(told: Sequence[str], values: Sequence[Any]) -> bool:
    """Tell whether the last of several events is whole: JSON where those before it are, and where it begins so without any before it."""
    last = values[-1]
    if _is_undone(last):
        return False
    spoken = [isinstance(value, dict | list) for value in values[:-1]] or [told[-1].lstrip().startswith(("{", "["))]
    return last is not None or not all(spoken)
