"""What the graders and checks of a row ask for and nothing is recorded for.

A worker tells it: ``asks`` is foreign code and runs with the world closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from golden import expectation, render
from golden.asking import Declared, State
from golden.model import Planned, Suite
from golden.recorded import rendered
from golden.worker_process import WorkerProcess, job_of
from snapshots.errors import GraderFault
from snapshots.store import Store


class Lack(NamedTuple):
    """A request of a grader's or check's own without an answer. ``label`` is its name, ``document`` its request document."""

    label: str
    target: str
    document: dict[str, Any]


def lacking(suite: Suite, rows: Sequence[Planned]) -> list[list[Lack]]:
    """Return for each row what it lacks; nothing where a grader does not say or ends its worker, for grade has told of that.

    Raises:
        ConfigError: the graders do not load.
    """
    names = {name: str(row.case.place) for row in rows for name in row.case.graders}
    process = WorkerProcess("golden.ask_worker", job_of(suite, names), want_sources=False)
    try:
        process.hello()
        process.send({"rows": [_message(suite, row) for row in rows]})
        told = process.receive(60 + max(60.0, 10 * suite.grader_timeout_s) * len(rows))
    finally:
        process.stop()
    answers = [] if told is None else told.get("rows", [])
    return [_lacks(suite, row["put"]) for row in answers] if len(answers) == len(rows) else [[] for _ in rows]


def _message(suite: Suite, row: Planned) -> dict[str, Any]:
    request_hash = render.render(suite, row.case, row.target).request_hash
    found = Store(suite.snapshots).current(request_hash, row.trial)
    return {
        "expectation": expectation.expectation(suite, row.case, row.target),
        "graders": list(row.case.graders),
        "path": "" if found is None else found.path,  # gone meanwhile: the worker tells of no requests
        "folder": "" if found is None else found.folder,
        "name": "" if found is None else found.name,
        "shown": "" if found is None else found.shown,
    }


def _lacks(suite: Suite, put: Sequence[dict[str, Any]]) -> list[Lack]:
    lacks: list[Lack] = []
    for one in put:
        if one["state"] != State.UNANSWERED.value:
            continue
        declared = Declared(one["grader"], one["name"], one["target"], one["request"], one["salt"])
        try:
            lacks.append(Lack(declared.label, declared.target, dict(rendered(suite, declared).document)))
        except GraderFault:
            continue  # it cannot be asked at all, which is the grader's row to tell
    return lacks
