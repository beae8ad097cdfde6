"""Answers that were stored and that today's reader cannot read: kept, for a better reader may come, and told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from capture.plan import Job
from capture.result import Ended
from golden.remedy import record_command
from snapshots.console import neutral


def unreadable(jobs: Iterable[Job], ended: Mapping[tuple[str, int], Ended]) -> Iterator[str]:
    """Yield a warning for each target with such answers: how many, the first reason, and what asks again.

    Args:
        jobs: the identities of a run.
        ended: how each has ended.
    """
    by_target: dict[str, list[tuple[Job, str]]] = {}
    for job in jobs:
        end = ended.get(job.identity)
        if end is not None and end.unreadable is not None:
            by_target.setdefault(job.planned.target.name, []).append((job, end.unreadable))
    for name, found in by_target.items():
        job, reason = found[0]
        many = "1 answer was" if len(found) == 1 else f"{len(found)} answers were"
        # What a grader asks is asked again with the case that it judges.
        again = f"--mode live {record_command([job.planned.case.id]).removeprefix('whichclock capture ')}"
        if job.asked:
            again = again.replace("--mode", "--judges", 1)
        yield (
            f"target {neutral(name)}: {many} stored that today's reader cannot read, the first of case "
            f"{neutral(job.planned.case.id)} ({reason}); auto does not ask again: "
            f"mend the target, then whichclock capture {again}"
        )
