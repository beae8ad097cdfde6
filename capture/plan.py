"""From planned rows to what has to be answered: each ``(request_hash, trial)`` once, however many rows share it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from golden.model import Planned, Suite
from golden.render import Rendered, render
from snapshots.errors import UsageError


@dataclass(slots=True)
class Job:
    """One identity of a run: the first row that needs it, its request, and the places of all rows that share it."""

    request_hash: str
    trial: int
    planned: Planned
    rendered: Rendered
    rows: list[int] = field(default_factory=list[int])
    cases: set[str] = field(default_factory=set[str])

    @property
    def identity(self) -> tuple[str, int]:
        """Return ``(request_hash, trial)``."""
        return self.request_hash, self.trial


def nothing() -> UsageError:
    """Return the error for a plan without a row."""
    return UsageError("no case is selected: there is nothing to do", hint="whichclock golden ls shows what there is")


def jobs(suite: Suite, planned: Iterable[Planned]) -> list[Job]:
    """Return the identities of a plan in suite order.

    Raises:
        ConfigError: a case cannot be rendered for a target.
    """
    found: dict[tuple[str, int], Job] = {}
    rendered: dict[tuple[str, str], Rendered] = {}
    for place, row in enumerate(planned):
        pair = row.case.id, row.target.name
        request = rendered.get(pair)
        if request is None:
            request = rendered[pair] = render(suite, row.case, row.target)
        identity = request.request_hash, row.trial
        job = found.get(identity)
        if job is None:
            job = found[identity] = Job(*identity, row, request)
        job.rows.append(place)
        job.cases.add(row.case.id)
    return list(found.values())
