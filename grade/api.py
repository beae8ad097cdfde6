"""The Python API of grading: load a suite, read frozen envelopes, grade in memory, and take the results as a DataFrame."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from golden.model import Selection, Suite
from snapshots.envelope import Envelope
from snapshots.errors import OperatorError, UsageError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def load(config: str | os.PathLike[str] | None = None, *, snapshots: str | os.PathLike[str] | None = None) -> Suite:
    """Load a suite and check all of it.

    Args:
        config: the configuration file; found upwards from the working directory if not given.
        snapshots: another store than the configuration's.

    Returns:
        The suite: ``cases``, ``targets``, ``name``, ``root`` and where its snapshots and results are.

    Raises:
        UsageError: there is no configuration.
        ConfigError: anything in the suite's files is wrong; the message names file, line and JSON pointer.
    """
    from golden.suite import find_config, load_suite

    explicit = None if config is None else Path(config)
    return load_suite(find_config(explicit=explicit), snapshots=None if snapshots is None else Path(snapshots))


def envelope(suite: Suite, case_id: str, target: str | None = None, trial: int = 0) -> Envelope:
    """Return the current frozen answer of a case, as graders see it. Offline; needs no credentials.

    Args:
        suite: a loaded suite.
        case_id: exact id.
        target: the target's name; may be left out where the case has one target.
        trial: 0 for the plain one.

    Returns:
        A read-only mapping; ``latency_ms`` is in milliseconds, ``usage`` in tokens.

    Raises:
        UsageError: no such case, target or trial.
        OperatorError: nothing is recorded (the message says what records it), or the file is corrupt or unreadable.
    """
    from golden.recorded import envelope_of
    from golden.remedy import record_command
    from golden.render import render
    from golden.suite import select
    from snapshots.store import Store

    planned = select(suite, Selection(cases=(_exact(suite, case_id),), targets=() if target is None else (target,)))
    if len({row.target.name for row in planned}) > 1:
        names = ", ".join(dict.fromkeys(row.target.name for row in planned))
        raise UsageError(f"case {case_id!r} has several targets: {names}", hint="name one")
    row = planned[0]
    store = Store(suite.snapshots)
    found = store.current(render(suite, row.case, row.target).request_hash, trial)
    if found is None:
        raise OperatorError(
            f"no answer is recorded for case {case_id!r}, target {row.target.name}, trial {trial}",
            hint=f"record it with: {record_command([case_id], [row.target.name], trials=trial + 1)}",
        )
    return envelope_of(store.read(found), row.target.select)


def _exact(suite: Suite, case_id: str) -> str:
    if not any(case.id == case_id for case in suite.cases):
        raise UsageError(f"no case is called {case_id!r}", hint="whichclock golden ls shows what there is")
    return case_id


@dataclass(frozen=True, slots=True)
class Results:
    """Graded rows, one for each case × target × trial.

    Attributes:
        table: the rows as an Arrow table, the columns of ``whichclock.results/1``.
        summary: the counts that ``grade --format json`` prints.
        exit_code: 0, 1 or 3, as the command would end.
    """

    table: pa.Table
    summary: dict[str, Any]
    exit_code: int

    @property
    def passed(self) -> bool:
        """Tell whether every case passes and the gates hold."""
        return self.exit_code == 0

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows as JSON values; JSON columns are parsed, ``recorded_at`` is RFC 3339 text."""
        from grade import table

        return table.as_rows(self.table)

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a DataFrame.

        Integers and truth values keep their type where some are unknown (``Int64``, ``boolean``), costs are in US dollars,
        latencies in milliseconds, ``recorded_at`` is a timestamp in UTC, and JSON columns hold Python values.
        """
        import pandas as pd
        import pyarrow as pa

        from grade.table import JSON_COLUMNS
        from snapshots import strict_json

        kinds = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
        frame = self.table.to_pandas(types_mapper=kinds.get)
        for name in JSON_COLUMNS:
            texts = self.table.column(name).to_pylist()
            values = [None if text is None else strict_json.loads_own(text.encode()) for text in texts]
            frame[name] = pd.Series(values, index=frame.index, dtype=object)
        return frame


def grade(
    suite: Suite,
    *,
    cases: Sequence[str] = (),
    targets: Sequence[str] = (),
    tags: Sequence[str] = (),
    frozen: str | None = None,
    jobs: int = 0,
) -> Results:
    """Grade frozen snapshots in memory; nothing is written and nobody is asked.

    Args:
        suite: a loaded suite.
        cases: exact ids, or globs if they hold ``*?[``; empty for all.
        targets: names of targets; empty for all.
        tags: cases with any of these; empty for all.
        frozen: a label, ``label~n`` or results file whose very observations are judged.
        jobs: worker processes, 0 for a choice by size.

    Raises:
        UsageError: nothing is selected.
        ConfigError: a case cannot be rendered, or the graders do not load.
        RefError: ``frozen`` names nothing.
    """
    from golden import labels
    from golden.suite import select
    from grade import command, report, table

    selection = Selection(tuple(cases), tuple(targets), tuple(tags))
    base = None if frozen is None else table.read(labels.resolve(frozen, suite.results).path)
    plan = command.make_plan(suite, select(suite, selection), base)
    done = command.grade(suite, plan, selection, jobs=jobs, keep_table=True)
    assert done.table is not None
    extra = {} if base is None else {"not_in_base": plan.not_in_base, "request_moved": plan.request_moved}
    code = done.outcome.tally.exit_code(suite.pass_rate)
    return Results(done.table, report.summary(done.outcome, **extra), code)
