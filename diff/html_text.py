"""Texts of others for the page: neutral, cut where they are long, and within a budget for the whole page."""

from __future__ import annotations

import json
from typing import Any

from snapshots.console import neutral, neutral_block

LONGEST = 20_000
SHORT = 500
BUDGET = 24_000_000


class Texts:
    """Hands out texts until the budget is spent; cases are asked for in the order of their worth."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._left = budget

    def of(self, value: Any) -> str:
        """Return a text as it is, and any other JSON value spelled out, neutral and with a note where something is cut."""
        whole = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
        if self._left <= 0:
            return f"(left out, {len(whole)} characters: the texts of this page would be too many)"
        kept = neutral_block(whole[:LONGEST])
        self._left -= len(kept)
        more = len(whole) - LONGEST
        return f"{kept}\n… (cut: {more} more characters)" if more > 0 else kept


def short(text: str) -> str:
    """Return a text for one line, neutral and cut: an id, a code, what moved in a few words."""
    return f"{neutral(text[:SHORT])}…" if len(text) > SHORT else neutral(text)
