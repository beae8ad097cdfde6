"""Control captures: the *old* requests, asked again today, so that a diff can tell a prompt that was edited from a model that moved.

A revision brings its own suite, and so the whole request. A results file brings hashes only: the body comes from the store,
and the rest from today's target, if that still gives the same key.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from capture import plan
from capture.plan import Wanted
from capture.result import Outcome, Row
from golden import labels
from golden.model import Case, Planned, Selection, Suite
from golden.render import Rendered, render
from golden.revision import Repository
from golden.suite import load_suite, select
from snapshots import canonical, strict_json
from snapshots.errors import AuthorError, ConfigError, CorruptSnapshot, RefError, StoreError
from snapshots.store import Store

_GIT = "git:"
_PLACEHOLDERS = (b"${env:", b"[redacted")
_ASK_REVISION = "name the revision that rendered it: --control git:REV"


@dataclass(slots=True)
class Control:
    """The old requests: rows to be asked, and rows that cannot be asked any more, with the reason."""

    wanted: list[Wanted] = field(default_factory=list[Wanted])
    lost: list[Row] = field(default_factory=list[Row])


@contextmanager
def control(suite: Suite, ref: str, selection: Selection) -> Generator[Control]:
    """Yield the requests of a REF: a label, a results file, or ``git:REV``; its files are there while the context lasts.

    Args:
        suite: today's suite; its store is where answers go.
        ref: what to ask again.
        selection: cases, targets and tags; for a results file cases must be exact ids.

    Raises:
        RefError: the REF names nothing, or another suite's.
        UsageError: nothing of it is selected.
    """
    if ref.startswith(_GIT):
        with TemporaryDirectory(prefix="whichclock-") as folder:
            yield _of_revision(suite, ref, selection, Path(folder).resolve())
    else:
        yield _of_run(suite, ref, selection)


def _of_revision(suite: Suite, ref: str, selection: Selection, folder: Path) -> Control:
    repository = Repository(suite.root)
    commit = repository.commit(ref.removeprefix(_GIT))
    repository.extract(commit, folder)
    config = folder / suite.config.name
    if not config.is_file():
        raise RefError(f"{ref} ({commit[:12]}) has no {suite.config.name}")
    environ = {name: value for name, value in os.environ.items() if name != "WHICHCLOCK_SNAPSHOTS"}
    try:
        old = load_suite(config, environ=environ)
        _require_same(suite, old.name, ref)
        return Control(plan.wanted(old, select(old, selection)))
    except RefError:
        raise
    except AuthorError as error:
        where = str(folder) + os.sep
        raise RefError(f"{ref} cannot be asked again: {error.message.replace(where, '')}", hint=error.hint) from None


def _of_run(suite: Suite, ref: str, selection: Selection) -> Control:
    found = Control()
    documents: dict[str, dict[str, Any] | str] = {}
    store = Store(suite.snapshots)
    for case_id, target, trial, request_hash in _rows(suite, labels.resolve(ref, suite.results).path, ref):
        if (selection.cases and case_id not in selection.cases) or (
            selection.targets and target not in selection.targets
        ):
            continue
        if request_hash not in documents:
            documents[request_hash] = _recorded(store, request_hash)
        _take(suite, found, (case_id, target, trial, request_hash), documents[request_hash])
    if not found.wanted and not found.lost:
        raise plan.nothing()
    return found


def _rows(suite: Suite, path: Path, ref: str) -> Iterator[tuple[str, str, int, str]]:
    import pyarrow as pa
    from pyarrow import parquet

    names = ["case_id", "target", "trial", "request_hash"]
    try:
        with open(path, "rb") as file:
            table = parquet.ParquetFile(file).read(columns=names)
        told = strict_json.loads((table.schema.metadata or {}).get(b"whichclock", b""))
    except (OSError, pa.ArrowException, AuthorError):
        raise RefError(f"{ref} is no results file", hint="make one with: whichclock grade --save LABEL") from None
    if not isinstance(told, dict) or any(name not in table.column_names for name in names):
        raise RefError(f"{ref} is no results file of this tool", hint="make one with: whichclock grade --save LABEL")
    _require_same(suite, told.get("suite"), ref)
    yield from zip(*(table.column(name).to_pylist() for name in names), strict=True)


def _require_same(suite: Suite, other: Any, ref: str) -> None:
    if other != suite.name:
        raise RefError(f"{ref} is of the suite {other!r}, this is {suite.name!r}", hint="two suites are never mixed")


def _recorded(store: Store, request_hash: str) -> dict[str, Any] | str:
    """Return a request document from the store, or why it cannot be asked from there."""
    for found in store.walk(request_hash):
        try:
            document = store.read(found).request
        except (CorruptSnapshot, StoreError):
            continue  # another observation may hold the same request; grade reports the damage
        if any(mark in canonical.encode(document) for mark in _PLACEHOLDERS):
            return "the recorded request does not hold all that was sent (a variable, or something redacted)"
        return document
    return "its request is not in the store"


def _take(suite: Suite, found: Control, key: tuple[str, str, int, str], document: dict[str, Any] | str) -> None:
    case_id, target, trial, request_hash = key
    rendered = document if isinstance(document, str) else _rendered(suite, case_id, target, document)
    if isinstance(rendered, Rendered) and rendered.request_hash == request_hash:
        planned = Planned(Case(case_id, f"case {case_id!r}"), suite.targets[target], trial)
        found.wanted.append(Wanted(planned, rendered))
        return
    why = rendered if isinstance(rendered, str) else f"target {target} asks otherwise now (address, headers or salt)"
    found.lost.append(Row(case_id, target, trial, request_hash, None, Outcome.FAILED, False, why, hint=_ASK_REVISION))


def _rendered(suite: Suite, case_id: str, target: str, document: dict[str, Any]) -> Rendered | str:
    if target not in suite.targets:
        return f"there is no target {target!r} any more"
    body = document.get("body", document.get("stdin"))
    salt = document.get("salt", {}).get("case")
    if not isinstance(body, dict):
        return "it has no JSON body"
    try:
        return render(suite, Case(case_id, f"case {case_id!r}", body=body, salt=salt), suite.targets[target])
    except ConfigError as error:
        return error.message
