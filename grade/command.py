"""What ``grade`` does once its options are read: plan, run, write, and tell. Used by the command and by ``diff``."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from golden import worker_process
from golden.model import Planned, Selection, Suite
from grade import plan as planning
from grade.pool import Job, Loaded
from grade.reuse import Reuse, may_reuse
from grade.run import Outcome, Rows, run, runtime
from grade.shard import Shard
from snapshots import canonical
from snapshots.errors import StoreError
from snapshots.progress import bar
from snapshots.store import Store
from snapshots.version import TOOL

if TYPE_CHECKING:
    import pyarrow as pa

Tick = Callable[[int], None]
_LONG = 2000
"""Fewer rows are done before a bar could be read."""


@dataclass(frozen=True, slots=True)
class Graded:
    """A finished run. ``table`` is there only where it was asked for, ``path`` only where it was written."""

    outcome: Outcome
    plan: planning.Plan | None
    table: pa.Table | None = None
    temporary: Path | None = None


def job_of(suite: Suite, plan: planning.Plan) -> Job:
    """Return what the workers of a plan need to know of its suite."""
    needed = set(plan.names)
    names: dict[str, str] = {}
    for case in suite.cases:
        for name in needed.intersection(case.graders):
            names.setdefault(name, case.place)
    return worker_process.job_of(suite, names)


def make_plan(suite: Suite, planned: Iterable[Planned], frozen: pa.Table | None) -> planning.Plan:
    """Return the plan of the suite's current answers, or of the very answers that a saved run lists."""
    store = Store(suite.snapshots)
    if frozen is None:
        return planning.plan(suite, planned, store)
    return planning.frozen_plan(suite, planned, store, frozen)


def grade(
    suite: Suite,
    plan: planning.Plan,
    selection: Selection,
    *,
    jobs: int = 0,
    keep_table: bool = False,
    write_to: Path | None = None,
    tick: Tick | None = None,
    reuse: pa.Table | None = None,
    shard: Shard | None = None,
) -> Graded:
    """Judge a plan.

    Args:
        suite: the loaded suite.
        plan: what to judge.
        selection: how the plan was selected; it is written into the table.
        jobs: number of worker processes, 0 for a choice by size.
        keep_table: return the rows as an Arrow table.
        write_to: write the rows to a temporary file beside this path; the caller names it.
        tick: called with the number of rows done since the last call.
        reuse: the table of a saved run, whose rows are taken over where no clock has touched them.
        shard: which part of the suite the plan is; it is written into the table.

    Raises:
        ConfigError: the graders do not load.
        StoreError: the results cannot be written.
    """
    from grade import table

    whole = plan
    if shard is not None:
        plan = replace(plan, rows=shard.of(plan.rows))
    pieces: list[pa.Table] = []
    writers: list[table.Writer] = []

    def start(loaded: Loaded) -> Callable[[Rows], None]:
        schema = table.schema(_metadata(suite, selection, loaded, _part(whole, shard, loaded)))
        if write_to is not None:
            writers.append(table.Writer(write_to, schema))

        def sink(rows: Rows) -> None:
            piece = table.batch(rows, schema)
            for writer in writers:
                writer.write(piece)
            if keep_table:
                pieces.append(piece)

        return sink

    def saved(loaded: Loaded) -> Reuse | None:
        if reuse is None or not may_reuse(
            table.metadata(reuse), _metadata(suite, selection, loaded, _part(whole, shard, loaded))
        ):
            return None
        return Reuse(reuse)

    try:
        outcome = run(plan, job_of(suite, plan), jobs, start, tick=tick, reuse=saved)
    except BaseException:
        for writer in writers:
            writer.discard()
        raise
    rows = None
    if keep_table:
        import pyarrow

        rows = pyarrow.concat_tables(pieces)
    return Graded(outcome, plan, rows, writers[0].finish() if writers else None)


def _part(whole: planning.Plan, shard: Shard | None, loaded: Loaded) -> dict[str, Any]:
    """Return what a shard says of the run that it is a part of: the parts of one run say the same, but for their number."""
    if shard is None:
        return {}
    code = {name: loaded.digests[name] for name in whole.names}
    told = {"plan": whole.digest(), "graders": code, "rows": len(whole.rows)}
    return {"shard": str(shard), "of": told}


def _metadata(suite: Suite, selection: Selection, loaded: Loaded, part: dict[str, Any]) -> dict[str, Any]:
    chosen = {
        "cases": list(selection.cases),
        "targets": list(selection.targets),
        "tags": list(selection.tags),
    }
    return {
        "suite": suite.name,
        "selection": chosen if selection else None,
        "runtime": runtime(loaded),
        "tool": TOOL,
        **({"prices": _prices(suite)} if suite.prices else {}),
        **part,
    }


def _prices(suite: Suite) -> str:
    """Return the digest of the price sheet: costs in the table are of this one."""
    return canonical.digest({model: asdict(price) for model, price in suite.prices.items()})


def keep(graded: Graded, suite: Suite, *, label: str | None, out: Path | None) -> Path | None:
    """Give the written table its name under a label or as a file, with its source bundles, and return the path.

    Raises:
        StoreError: the disk refused.
    """
    from golden import labels

    temporary, sources = graded.temporary, graded.outcome.loaded.sources
    if temporary is None or (label is None and out is None):
        return None
    try:
        if label is not None:
            labels.write_sources(suite.results / labels.SOURCES, sources)
            return labels.save(temporary, suite.results, label)
        if out is not None:
            labels.write_sources(out.parent / labels.SOURCES, sources)
            temporary.replace(out)
    except OSError as error:
        raise StoreError(
            f"cannot write {out}: {error.strerror}", hint="check that it is no folder, and permissions"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)  # gone already where it got its name
    return out


@contextmanager
def progress(total: int, *, quiet: bool) -> Generator[Tick | None]:
    """Show a progress bar for long work on a terminal, and yield what counts it up."""
    with bar("grading", total, quiet=quiet or total < _LONG) as tick:
        yield tick
