"""File the results of a batch under the requests that were asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from capture import plan
from capture.accept import Answer, judge
from capture.ask import Answered
from capture.batch import MANIFEST, Result, custom_id, read_manifest, read_results
from capture.modes import Mode
from capture.options import CaptureOptions
from capture.phase import Asks, Todo
from capture.plan import Job, Wanted
from capture.result import CaptureResult, Ended, Outcome
from capture.run import capture_rows
from capture.storable import Storable
from golden.model import Case, Planned, Suite
from golden.render import Rendered
from snapshots import console
from snapshots.errors import UsageError

_LONGEST_REASON = 300


def batch_in(suite: Suite, planned: Sequence[Planned], options: CaptureOptions, file: Path) -> CaptureResult:
    """File the results in a file of answers or errors; nothing is asked.

    Args:
        suite: the suite.
        planned: today's rows; they say what was asked where no manifest stands beside the file.
        options: as for a capture.
        file: the downloaded file.

    Raises:
        UsageError: the file cannot be read, holds no result, or none of this suite's.
    """
    results, faults = read_results(file)
    known = _known(suite, planned, file.parent / MANIFEST)
    by_id: dict[str, Result] = {}
    warnings = list(faults)
    for result in results:
        if result.custom_id not in known:
            warnings.append(f"{result.custom_id!r} is no request of this batch; it is left out")
        elif result.custom_id in by_id and by_id[result.custom_id].reply is not None:
            warnings.append(f"{result.custom_id!r} has two results; the first answer counts")
        else:
            by_id[result.custom_id] = result
    if not by_id:
        raise UsageError(
            f"{file} holds no result of this suite{f': {warnings[0]}' if warnings else ''}",
            hint="put the downloaded file beside the manifest.jsonl that --batch-out wrote",
        )
    rows = [known[name] for name in known if name in by_id]

    @asynccontextmanager
    async def results_of(_todo: Todo) -> AsyncGenerator[Asks]:
        yield _Results(suite, by_id)

    filing = replace(options, mode=Mode.LIVE, judges=Mode.OFF, resume=None, asker=results_of)
    made = capture_rows(suite, rows, filing)
    silent = len(known) - len(by_id)
    if silent and len(known) > len(by_id):
        warnings.append(f"{silent} requests of the batch have no result in this file")
    return replace(made, warnings=(*made.warnings, *warnings), calls=0)


def _known(suite: Suite, planned: Sequence[Planned], manifest: Path) -> dict[str, Wanted]:
    """Return what may have been asked, by id: the manifest's requests, else today's."""
    if not manifest.exists():
        return {custom_id(job.request_hash, job.trial): _first(job) for job in plan.jobs(suite, planned)}
    cases = {case.id: case for case in suite.cases}
    known: dict[str, Wanted] = {}
    for listed in read_manifest(manifest, suite.name):
        target = suite.targets.get(listed.target)
        if target is None:
            raise UsageError(f"the batch asked target {listed.target!r}, which the suite has no more")
        for case_id in listed.cases[:1]:
            case = cases.get(case_id) or Case(case_id, f"case {case_id!r}")
            rendered = Rendered(listed.request, listed.request_hash, listed.request_hash, (), suite, case, target)
            known[listed.custom_id] = Wanted(Planned(case, target, listed.trial), rendered)
    return known


def _first(job: Job) -> Wanted:
    return Wanted(job.planned, job.rendered)


class _Results:
    """Answers each identity with its result."""

    def __init__(self, suite: Suite, results: dict[str, Result]) -> None:
        self._results = results
        self._storable = Storable(suite.redaction)

    async def ask(self, job: Job) -> Answered | Ended:
        result = self._results[custom_id(job.request_hash, job.trial)]
        if result.reply is None:
            return Ended(Outcome.FAILED, error=f"the batch has no answer: {_shown(result.error)}", hint=_AGAIN)
        document = job.rendered.document
        verdict = judge(result.reply, document, job.planned.target)
        if not isinstance(verdict, Answer):
            return Ended(Outcome.FAILED, error=_shown(verdict.reason), hint=_AGAIN)
        kept = self._storable.response(document, verdict.response)
        return kept if isinstance(kept, Ended) else Answered(kept, verdict.model, None, 1)


_AGAIN = "what is not recorded is written to the next batch: whichclock capture --batch-out DIR"


def _shown(reason: str) -> str:
    return console.shorten(console.neutral(reason), _LONGEST_REASON)
