"""File the results of a batch under the requests that were asked."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from capture import plan
from capture.accept import Answer, judge
from capture.ask import Answered, unexpected
from capture.batch import MANIFEST, TYPES, Listed, Result, custom_id, read_manifest, read_results
from capture.modes import Asking, Mode, decide
from capture.options import CaptureOptions
from capture.phase import Asks, Todo
from capture.plan import Job, Wanted
from capture.result import ANSWERED, CaptureResult, Ended, Outcome, Row
from capture.run import capture_rows
from capture.storable import Storable
from golden.model import Case, Planned, Suite, Target
from golden.render import Rendered
from snapshots import console
from snapshots.errors import UsageError
from snapshots.store import Store

_LONGEST_REASON = 300
_SHOWN = 5
_UNLISTED = (
    f"no {MANIFEST} stands beside the file: what was asked is taken to be what today's suite asks; "
    "results of requests that were edited since are left out"
)
_AGAIN = "write what has no answer to a next batch: whichclock capture --batch-out DIR"
_OTHER_FILE = "file the other results of the batch too, errors included: whichclock capture --batch-in FILE"


def batch_in(suite: Suite, planned: Sequence[Planned], options: CaptureOptions, file: Path) -> CaptureResult:
    """File the results in a file of answers or errors; nothing is asked.

    Every request of the batch is a row. One without a result in the file is ``replayed`` where its answer is recorded
    already, else ``missed``.

    Args:
        suite: the suite.
        planned: today's rows; they say what was asked where no manifest stands beside the file.
        options: as for a capture.
        file: the downloaded file.

    Raises:
        UsageError: the file cannot be read, holds no result, or none of this batch's.
    """
    results, warnings = read_results(file)
    manifest = file.parent / MANIFEST
    is_listed = os.path.lexists(manifest)
    known = _of_manifest(suite, manifest) if is_listed else _of_today(suite, planned)
    by_id = _by_id(results, known, warnings)
    if not by_id:
        raise _nothing(file, results, warnings, is_listed=is_listed)
    rows = [row for name in known if name in by_id for row in known[name]]
    # Without a manifest nobody knows what was asked but that it went to these targets.
    targets = {row.planned.target.name for row in rows}
    silent = [row for name in known if name not in by_id for row in known[name] if is_listed or _is_of(row, targets)]
    if not is_listed:
        warnings.insert(0, _UNLISTED)

    @asynccontextmanager
    async def results_of(_todo: Todo) -> AsyncGenerator[Asks]:
        yield _Results(suite, by_id)

    filing = replace(options, mode=Mode.LIVE, judges=Mode.OFF, resume=None, asker=results_of)
    made = capture_rows(suite, rows, filing, list(_silent(suite, silent)))
    filed = made.rows[: len(rows)]
    answered = sum(row.outcome in ANSWERED and not row.shared for row in filed)
    asked = len(by_id) + len({(row.rendered.request_hash, row.planned.trial) for row in silent})
    told = [] if answered == asked else [f"{file.name}: {answered} of {asked} answered"]
    return replace(made, warnings=(*made.warnings, *_few(warnings), *told))


def _is_of(row: Wanted, targets: set[str]) -> bool:
    return row.planned.target.name in targets and row.planned.target.type in TYPES


def _by_id(results: Iterable[Result], known: dict[str, list[Wanted]], warnings: list[str]) -> dict[str, Result]:
    """Return the result of each request that has one: its first answer, else the last reason why there is none."""
    by_id: dict[str, Result] = {}
    for result in results:
        before = by_id.get(result.custom_id)
        if result.custom_id not in known:
            warnings.append(f"{_shown(result.custom_id)!r} is no request of this batch; it is left out")
        elif before is not None and before.is_answer:
            warnings.append(f"{result.custom_id!r} has two results; the first answer counts")
        else:
            by_id[result.custom_id] = result
    return by_id


def _few(warnings: list[str]) -> list[str]:
    more = len(warnings) - _SHOWN
    return warnings if more <= 0 else [*warnings[:_SHOWN], f"… and {more} more lines of the file are left out"]


def _nothing(file: Path, results: Sequence[Result], warnings: list[str], *, is_listed: bool) -> UsageError:
    if not results and not warnings:
        return UsageError(
            f"{file} is empty",
            hint="a batch without a single answer has its reasons in the file of errors: download that one",
        )
    if not results:
        return UsageError(f"{file} holds no result: {warnings[0]}", hint="name the file that was downloaded")
    if is_listed:
        hint = f"it is of another batch than {MANIFEST} beside it"
    else:
        hint = f"put it into the folder of {MANIFEST} that --batch-out wrote: the suite may have changed since"
    return UsageError(f"{file} holds no result of this batch: {warnings[0]}", hint=hint)


def _of_today(suite: Suite, planned: Sequence[Planned]) -> dict[str, list[Wanted]]:
    """Return what today's suite would ask, by id."""
    known: dict[str, list[Wanted]] = {}
    for row in plan.wanted(suite, planned):
        known.setdefault(custom_id(row.rendered.request_hash, row.planned.trial), []).append(row)
    return known


def _of_manifest(suite: Suite, manifest: Path) -> dict[str, list[Wanted]]:
    """Return what was asked, by id."""
    cases = {case.id: case for case in suite.cases}
    return {
        listed.custom_id: [_wanted(suite, listed, cases.get(name) or Case(name, "")) for name in listed.cases]
        for listed in read_manifest(manifest, suite.name)
    }


def _wanted(suite: Suite, listed: Listed, case: Case) -> Wanted:
    # A target that is gone, or speaks another dialect by now, is known well enough to read its answers.
    target = suite.targets.get(listed.target)
    if target is None or target.type != listed.type:
        target = Target(listed.target, listed.type)
    rendered = Rendered(listed.request, listed.request_hash, listed.request_hash, (), suite, case, target)
    return Wanted(Planned(case, target, listed.trial), rendered)


def _silent(suite: Suite, rows: Iterable[Wanted]) -> Iterable[Row]:
    """Yield how the rows stand that have no result in the file."""
    store = Store(suite.snapshots)
    seen: set[tuple[str, int]] = set()
    for row in rows:
        planned, key = row.planned, (row.rendered.request_hash, row.planned.trial)
        ended = decide(store, *key, Mode.AUTO)
        if isinstance(ended, Asking):
            ended = Ended(Outcome.MISSED, error="no result in this file, and nothing is recorded", hint=_OTHER_FILE)
        yield Row(
            planned.case.id, planned.target.name, planned.trial, key[0], ended.answer_hash, ended.outcome, key in seen,
            ended.error, ended.hint,
        )  # fmt: skip
        seen.add(key)


class _Results:
    """Answers each identity with its result."""

    def __init__(self, suite: Suite, results: dict[str, Result]) -> None:
        self._results = results
        self._storable = Storable(suite.redaction)

    async def ask(self, job: Job) -> Answered | Ended:
        try:
            return self._answer(job)
        except Exception as error:
            return unexpected(error)

    def _answer(self, job: Job) -> Answered | Ended:
        result = self._results[custom_id(job.request_hash, job.trial)]
        if result.reply is None:
            return Ended(Outcome.FAILED, error=f"the batch has no answer: {self._shown(result.error)}", hint=_AGAIN)
        document = job.rendered.document
        verdict = judge(result.reply, document, job.planned.target)
        if not isinstance(verdict, Answer):
            return Ended(Outcome.FAILED, error=self._shown(verdict.reason), hint=_AGAIN)
        if refused := self._storable.refuse_request(document):
            return refused
        kept = self._storable.response(document, verdict.response)
        return kept if isinstance(kept, Ended) else Answered(kept, verdict.model, None, 1)

    def _shown(self, reason: str) -> str:
        return _shown(self._storable.message(reason))


def _shown(reason: str) -> str:
    return console.shorten(console.neutral(reason), _LONGEST_REASON)
