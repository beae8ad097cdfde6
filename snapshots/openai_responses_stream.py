"""The response that an event stream of the Responses API tells of. Part of the answer rule ``openai-responses/1``: nothing is dropped."""

from __future__ import annotations

from typing import Any

from snapshots.events import events
from snapshots.members import text as text_of

_STATES = frozenset(f"response.{s}" for s in ("created", "queued", "in_progress", "completed", "incomplete", "failed"))


def assemble(text: str) -> dict[str, Any]:
    """Return the response as the last event that holds it whole tells it.

    A stream that was cut off is in progress for ever; one that reports an error has failed. Some servers leave ``output`` empty in
    their last event: then it is made of the items that were done.

    Raises:
        ValueError: an event is no JSON object, or none holds a response.
    """
    whole: dict[str, Any] | None = None
    done: dict[int, Any] = {}
    for event in events(text):
        kind, response = text_of(event.get("type")), event.get("response")
        if kind in _STATES and isinstance(response, dict):
            whole = response
        elif kind == "response.output_item.done" and isinstance(event.get("item"), dict):
            index = event.get("output_index")
            done[index if isinstance(index, int) else len(done)] = event["item"]
        elif kind == "error" and whole is not None:
            whole = {**whole, "status": "failed", "error": event}
    if whole is None:
        raise ValueError("a stream without a response")
    return whole if whole.get("output") else {**whole, "output": [done[i] for i in sorted(done)]}
