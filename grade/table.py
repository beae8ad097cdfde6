"""The result table: one Parquet row for each case × target × trial; also the lock file of the run.

Same inputs, same bytes for one pyarrow version: no wall clock, no host, no path. Rows are sorted by case_id, target, trial.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from grade.columns import column
from snapshots import canonical, instant, strict_json
from snapshots.columnar import parquet_file
from snapshots.errors import JsonError, RefError, StoreError

SCHEMA = "whichclock.results/1"
_DICTIONARY: Any = [
    "case_id",
    "target",
    "status",
    "answer_rule",
    "grader_digest",
    "expectation_digest",
    "graders",
    "expectation",
    "asked",
    "evidence",
    "reported_model",
    "finish_reason",
]
# Long texts that repeat from row to row: kept as dictionaries in memory, a million rows of them would not fit otherwise.
_REPEATED = ["expectation", "graders", "asked", "evidence", "expectation_digest", "grader_digest", "status"]

_LIST = ("tags", "findings", "expected", "missing", "unexpected")
_JSON = ("evidence", "expectation", "graders", "asked")
_TEXT = (
    "case_id", "target", "status", "request_hash", "answer_hash", "answer_rule", "integrity", "grader_digest", "expectation_digest",
    "reported_model", "finish_reason", "error",
)  # fmt: skip
_TEXTS = pa.list_(pa.field("element", pa.string()))  # the item name that Parquet gives back
FIELDS: list[tuple[str, pa.DataType]] = [
    ("case_id", pa.string()),
    ("target", pa.string()),
    ("trial", pa.int64()),
    ("status", pa.string()),
    ("case_passed", pa.bool_()),
    ("findings", _TEXTS),
    ("expected", _TEXTS),
    ("missing", _TEXTS),
    ("unexpected", _TEXTS),
    ("tags", _TEXTS),
    ("request_hash", pa.string()),
    ("answer_hash", pa.string()),
    ("answer_rule", pa.string()),
    ("integrity", pa.string()),
    ("recorded_at", pa.timestamp("s", tz="UTC")),
    ("grader_digest", pa.string()),
    ("expectation_digest", pa.string()),
    ("graders", pa.string()),
    ("expectation", pa.string()),
    ("asked", pa.string()),
    ("evidence", pa.string()),
    ("error", pa.string()),
    ("reported_model", pa.string()),
    ("finish_reason", pa.string()),
    ("input_tokens", pa.int64()),
    ("output_tokens", pa.int64()),
    ("cost_usd", pa.float64()),
    ("latency_ms", pa.float64()),
]
NAMES = tuple(name for name, _ in FIELDS)
JSON_COLUMNS = frozenset(_JSON)
SORTED_BY = ("case_id", "target", "trial")

Rows = dict[str, list[Any]]


def schema(metadata: Mapping[str, Any]) -> pa.Schema:
    """Return the Arrow schema with the run's metadata (suite, selection, runtime, tool) as canonical JSON."""
    text = canonical.encode({"schema": SCHEMA, **metadata})
    return pa.schema(FIELDS, metadata={b"whichclock": text})


def batch(rows: Rows, with_schema: pa.Schema) -> pa.Table:
    """Return columns of rows as an Arrow table; ``recorded_at`` is given in its extended text form."""
    arrays: list[pa.Array] = []
    for name, kind in FIELDS:
        values: Sequence[Any] = rows[name]
        if name == "recorded_at":
            values = [None if v is None else instant.parse_extended(v) for v in values]
        arrays.append(column(kind, values))
    return pa.Table.from_arrays(arrays, schema=with_schema)


class Writer:
    """Writes a table row group by row group into a file that only gets its name when it is whole."""

    def __init__(self, path: Path, with_schema: pa.Schema) -> None:
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            sorting = [pq.SortingColumn(NAMES.index(name)) for name in SORTED_BY]
            self._writer = pq.ParquetWriter(
                self._temporary,
                with_schema,
                compression="zstd",
                use_dictionary=_DICTIONARY,
                sorting_columns=sorting,
                store_schema=True,
            )
        except OSError as error:
            raise _failed(path, error) from error

    def write(self, table: pa.Table) -> None:
        """Append one row group."""
        try:
            self._writer.write_table(table, row_group_size=max(1, table.num_rows))
        except OSError as error:
            self.discard()
            raise _failed(self._temporary, error) from error

    def finish(self) -> Path:
        """End the file and return its temporary path; the caller names it."""
        try:
            self._writer.close()
            with open(self._temporary, "rb") as file:
                os.fsync(file.fileno())
        except OSError as error:
            self._temporary.unlink(missing_ok=True)
            raise _failed(self._temporary, error) from error
        return self._temporary

    def discard(self) -> None:
        """Leave nothing behind."""
        try:
            self._writer.close()
        except OSError as error:
            raise _failed(self._temporary, error) from error
        finally:
            self._temporary.unlink(missing_ok=True)


def _failed(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"cannot write results to {path.parent}: {error.strerror or error}", hint="check space and permissions"
    )


def read(path: Path) -> pa.Table:
    """Read a result table and check that it is one.

    Raises:
        RefError: the file is missing, no Parquet, or not a table of ``whichclock.results/1``.
    """
    try:
        # Not read_table: that imports pandas.
        with parquet_file(path) as file:
            _check(file.schema_arrow, path)
        with parquet_file(path, read_dictionary=_REPEATED) as file:
            return _seconds(file.read())
    except FileNotFoundError:
        raise RefError(
            f"no results file {path}", hint="name a label, a file that ends in .parquet, or git:REV"
        ) from None
    except (OSError, pa.ArrowException) as error:
        raise RefError(f"{path} is no Parquet file: {str(error).splitlines()[0][:200]}", hint=_HINT) from None


def _check(told: pa.Schema, path: Path) -> None:
    _metadata(told, path)
    # Parquet knows no whole seconds and gives recorded_at back in milliseconds.
    kinds = {n: pa.timestamp("ms", tz="UTC") if pa.types.is_timestamp(t) else t for n, t in FIELDS}
    if told.names != list(NAMES) or any(told.field(n).type not in (t, kinds[n]) for n, t in FIELDS):
        raise RefError(f"{path} has not the columns of {SCHEMA}", hint=_HINT)


def _seconds(table: pa.Table) -> pa.Table:
    number = table.schema.get_field_index("recorded_at")
    return table.set_column(number, "recorded_at", table.column(number).cast(pa.timestamp("s", tz="UTC")))


_HINT = "make one with: whichclock grade --out FILE.parquet"


def metadata(table: pa.Table, path: Path | str = "the table") -> dict[str, Any]:
    """Return the run's metadata: schema, suite, selection, runtime, tool.

    Raises:
        RefError: the table does not say that it is of ``whichclock.results/1``.
    """
    return _metadata(table.schema, path)


def _metadata(told: pa.Schema, path: Path | str) -> dict[str, Any]:
    try:
        value = strict_json.loads((told.metadata or {}).get(b"whichclock", b""))
    except JsonError:
        value = None
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise RefError(f"{path} is no results file of {SCHEMA}", hint=_HINT)
    return value


def as_rows(table: pa.Table) -> list[dict[str, Any]]:
    """Return the rows as JSON values: JSON columns parsed, ``recorded_at`` in its extended text form."""
    seconds = table.column("recorded_at").cast(pa.int64()).to_pylist()
    rows = table.drop_columns(["recorded_at"]).to_pylist()
    return [_as_json(row, second) for row, second in zip(rows, seconds, strict=True)]


def _as_json(row: dict[str, Any], second: int | None) -> dict[str, Any]:
    row["recorded_at"] = None if second is None else instant.extended(second)
    return {
        n: strict_json.loads_own(row[n].encode()) if n in JSON_COLUMNS and row[n] is not None else row[n] for n in NAMES
    }
