"""The JSON events of a stream, and the body that they spell. Part of published answer rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from snapshots import sse

Assembler = Callable[[str], Any]
PADDING = "obfuscation"
"""The member of OpenAI's events that is random and as long as it takes to hide how long the others are."""


def events(text: str) -> Iterator[dict[str, Any]]:
    """Yield the events of a stream; the ``[DONE]`` that some servers end with is none.

    Raises:
        ValueError: an event is no JSON object, or nests too deeply.
    """
    for data in sse.data_events(text):
        if data.strip() == "[DONE]":
            continue
        try:
            # The standard reader lets half of a surrogate pair through: its other half may stand in the next event.
            event = json.loads(data)
        except RecursionError:
            raise ValueError("an event nests too deeply") from None
        if not isinstance(event, dict):
            raise ValueError("an event is no object")
        yield event


def is_done(text: str) -> bool:
    """Tell whether a stream says itself that it is done."""
    return any(data.strip() == "[DONE]" for data in sse.data_events(text))


def body_of(response: Mapping[str, Any], assemble: Assembler) -> Any:
    """Return the body of a response, assembled where it is a stream, or ``None`` where there is none of either."""
    if "body" in response:
        return response["body"]
    text = response.get("text")
    if not isinstance(text, str) or not sse.looks_like_stream(text):
        return None
    try:
        return whole_text(assemble(text))
    except (ValueError, RecursionError):
        return None


def whole_text(value: Any) -> Any:
    """Return a value with the surrogate halves joined that two events split.

    Raises:
        ValueError: one stays alone.
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16")
    if isinstance(value, dict):
        return {whole_text(name): whole_text(item) for name, item in value.items()}
    if isinstance(value, list):
        return [whole_text(item) for item in value]
    return value
