"""Which commit moved a clock of one case: walk back until the case is no longer what it is now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from golden import expectation, render
from golden.model import Selection, Suite
from golden.revision import Repository
from golden.suite import load_suite, select
from golden.worker_process import job_of
from grade.plan import side_of
from grade.pool import Pool
from snapshots.errors import WhichclockError

DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Moved:
    """Where a clock moved. ``commit`` is ``None`` for changes that are not committed, or where the walk did not find it."""

    commit: str | None
    words: str


class Walk:
    """The history of one case × target, looked at commit by commit and remembered."""

    def __init__(self, suite: Suite, case_id: str, target: str) -> None:
        self._suite = suite
        self._case = case_id
        self._target = target
        self._repository = Repository(suite.root)
        self._history = self._repository.history("HEAD", DEEPEST)
        self._seen: dict[tuple[str, str], Any] = {}

    def blame(self, clock: str, now: Any) -> Moved:
        """Return the newest commit after which ``clock`` reads ``now`` and before which it reads something else.

        Args:
            clock: ``request``, ``expectation``, ``grader``, or ``targets`` for the configuration of judges.
            now: what it reads on the head side: a hash, a digest, the digests by grader name, or targets by name.
        """
        if not self._history:
            return Moved(None, "no commit touches the project")
        if self._at(clock, self._history[0][0], now) != now:
            return Moved(None, "not committed yet")
        for commit, subject in self._history:
            parent = self._repository.parent(commit)
            if parent is None or self._at(clock, parent, now) != now:
                return Moved(commit, f"{commit[:12]} {subject}")
        return Moved(None, f"before the last {len(self._history)} commits of the project")

    def _at(self, clock: str, commit: str, now: Any) -> Any:
        key = clock, commit
        if key not in self._seen:
            with TemporaryDirectory(prefix="whichclock-") as folder:
                self._seen[key] = self._read(clock, commit, now, Path(folder).resolve())
        return self._seen[key]

    def _read(self, clock: str, commit: str, now: Any, folder: Path) -> Any:
        """Return what a clock of the case reads at a commit, or the reason why it has no reading there."""
        try:
            self._repository.extract(commit, folder, without=self._store())
            suite = load_suite(folder / self._suite.config.name, snapshots=folder / "snapshots")
            rows = [r for r in select(suite, Selection()) if (r.case.id, r.target.name) == (self._case, self._target)]
            if clock == "targets":
                return {name: suite.targets.get(name) for name in now}
            return _READ[clock](suite, rows[0]) if rows else "no such case"
        except WhichclockError as error:
            return f"unreadable: {error.message}"

    def _store(self) -> PurePosixPath | None:
        store, root = self._suite.snapshots, self._suite.root
        return (
            PurePosixPath(store.relative_to(root).as_posix()) if store.is_relative_to(root) and store != root else None
        )

    def recording(self, path: Path) -> Moved:
        """Return the commit that added a snapshot file."""
        added = self._repository.adding_commit(path)
        return Moved(None, "not committed yet") if added is None else Moved(added[0], f"{added[0][:12]} {added[1]}")


def _request(suite: Suite, row: Any) -> str:
    return render.render(suite, row.case, row.target).request_hash


def _expectation(suite: Suite, row: Any) -> str:
    return expectation.digest(expectation.expectation(suite, row.case, row.target))


def _graders(suite: Suite, row: Any) -> dict[str, str]:
    side = side_of(suite, row)
    if not side.graders:
        return {}
    names: dict[str, str] = dict.fromkeys(side.graders, str(row.case.place))
    with Pool(job_of(suite, names), 1) as pool:
        return {name: pool.loaded.digests[name] for name in side.graders}


_READ: dict[str, Callable[[Suite, Any], Any]] = {"request": _request, "expectation": _expectation, "grader": _graders}
