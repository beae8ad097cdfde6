"""The two sides of a diff: what a REF stands for, as a table, with the stores and the code behind it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from diff import bundle
from golden import labels, render
from golden.model import Selection, Suite
from golden.revision import Repository
from golden.suite import load_suite, select
from grade import command, table
from grade.pool import Job
from snapshots.errors import AuthorError, CorruptSnapshot, RefError, StoreError, UsageError
from snapshots.store import Store

CodeOf = Callable[[frozenset[str]], Job | None]
SourceOf = Callable[[str], dict[str, Any] | None]


@dataclass(slots=True)
class Side:
    """One side. ``name`` is how reports call it, ``notes`` what they must add.

    ``documents`` holds the request documents that were rendered for this side; ``stores`` are where its answers are. ``code`` returns the
    job that runs this side's own graders, given the digests it must have, or ``None`` where that is not at hand; ``source`` returns the
    source bundle of a digest; ``loaded`` is its suite, where the cases are at hand: not for saved runs.
    """

    ref: str
    name: str
    rows: pa.Table
    suite: str
    selected: bool
    runtime: Mapping[str, str]
    stores: list[Store]
    documents: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    order: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    notes: list[str] = field(default_factory=list[str])
    code: CodeOf = lambda _digests: None
    source: SourceOf = lambda _digest: None
    loaded: Suite | None = None

    def document(self, request_hash: str) -> dict[str, Any] | None:
        """Return the request document of a hash, rendered or recorded, or ``None`` where it is not at hand."""
        if request_hash in self.documents:
            return self.documents[request_hash]
        for store in self.stores:
            for found in store.walk(request_hash):
                try:
                    return store.read(found).request
                except (CorruptSnapshot, StoreError):
                    continue  # grade reports the damage; another observation holds the same request
        return None

    def response(self, row: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return request and response of the very observation a row judged, or ``None``."""
        if not row["integrity"]:
            return None
        for store in self.stores:
            found = store.find(row["request_hash"], row["trial"], row["integrity"])
            if found is not None:
                try:
                    snapshot = store.read(found)
                except (CorruptSnapshot, StoreError):
                    continue  # reported by grade; here only the comparison of bodies is lost
                return snapshot.request, snapshot.response
        return None


class Sides:
    """Makes sides from REFs; a context, for revisions are extracted into folders that go when it ends.

    ``cases`` are the only ones that are graded, where a side is graded at all; none means all.
    """

    def __init__(self, suite: Suite, *, jobs: int = 0, cases: tuple[str, ...] = ()) -> None:
        self._suite = suite
        self._jobs = jobs
        self._cases = cases
        self._stack = ExitStack()

    def __enter__(self) -> Sides:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def of(self, ref: str | None) -> Side:
        """Return the side that a REF names; ``None`` is the working tree, graded now.

        Raises:
            RefError: it names nothing, or a run of another suite.
        """
        if ref is None:
            return self._graded("the working tree", "the working tree", self._suite)
        if ref.startswith("git:"):
            return self._revision(ref)
        return self._saved(ref)

    def _saved(self, ref: str) -> Side:
        try:
            run = labels.resolve(ref, self._suite.results)
        except RefError as error:
            if not ref.endswith(".parquet") and self._is_revision(ref):
                raise RefError(error.message, hint=f"did you mean git:{ref}?") from None
            raise
        rows = table.read(run.path)
        told = table.metadata(rows, run.path)
        if told["suite"] != self._suite.name:
            raise RefError(
                f"{ref} is a run of the suite {told['suite']!r}, this is {self._suite.name!r}",
                hint="two suites are never compared",
            )
        return Side(
            ref,
            ref,
            rows,
            told["suite"],
            told.get("selection") is not None,
            told.get("runtime") or {},
            [Store(self._suite.snapshots)],
            code=lambda digests: self._bundled(run.sources, digests),
            source=lambda digest: bundle.read(run.sources / f"{digest}.json"),
        )

    def _is_revision(self, ref: str) -> bool:
        try:
            Repository(self._suite.root).commit(ref)
        except RefError:
            return False
        return True

    def _bundled(self, sources: Path, digests: frozenset[str]) -> Job | None:
        """Write the source bundles of the given digests into a folder and return the job that runs them."""
        folder = self._folder()
        entries = bundle.unpack(sources, digests, folder)
        if entries is None:
            return None
        suite = self._suite
        return Job(
            folder,
            tuple(entries),
            {},
            suite.grader_timeout_s,
            suite.grader_memory_mb,
            suite.targets,
            suite.snapshots,
            suite.redaction,
        )

    def _revision(self, ref: str) -> Side:
        repository = Repository(self._suite.root)
        commit = repository.commit(ref.removeprefix("git:"))
        folder = self._folder()
        repository.extract(commit, folder)
        config = folder / self._suite.config.name
        if not config.is_file():
            raise RefError(f"{ref} ({commit[:12]}) has no {self._suite.config.name}")
        try:
            suite = load_suite(config, environ=_of_the_tree())
        except AuthorError as error:
            raise _at(ref, error, folder) from None
        if suite.name != self._suite.name:
            raise RefError(
                f"{ref} holds the suite {suite.name!r}, this is {self._suite.name!r}",
                hint="two suites are never compared",
            )
        notes: list[str] = []
        store = suite.snapshots
        if not store.is_relative_to(folder) or not (store / "sha256").is_dir():
            store = self._suite.snapshots
            notes.append(f"{ref} holds no snapshots; its answers are read from the configured store")
        try:
            return self._graded(ref, f"{ref} ({commit[:12]})", suite, store=store, notes=notes)
        except AuthorError as error:
            raise _at(ref, error, folder) from None

    def _graded(
        self, ref: str, name: str, suite: Suite, *, store: Path | None = None, notes: list[str] | None = None
    ) -> Side:
        suite = suite if store is None else replace(suite, snapshots=store)
        cases = {case.id: case for case in suite.cases}
        wanted = tuple(name for name in self._cases if name in cases)
        if self._cases and not wanted:
            raise UsageError(f"{name} has no case {', '.join(self._cases)}")
        planned = select(suite, Selection(cases=wanted))
        plan = command.make_plan(suite, planned, None)
        graded = command.grade(suite, plan, Selection(), jobs=self._jobs, keep_table=True)
        if graded.table is None:
            raise RefError(f"{ref} has no rows")
        told = table.metadata(graded.table)
        side = Side(
            ref,
            name,
            graded.table,
            suite.name,
            False,
            told["runtime"],
            [Store(suite.snapshots)],
            notes=notes or [],
        )
        side.order = list(dict.fromkeys((row.case.id, row.target.name) for row in planned))
        side.documents = _Documents(
            {r.request_hash: (r.case_id, r.target) for r in plan.rows},
            lambda key: render.render(suite, cases[key[0]], suite.targets[key[1]]).document,
        )
        side.code = lambda _digests: command.job_of(suite, plan)
        side.source = graded.outcome.loaded.sources.get
        side.loaded = suite
        return side

    def _folder(self) -> Path:
        return Path(self._stack.enter_context(TemporaryDirectory(prefix="whichclock-"))).resolve()


def _of_the_tree() -> dict[str, str]:
    """Return the environment for a revision's suite: a store that the variable names is not the tree's own."""
    return {name: value for name, value in os.environ.items() if name != "WHICHCLOCK_SNAPSHOTS"}


def _at(ref: str, error: AuthorError, folder: Path) -> RefError:
    """Return an error of a revision's own files, told as such: they cannot be edited, and the folder they were written to goes."""
    message, hint = (
        text.replace(f"{folder}{os.sep}", "").replace(str(folder), "its root") for text in (error.message, error.hint)
    )
    return RefError(
        f"{ref} cannot be graded: {message}",
        hint=f"compare with another revision or a saved run; its own remedy: {hint}",
    )


class _Documents(dict[str, dict[str, Any]]):
    """Request documents by hash, rendered when one is asked for: most never are."""

    def __init__(self, keys: dict[str, tuple[str, str]], render: Callable[[tuple[str, str]], dict[str, Any]]) -> None:
        super().__init__()
        self._keys = keys
        self._render = render

    def __contains__(self, request_hash: object) -> bool:
        return request_hash in self._keys

    def __getitem__(self, request_hash: str) -> dict[str, Any]:
        return self._render(self._keys[request_hash])
