"""The worker that tells what graders ask for: it reads recorded answers and runs ``asks`` with the world closed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from golden import asking_check
from golden.asking import Put, interview
from golden.case_view import CaseView
from golden.closed_call import call_closed
from golden.loader import Grader, Graders
from golden.purity import Guard
from golden.recorded import Recorded, envelope_of
from golden.worker import Handle, serve
from snapshots import strict_json
from snapshots.envelope import Envelope
from snapshots.errors import CorruptSnapshot, GraderFault, StoreError, UnreadableSnapshot
from snapshots.snapshot import Snapshot
from snapshots.snapshot import read as read_snapshot
from snapshots.store import read_bytes


def main() -> None:
    """Serve one parent."""
    serve(_handle)


def _handle(setup: dict[str, Any], graders: Graders, guard: Guard) -> Handle:
    def handle(message: Any) -> Any:
        recorded = Recorded.from_setup(setup)  # anew for each message: the parent has recorded more meanwhile
        if recorded is None:
            raise ValueError("the set-up names no store")
        return {"rows": [_row(row, recorded, graders, guard) for row in message["rows"]]}

    return handle


def _row(row: dict[str, Any], recorded: Recorded, graders: Graders, guard: Guard) -> dict[str, Any]:
    """Return what the graders of one completion ask for, and what they did wrong."""
    put: list[dict[str, Any]] = []
    faults: list[str] = []
    try:
        file = read_bytes(row["path"])
        snapshot = read_snapshot(file, folder=row["folder"], name=row["name"], path=row["shown"])
        view = CaseView(strict_json.loads_own(row["expectation"].encode()))
        made = partial(envelope_of, snapshot, view.select)
        made()
    except (CorruptSnapshot, StoreError, UnreadableSnapshot) as error:
        return {"put": [], "faults": [error.message]}
    checks = asking_check.graders(view.checks, recorded.type_of)
    for grader in (*(graders.by_name[name] for name in row["graders"]), *checks):
        if grader.asks is not None:
            try:
                put += _asked(grader, snapshot, view, made, recorded, guard)
            except GraderFault as fault:
                faults.append(f"{grader.place}: {fault.message}")
    return {"put": put, "faults": faults}


def _asked(
    grader: Grader,
    snapshot: Snapshot,
    view: CaseView,
    made: Callable[[], Envelope],
    recorded: Recorded,
    guard: Guard,
) -> list[dict[str, Any]]:
    call = partial(call_closed, guard, snapshot.request_hash, view.now)
    held = interview(grader, lambda: (made(), view.of(snapshot)), call, recorded.row(snapshot.trial))
    return [_told(one) for one in held.put]


def _told(put: Put) -> dict[str, Any]:
    declared = put.declared
    return {
        "grader": declared.grader,
        "name": declared.name,
        "target": declared.target,
        "request": declared.request,
        "salt": declared.salt,
        "round": put.round,
        "state": put.state.value,
    }
