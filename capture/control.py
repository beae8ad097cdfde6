"""Control captures: the *old* requests, asked again today, so that a diff can tell a prompt that was edited from a model that moved.

A revision brings its own suite, and so the whole request. A results file brings hashes only: the body comes from the store,
and the rest from today's target, if that still gives the same key.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

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
from snapshots.pointer import differing
from snapshots.store import Store

_POINTERS = 5
_GIT = "git:"
_REDACTED = "[redacted"
_ASK_REVISION = "name the revision that rendered it: --control git:REV"


@dataclass(frozen=True, slots=True)
class _Old:
    """A row of a results file."""

    case_id: str
    target: str
    trial: int
    request_hash: str


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
        selection: cases, targets, tags and trials; of a results file it picks among the rows that are there.

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
    for row, tags in _rows(suite, labels.resolve(ref, suite.results).path, ref):
        if not _is_selected(selection, row, tags):
            continue
        if row.request_hash not in documents:
            documents[row.request_hash] = _recorded(store, row.request_hash)
        _take(suite, found, row, documents[row.request_hash])
    if not found.wanted and not found.lost:
        raise plan.nothing()
    return found


def _is_selected(selection: Selection, row: _Old, tags: list[str]) -> bool:
    cases = selection.cases
    return (
        (not cases or row.case_id in cases or any(fnmatchcase(row.case_id, name) for name in cases))
        and (not selection.targets or row.target in selection.targets)
        and (not selection.tags or not set(selection.tags).isdisjoint(tags))
        and (selection.trials is None or row.trial < selection.trials)
    )


def _rows(suite: Suite, path: Path, ref: str) -> Iterator[tuple[_Old, list[str]]]:
    import pyarrow as pa

    from snapshots.columnar import parquet_file

    names = ["case_id", "target", "trial", "request_hash", "tags"]
    try:
        with parquet_file(path) as file:
            table = file.read(columns=names)
        told = strict_json.loads((table.schema.metadata or {}).get(b"whichclock", b""))
    except (OSError, pa.ArrowException, AuthorError):
        raise RefError(f"{ref} is no results file", hint="make one with: whichclock grade --save LABEL") from None
    if not isinstance(told, dict) or any(name not in table.column_names for name in names):
        raise RefError(f"{ref} is no results file of this tool", hint="make one with: whichclock grade --save LABEL")
    _require_same(suite, told.get("suite"), ref)
    columns = (table.column(name).to_pylist() for name in names)
    for case_id, target, trial, request_hash, tags in zip(*columns, strict=True):
        yield _Old(str(case_id), str(target), int(trial or 0), str(request_hash)), list(tags or ())


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
        body = document.get("body", document.get("stdin"))
        if not isinstance(body, dict):
            return "its recorded request has no JSON body"
        if "variables" in document or _REDACTED in unquote(canonical.encode(document).decode()).lower():
            return "the recorded request does not hold all that was sent (a variable, or something redacted)"
        return document
    return "its request is not in the store"


def _take(suite: Suite, found: Control, row: _Old, document: dict[str, Any] | str) -> None:
    rendered = document if isinstance(document, str) else _rendered(suite, row, document)
    if isinstance(rendered, Rendered):
        planned = Planned(_case(row), suite.targets[row.target], row.trial)
        found.wanted.append(Wanted(planned, rendered))
        return
    lost = Row(row.case_id, row.target, row.trial, row.request_hash, None, Outcome.FAILED, False, rendered)
    found.lost.append(replace(lost, hint=_ASK_REVISION))


def _case(row: _Old, **members: Any) -> Case:
    return Case(row.case_id, f"case {row.case_id!r}", **members)


def _rendered(suite: Suite, row: _Old, document: dict[str, Any]) -> Rendered | str:
    """Return a recorded request as today's target would send it, or why that is another request."""
    if row.target not in suite.targets:
        return f"there is no target {row.target!r} any more"
    body, salt = document.get("body", document.get("stdin")), document.get("salt", {}).get("case")
    try:
        rendered = render(suite, _case(row, body=body, salt=salt), suite.targets[row.target])
    except ConfigError as error:
        return error.message
    if rendered.request_hash == row.request_hash:
        return rendered
    pointers = list(dict.fromkeys(differing(document, rendered.document)))[:_POINTERS]
    return f"target {row.target} asks otherwise now, at {', '.join(pointers) or 'the top'}"
