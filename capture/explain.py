"""Why nothing is recorded for a request: what it differs in from the nearest recorded one."""

from __future__ import annotations

from dataclasses import replace

from capture.plan import Job
from capture.result import Ended, Outcome
from snapshots import miss
from snapshots.nearest import Neighbours
from snapshots.store import Store

_EXPLAINED = 200
"""Most misses whose reason is looked for; each costs a comparison with a sample of the store."""


class Explainer:
    """Looks for reasons, up to a bound a run."""

    def __init__(self, store: Store) -> None:
        self._neighbours = Neighbours(store)
        self._left = _EXPLAINED

    def ended(self, job: Job, ended: Ended) -> Ended:
        """Return a miss with the reason for it; another outcome is returned as it is."""
        if ended.outcome is not Outcome.MISSED or not self._left or self._neighbours.is_empty:
            return ended
        self._left -= 1
        return replace(ended, error=f"{ended.error}: {miss.reason(self._neighbours.nearest(job.rendered.document))}")
