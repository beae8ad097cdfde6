"""What a grader sees of its case: not id, tags, vars, trial, target or expected, so that no verdict can depend on them."""

from __future__ import annotations

from typing import Any

from golden.closed_call import EPOCH
from snapshots.frozen import FrozenDict, freeze
from snapshots.snapshot import Snapshot

_SEEN = ("context", "allowed_tools", "checks", "graders")


class CaseView:
    """The grading side of a case as graders see it. ``now`` is where the clock stands for them, ``select`` reads generic answers."""

    def __init__(self, expectation: dict[str, Any], date: str = EPOCH) -> None:
        context = expectation.get("context")
        now = context.get("now") if isinstance(context, dict) else None
        self.now: str = now.upper() if isinstance(now, str) else date  # RFC 3339 allows t and z in lower case
        self.select: str | None = expectation.get("select")
        self.checks: list[dict[str, Any]] = expectation.get("checks") or []
        self._seen = {name: expectation.get(name) for name in _SEEN}

    def of(self, snapshot: Snapshot) -> FrozenDict:
        """Return the case of one call; ``request`` is the snapshot's."""
        return freeze({**self._seen, "request": snapshot.request})
