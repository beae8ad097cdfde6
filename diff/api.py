"""The Python API of comparing: two runs of a suite, the clocks that moved between them, and all rows as a DataFrame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from golden.model import Suite

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_JSON = frozenset({"request_changes", "evidence", "attribution"})


@dataclass(frozen=True, slots=True)
class Diff:
    """A comparison of two runs.

    Attributes:
        table: the rows as an Arrow table, the flat columns of ``whichclock.diff/1``.
        summary: the member of that name that ``diff --format json`` prints.
        sentence: which clocks moved, and what they did.
        regressions: the (case id, target) of the cases that newly fail, are not known, and fail the gate.
        exit_code: 0, 1 or 3, as the command would end.
    """

    table: pa.Table
    summary: dict[str, Any]
    sentence: str
    regressions: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    exit_code: int = 0

    @property
    def passed(self) -> bool:
        """Tell whether there is no regression and everything could be judged."""
        return self.exit_code == 0

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a DataFrame with a column ``base_…`` and ``head_…`` for each column of a result table.

        Integers and truth values keep their type where some are unknown (``Int64``, ``boolean``), costs are in US dollars, latencies in
        milliseconds, instants are timestamps in UTC, and list and JSON columns hold Python values.
        """
        import pandas as pd
        import pyarrow as pa

        from grade.table import JSON_COLUMNS
        from snapshots import strict_json

        kinds = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
        frame = self.table.to_pandas(types_mapper=kinds.get)
        for number, name in enumerate(self.table.column_names):
            is_json = name in _JSON or name.partition("_")[2] in JSON_COLUMNS
            if not is_json and not pa.types.is_list(self.table.schema.field(number).type):
                continue
            values = self.table.column(number).to_pylist()
            if is_json:
                values = [None if text is None else strict_json.loads_own(text.encode()) for text in values]
            frame[name] = pd.Series(values, index=frame.index, dtype=object)
        return frame


def diff(
    base: str,
    head: str | None = None,
    *,
    suite: Suite | None = None,
    target_map: Mapping[str, str] | None = None,
    gate_clocks: Sequence[str] = (),
) -> Diff:
    """Compare two runs of a suite in memory; nothing is written and nobody is asked.

    Args:
        base: a label, ``label~n``, a file that ends in ``.parquet``, or ``git:REV``.
        head: as ``base``; the working tree, graded now, if not given.
        suite: a loaded suite; found upwards from the working directory if not given.
        target_map: target of the base → target of the head to compare it with.
        gate_clocks: clocks whose regressions alone count; the configuration's, else all, where there are none.

    Raises:
        UsageError: there is no configuration, or the arguments make no sense together.
        ConfigError: anything in the suite's files is wrong.
        RefError: a REF names nothing, or a run of another suite.
    """
    import pyarrow as pa

    from diff import cases, compare, measures, report, table
    from diff.cli import Gate, exit_code
    from diff.side import Sides
    from diff.target_map import checked, mapped
    from golden.suite import find_config, load_suite

    suite = load_suite(find_config(explicit=None)) if suite is None else suite
    targets, clocks = checked(target_map or {}), _clocks(gate_clocks)
    with Sides(suite) as sides:
        comparison = compare.compare(*mapped(sides.of(base), sides.of(head), targets))
        cases.attribute_rows(comparison)
        found = measures.measure(comparison, suite, clocks)
        return Diff(
            pa.concat_tables(table.batches(comparison)),
            report.summary(comparison),
            report.sentence(comparison),
            found.gates.regressions if found.gates.gates else comparison.regressions,
            exit_code(comparison, Gate.REGRESSIONS),
        )


def _clocks(names: Sequence[str]) -> tuple[str, ...]:
    from diff.classify import CLOCKS
    from snapshots.errors import UsageError

    for name in names:
        if name not in CLOCKS:
            raise UsageError(f"{name!r} is no clock", hint=f"clocks: {', '.join(CLOCKS)}")
    return tuple(names)
