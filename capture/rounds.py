"""The rounds of a capture in which graders ask: until they want nothing more, and with a second look at what they were answered.

An answer that its grader cannot read is worth nothing to ``grade``: it is asked for once more at once, as an empty one is, and
the row fails where that does not help. Both answers stay in the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from capture.judges import Judges, Round, fault_row
from capture.plan import Job, Jobs
from capture.result import ANSWERED, Ended, Outcome, Row
from golden.model import Planned
from snapshots import dialects
from snapshots.console import neutral, shorten
from snapshots.errors import GraderFault, StoreError, WhichclockError
from snapshots.store import Found, Store

Identity = tuple[str, int]
_STORED = ANSWERED - {Outcome.ASKED}
_ASKED = _STORED - {Outcome.REPLAYED}
_CUT = frozenset({"length", "max_tokens", "max_output_tokens", "MAX_TOKENS"})
_LONGEST_BEGINNING = 60
_CHUNK = 256
_LOOK = "look at the grader, or at what it asks"
_LIMIT = "the answer was cut at its limit: raise max_tokens of the target or of the grader's request"
_ONCE = "the grader cannot read the answer"
_TWICE = "the answer was asked for again, and the grader cannot read the new one either"


@dataclass(frozen=True, slots=True)
class Rounds:
    """What the rounds need of their run.

    Attributes:
        judges: the graders.
        store: where answers are.
        jobs: the identities of the run; those that graders ask for are added.
        ended: how each has ended.
        answer: answers jobs; of those in the second argument the recorded answer is none.
        is_over: tells whether nothing more is asked.
        faults: takes the rows of graders that failed to say what they ask.
        changed: told of what has ended otherwise than was thought.
    """

    judges: Judges
    store: Store
    jobs: Jobs
    ended: dict[Identity, Ended]
    answer: Callable[[list[Job], set[Identity]], None]
    is_over: Callable[[], bool]
    faults: list[Row]
    changed: Callable[[list[tuple[Job, Ended]]], None]

    def run(self, planned: Sequence[Planned]) -> None:
        """Answer what the graders of the planned rows ask, round by round, until they ask for nothing more."""
        rows = self._completed(planned)
        while rows and not self.is_over():
            told = self.judges.round(rows)
            self.faults.extend(fault_row(*fault) for fault in told.faults)
            if not told.wanted:
                return
            self.answer(self.jobs.add(told.wanted), told.unusable)
            self._look_again(rows, told)

    def _completed(self, planned: Sequence[Planned]) -> dict[int, tuple[Planned, Found]]:
        """Return the rows whose answer is in the store, by their place."""
        rows: dict[int, tuple[Planned, Found]] = {}
        for job in self.jobs.all:
            ended = self.ended.get(job.identity)
            if ended is None or ended.outcome not in _STORED:
                continue
            try:
                found = self.store.current(*job.identity)
            except StoreError:
                continue  # told already, by the row itself
            rows.update((place, (planned[place], found)) for place in job.rows if found is not None)
        return dict(sorted(rows.items()))

    def _look_again(self, rows: dict[int, tuple[Planned, Found]], told: Round) -> None:
        """Ask once more for what was asked once and cannot be read, and fail what cannot be read then."""
        wanted = {(row.rendered.request_hash, row.planned.trial) for row in told.wanted}
        looked_at = self._in(wanted, _ASKED) | self._in(told.unusable, ANSWERED)
        if not looked_at or self.is_over():
            return
        asking = {(row.planned.case.id, row.planned.trial) for row in told.wanted}
        again = {n: row for n, row in rows.items() if (row[0].case.id, row[0].trial) in asking}
        bad = looked_at & self._still_unusable(again)
        first = {key: self.ended[key] for key in bad}
        self._fail(bad - told.unusable, first, _ONCE)
        self._fail(bad & told.unusable, first, _TWICE)
        once = [job for job in self.jobs.all if job.identity in bad - told.unusable]
        if once:
            self.answer(once, {job.identity for job in once})
            self._judge_second(once, first, again)

    def _judge_second(
        self, once: list[Job], first: dict[Identity, Ended], rows: dict[int, tuple[Planned, Found]]
    ) -> None:
        """End what was asked for a second time: it is one request, so that it ends as its first answer would have."""
        keys = {job.identity for job in once}
        answered = self._in(keys, _ASKED)
        bad = answered & self._still_unusable(rows) if answered else set[Identity]()
        self._fail(bad, first, _TWICE)
        self._fail(keys - answered, first, _ONCE)
        good = [job for job in once if job.identity in answered - bad]
        for job in good:
            key = job.identity
            self.ended[key] = replace(self.ended[key], outcome=first[key].outcome)
        self.changed([(job, self.ended[job.identity]) for job in good])

    def _still_unusable(self, rows: dict[int, tuple[Planned, Found]]) -> set[Identity]:
        found: set[Identity] = set()
        numbers = list(rows)
        for start in range(0, len(numbers), _CHUNK):
            try:
                found |= self.judges.still_unusable({n: rows[n] for n in numbers[start : start + _CHUNK]})
            except GraderFault:
                continue  # the next round tells whose it is
        return found

    def _in(self, keys: Iterable[Identity], outcomes: frozenset[Outcome]) -> set[Identity]:
        return {key for key in keys if key in self.ended and self.ended[key].outcome in outcomes}

    def _fail(self, keys: set[Identity], first: dict[Identity, Ended], why: str) -> None:
        failed: list[tuple[Job, Ended]] = []
        for job in self.jobs.all if keys else ():
            if job.identity in keys:
                words, hint = self._beginning(job)
                answer = self.ended[job.identity].answer_hash or first[job.identity].answer_hash
                failed.append((job, Ended(Outcome.FAILED, answer, f"{why}: {words}", hint)))
        self.ended.update((job.identity, ended) for job, ended in failed)
        self.changed(failed)

    def _beginning(self, job: Job) -> tuple[str, str]:
        """Return how the current answer ended and begins, neutral, and the remedy."""
        select = job.planned.target.select
        try:
            found = self.store.current(*job.identity, fresh=True)
            if found is None:
                return "it is not in the store any more", _LOOK
            snapshot = self.store.read(found)
            reader, _ = dialects.reader_for(snapshot.request, snapshot.response, select)
            answer = dialects.read(reader, snapshot.response, select).first
        except WhichclockError as error:
            return neutral(error.message), _LOOK
        reason = f"finish reason {shorten(neutral(answer.finish_reason), 40)}; " if answer.finish_reason else ""
        text = f"it begins {shorten(neutral(answer.text), _LONGEST_BEGINNING)}" if answer.text else "it has no text"
        return f"{reason}{text}", _LIMIT if answer.finish_reason in _CUT else _LOOK
