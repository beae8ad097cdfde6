"""What graders ask for: told round by round by a worker that reads what is recorded, and turned into rows of a capture.

A grader is asked again after each round, for its next requests may depend on the answers to the ones before. Only the
lowest round that is not done yet is asked for: what hangs on an answer that may still move is not paid for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from capture.modes import Mode
from capture.options import CaptureOptions
from capture.plan import Wanted
from capture.result import Outcome, Row
from golden import asking_check, expectation
from golden.asking import Declared, State
from golden.closure import closure
from golden.model import Case, Planned, Suite
from golden.recorded import rendered
from golden.render import Rendered, render
from golden.worker_process import WorkerProcess, job_of
from snapshots.errors import GraderFault
from snapshots.store import Found

_WORD = re.compile(rb"\basks\b")
_CHUNK = 256


@dataclass(slots=True)
class Round:
    """What a round brings: rows to be answered, which of them have an answer that its grader cannot read, and faults."""

    wanted: list[Wanted] = field(default_factory=list[Wanted])
    unusable: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    faults: list[tuple[Planned, str]] = field(default_factory=list[tuple[Planned, str]])


def any_asks(suite: Suite, planned: Iterable[Planned]) -> bool:
    """Tell whether a check of these cases asks, or a grader may: whether the word stands in the code that they run.

    A worker costs a third of a second to start; suites whose graders only read pay nothing.
    """
    cases = {id(row.case): row.case for row in planned}.values()
    if any(asking_check.any_asks(case.checks) for case in cases):
        return True
    if not any(case.graders for case in cases):
        return False
    files = {path for file in suite.graders for path in (file, *closure(file, suite.root).modules.values())}
    return any(_WORD.search(path.read_bytes()) for path in files)


def is_judged(case: Case) -> bool:
    """Tell whether a case has anything that may ask: a grader, or a check that does."""
    return bool(case.graders) or asking_check.any_asks(case.checks)


def fault_row(planned: Planned, error: str) -> Row:
    """Return the row of a grader that failed to say what it asks."""
    hint = "mend the grader: asks is a pure function"
    return Row(
        planned.case.id, planned.target.name, planned.trial, None, None, Outcome.FAILED, False, error, hint, asked=""
    )


def judges_mode(options: CaptureOptions) -> Mode:
    """Return the mode for what graders ask: as told, else that of the run where it must not ask or store, else ``auto``."""
    if options.judges is not None:
        return options.judges
    return options.mode if options.mode in (Mode.REPLAY, Mode.OFF) else Mode.AUTO


def _redacted(suite: Suite, planned: Iterable[Planned]) -> set[str]:
    """Return the keys of completions that were sent otherwise than they are kept: what they are kept as was never asked."""
    if not suite.redaction:
        return set()
    pairs = {(row.case.id, row.target.name): row for row in planned}
    made = (render(suite, row.case, row.target) for row in pairs.values())
    return {one.request_hash for one in made if one.sent_hash != one.request_hash}


class Judges:
    """The graders of a suite in a worker of their own. Use as a context.

    Raises:
        ConfigError: the graders do not load, or a case names none of them.
    """

    def __init__(self, suite: Suite, planned: Sequence[Planned]) -> None:
        self._suite = suite
        self._redacted = _redacted(suite, planned)
        self._expectations: dict[tuple[str, str], str] = {}
        self._done: set[tuple[int, str]] = set()
        self._failed: set[int] = set()
        names = {name: str(row.case.place) for row in planned for name in row.case.graders}
        self._process = WorkerProcess("golden.ask_worker", job_of(suite, names), want_sources=False)
        try:
            self._process.hello()
        except BaseException:
            self._process.stop()
            raise

    def __enter__(self) -> Judges:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stop()

    def round(self, rows: Mapping[int, tuple[Planned, Found]]) -> Round:
        """Return what the graders of some completions ask for next.

        Args:
            rows: by a number that stays the same from round to round: the planned row, and its recorded answer.
        """
        told = Round()
        numbers = [number for number in rows if number not in self._failed and is_judged(rows[number][0].case)]
        for start in range(0, len(numbers), _CHUNK):
            chunk = numbers[start : start + _CHUNK]
            answer = self._asked([rows[number] for number in chunk])
            for number, row in zip(chunk, answer, strict=True):
                self._take(number, rows[number][0], row, told)
        return told

    def _asked(self, rows: list[tuple[Planned, Found]]) -> list[dict[str, Any]]:
        limit = 60 + max(60.0, 10 * self._suite.grader_timeout_s) * len(rows)
        self._process.send({"rows": [self._message(*row) for row in rows]})
        answer = self._process.receive(limit)
        if answer is not None and len(answer.get("rows", ())) == len(rows):
            return answer["rows"]
        self._process.restart()
        if len(rows) > 1:  # one of them ends the process: find out which
            return [self._asked([row])[0] for row in rows]
        return [{"put": [], "faults": [f"a grader ended its worker process ({self._process.last_words})"]}]

    def _message(self, planned: Planned, found: Found) -> dict[str, Any]:
        key = planned.case.id, planned.target.name
        if key not in self._expectations:
            self._expectations[key] = expectation.expectation(self._suite, planned.case, planned.target)
        return {
            "expectation": self._expectations[key],
            "graders": list(planned.case.graders),
            "path": found.path,
            "folder": found.folder,
            "name": found.name,
            "shown": found.shown,
        }

    def _take(self, number: int, planned: Planned, row: Mapping[str, Any], told: Round) -> None:
        """Add the requests of the lowest round of each grader that has any that is not done."""
        for fault in row["faults"]:
            self._failed.add(number)
            told.faults.append((planned, fault))
        lowest: dict[str, int] = {}
        for put in row["put"]:
            declared = Declared(put["grader"], put["name"], put["target"], put["request"], put["salt"])
            if (number, declared.label) in self._done:
                continue
            if lowest.setdefault(declared.grader, put["round"]) != put["round"]:
                continue
            self._done.add((number, declared.label))
            try:
                request = self._rendered(declared)
            except GraderFault as fault:
                self._failed.add(number)
                told.faults.append((planned, f"{declared.grader}: {fault.message}"))
                continue
            target = self._suite.targets[declared.target]
            told.wanted.append(Wanted(Planned(planned.case, target, planned.trial), request, declared.label))
            if put["state"] == State.UNUSABLE.value:
                told.unusable.add((request.request_hash, planned.trial))

    def _rendered(self, declared: Declared) -> Rendered:
        request = rendered(self._suite, declared)
        if request.request_hash in self._redacted:
            raise GraderFault(
                f"its request {declared.name!r} is a case's own, without what redaction took out: "
                "it would be answered by what that case was answered; give the grader a salt"
            )
        return request

    def still_unusable(self, rows: Mapping[int, tuple[Planned, Found]]) -> set[tuple[str, int]]:
        """Return the identities whose answers, asked anew, their graders cannot read either."""
        found: set[tuple[str, int]] = set()
        numbers = [number for number in rows if number not in self._failed]
        for number, row in zip(numbers, self._asked([rows[n] for n in numbers]), strict=True):
            for put in row["put"]:
                if put["state"] == State.UNUSABLE.value:
                    declared = Declared(put["grader"], put["name"], put["target"], put["request"], put["salt"])
                    found.add((rendered(self._suite, declared).request_hash, rows[number][0].trial))
        return found
