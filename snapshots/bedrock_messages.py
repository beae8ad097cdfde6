"""Anthropic's messages as Bedrock sends them by ``invoke``: recognise, answer rule ``bedrock-anthropic/1``, read.

The body is the one of Anthropic's own API; the URL is another, and a stream comes in binary frames, each with one of its events. So the
rule leaves out what ``anthropic/1`` does, and the reader is Anthropic's. The published rule is never edited.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from snapshots import anthropic, aws_events
from snapshots.members import is_list_of_objects, mapping, path_of
from snapshots.reading import Reading

RULE = "bedrock-anthropic/1"
READER = "bedrock-anthropic"
READER_NUMBER = 1

_PATH = re.compile(r"/model/.+/invoke(?:-with-response-stream)?\Z")


def recognises(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether a response is a message, whole or streamed."""
    if _PATH.search(path_of(request)) is None:
        return False
    body = mapping(whole(response))
    return body.get("type") == "message" and is_list_of_objects(body.get("content"))


def whole(response: Mapping[str, Any]) -> Any:
    """Return the body of a response, assembled where it is a stream."""
    return anthropic.whole(_unframed(response))


def answer(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preimage of the answer hash under ``bedrock-anthropic/1``; a stream is assembled first."""
    return anthropic.answer(_unframed(response))


def is_complete(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether a message was received to its end: it has a stop reason, and a stream no error and its last event."""
    return anthropic.is_complete(request, _unframed(response))


def read(response: Mapping[str, Any]) -> Reading:
    """Read a message into the uniform envelope fields.

    Raises:
        UnreadableSnapshot: a member has a type that this dialect does not know; the pointer names it.
    """
    return anthropic.read(_unframed(response))


def _unframed(response: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a response with the events of its frames as Anthropic's own API sends them; any other is returned as it is."""
    data = aws_events.stream_of(response)
    if data is None:
        return response
    try:
        told = [_event(name, payload) for name, payload in aws_events.events(data)]
    except ValueError:
        return response
    return {"status": response.get("status"), "text": "".join(f"data: {json.dumps(event)}\n\n" for event in told)}


def _event(name: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"type": "error", "error": payload} if name == "error" else payload
