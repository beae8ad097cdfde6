"""Why nothing is recorded for a request, in the words that every command uses: what it differs in from the nearest that is."""

from __future__ import annotations

from snapshots.console import neutral
from snapshots.nearest import Near

NOTHING_YET = "nothing is recorded yet"
"""Said once, in place of a reason for each miss, where the store is empty."""
_POINTERS_SHOWN = 5


def reason(near: Near | None) -> str:
    """Return the words for a miss, neutral.

    Args:
        near: the nearest recorded request, or ``None`` where the store holds nothing comparable.
    """
    if near is None:
        return "no recorded request is like it"
    if near.only_the_address:
        return (
            f"recorded under another address as {near.request_hash[:12]}: another base URL is another key; "
            'endpoint = "name" on the target would share'
        )
    if not near.pointers:
        return "another trial of a recorded request"
    shown = ", ".join(neutral(pointer) for pointer in near.pointers[:_POINTERS_SHOWN])
    more = len(near.pointers) - _POINTERS_SHOWN
    also = "; another base URL is another key" if near.differs_in_address else ""
    return f"differs from {near.request_hash[:12]} at {shown}{f' and {more} more' if more > 0 else ''}{also}"
