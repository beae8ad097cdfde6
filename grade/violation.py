"""What a check says that is violated: its evidence, any JSON value; ``None`` where it holds."""

from __future__ import annotations

from typing import Any

from snapshots.envelope import Envelope

Violation = Any
EMPTY = {"answer": "empty"}
LONGEST = 300


def is_blank(envelope: Envelope) -> bool:
    """Tell whether an answer has neither text nor a tool call: one that proves nothing about what it must not hold."""
    return not envelope["text"] and not envelope["tool_calls"]


def clipped(text: str) -> str:
    """Return a text of an answer, short enough to be evidence."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def brief(value: Any) -> Any:
    """Return a JSON value of an answer as evidence: a scalar as it is, the rest by its kind and size."""
    if isinstance(value, str):
        return clipped(value)
    if isinstance(value, dict):
        return f"an object of {len(value)} members"
    return f"an array of {len(value)} items" if isinstance(value, list) else value
