"""From planned rows to what has to be answered: each ``(request_hash, trial)`` once, however many rows share it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from golden.alike import alike, refuse_alike
from golden.model import Case, Planned, Selection, Suite
from golden.render import Rendered, render
from golden.selection import select
from snapshots.errors import ConfigError, UsageError


@dataclass(frozen=True, slots=True)
class Wanted:
    """One row of a capture: a planned one, or a request that a grader declares for it (``asked``: ``grader/name``)."""

    planned: Planned
    rendered: Rendered
    asked: str | None = None


@dataclass(slots=True)
class Job:
    """One identity of a run: the first row that needs it, its request, and the places of all rows that share it."""

    request_hash: str
    trial: int
    planned: Planned
    rendered: Rendered
    asked: str | None = None
    rows: list[int] = field(default_factory=list[int])
    cases: set[str] = field(default_factory=set[str])

    @property
    def identity(self) -> tuple[str, int]:
        """Return ``(request_hash, trial)``."""
        return self.request_hash, self.trial


def nothing() -> UsageError:
    """Return the error for a plan without a row."""
    return UsageError("no case is selected: there is nothing to do", hint="whichclock golden ls shows what there is")


def wanted(suite: Suite, planned: Iterable[Planned]) -> list[Wanted]:
    """Return the rows of a plan; each case × target is rendered once.

    Raises:
        ConfigError: a case cannot be rendered for a target, or redaction makes two requests of the suite one.
    """
    rendered: dict[tuple[str, str], Rendered] = {}
    rows: list[Wanted] = []
    for row in planned:
        pair = row.case.id, row.target.name
        request = rendered.get(pair)
        if request is None:
            request = rendered[pair] = render(suite, row.case, row.target)
        rows.append(Wanted(row, request))
    if any(request.sent_hash != request.request_hash for request in rendered.values()):
        refuse_alike(_whole_suite(suite, rendered))
    return rows


def _whole_suite(suite: Suite, rendered: Mapping[tuple[str, str], Rendered]) -> Iterator[tuple[Case, Rendered]]:
    """Yield all requests of a suite, selected or not: one that is left out today would read the other's answer tomorrow."""
    for row in select(suite, Selection()):
        if row.trial == 0:
            request = rendered.get((row.case.id, row.target.name))
            with suppress(ConfigError):  # its own capture will say so
                yield row.case, request or render(suite, row.case, row.target)


class Jobs:
    """The identities of a run, in the order in which its rows need them first."""

    def __init__(self) -> None:
        self.rows: list[Wanted] = []
        self._by_identity: dict[tuple[str, int], Job] = {}

    def add(self, rows: Iterable[Wanted]) -> list[Job]:
        """Add rows and return the jobs that they need and no earlier row did.

        Raises:
            ConfigError: two requests differ only in what redaction takes out.
        """
        new: list[Job] = []
        for row in rows:
            identity = row.rendered.request_hash, row.planned.trial
            job = self._by_identity.get(identity)
            if job is None:
                job = self._by_identity[identity] = Job(*identity, row.planned, row.rendered, row.asked)
                new.append(job)
            elif job.rendered.sent_hash != row.rendered.sent_hash:
                raise alike(job.planned.case, row.planned.case)
            job.rows.append(len(self.rows))
            job.cases.add(row.planned.case.id)
            self.rows.append(row)
        return new

    @property
    def all(self) -> list[Job]:
        """Return all jobs."""
        return list(self._by_identity.values())


def jobs(suite: Suite, planned: Iterable[Planned]) -> list[Job]:
    """Return the identities of a plan in suite order.

    Raises:
        ConfigError: a case cannot be rendered for a target, or redaction makes two requests one.
    """
    return Jobs().add(wanted(suite, planned))
