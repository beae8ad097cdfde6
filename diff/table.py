"""The diff as a table: flat ``base_…`` and ``head_…`` columns of the two result tables beside what the diff says of each row."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from diff.compare import Comparison
from diff.row import DiffRow
from grade import table as results
from grade.arrow import pc
from grade.columns import column
from snapshots import canonical
from snapshots.errors import StoreError

SCHEMA = "whichclock.diff/1"
BATCH = 65_536
_OWN: list[tuple[str, pa.DataType]] = [
    ("case_id", pa.string()),
    ("target", pa.string()),
    ("trial", pa.int64()),
    ("move", pa.string()),
    ("clocks", pa.list_(pa.field("element", pa.string()))),
    ("request_changes", pa.string()),
    ("verdict_change", pa.string()),
    ("reason", pa.string()),
    ("evidence", pa.string()),
    ("attribution", pa.string()),
]
_SIDE = [(name, kind) for name, kind in results.FIELDS if name not in ("target", "trial")]


def schema(comparison: Comparison) -> pa.Schema:
    """Return the Arrow schema, with the names of the two sides as metadata."""
    fields = _OWN + [(f"{side}_{name}", kind) for side in ("base", "head") for name, kind in _SIDE]
    told = {
        "schema": SCHEMA,
        "suite": comparison.head.suite,
        "base": comparison.base.name,
        "head": comparison.head.name,
    }
    return pa.schema(fields, metadata={b"whichclock": canonical.encode(told)})


def batches(comparison: Comparison) -> Iterator[pa.Table]:
    """Yield the diff's rows in order, ``BATCH`` at a time: both sides' columns are picked, only moved rows are spelled out."""
    whole = schema(comparison)
    for start in range(0, max(1, len(comparison)), BATCH):
        size = min(BATCH, len(comparison) - start)
        arrays = _own_columns(comparison, start, size)
        for rows, numbers in (
            (comparison.base.rows, comparison.pairs.base),
            (comparison.head.rows, comparison.pairs.head),
        ):
            picked = rows.take(numbers.slice(start, size))
            arrays += [picked.column(name).cast(kind) for name, kind in _SIDE]
        yield pa.Table.from_arrays(arrays, schema=whole)


def _own_columns(comparison: Comparison, start: int, size: int) -> list[Any]:
    keys = [_key(comparison, name, start, size) for name in ("case_id", "target", "trial")]
    rows = [comparison.rows.get(n) for n in range(start, start + size)]
    plain = comparison.plain_verdicts.slice(start, size).to_pylist()

    def own(name: str, of: Callable[[DiffRow], Any], none: Any) -> Any:
        return column(dict(_OWN)[name], [none if r is None else of(r) for r in rows])

    return [
        *keys,
        own("move", lambda r: r.move, "none"),
        own("clocks", lambda r: r.clocks, []),
        own("request_changes", lambda r: _json(r.request_changes), "[]"),
        column(pa.string(), [v if r is None else r.verdict_change for r, v in zip(rows, plain, strict=True)]),
        column(pa.string(), [_reason(r, v) for r, v in zip(rows, plain, strict=True)]),
        own("evidence", lambda r: _json(r.evidence), "{}"),
        own("attribution", lambda r: _json(r.attribution), "{}"),
    ]


def _reason(row: DiffRow | None, plain: str) -> str | None:
    if row is not None:
        return row.reason
    return "both sides: a trial could not be judged" if plain == "incomparable" else None


def _json(value: Any) -> str:
    return canonical.encode(value).decode()


def _key(comparison: Comparison, name: str, start: int, size: int) -> Any:
    head = comparison.head.rows.column(name).take(comparison.pairs.head.slice(start, size))
    base = comparison.base.rows.column(name).take(comparison.pairs.base.slice(start, size))
    kind = dict(_OWN)[name]
    return pc.coalesce(head.cast(kind), base.cast(kind))


def write(comparison: Comparison, path: Path) -> None:
    """Write the diff as Parquet; the file gets its name when it is whole.

    Raises:
        StoreError: the disk refused.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        dictionary: Any = [
            n for n in schema(comparison).names if not n.endswith(("_hash", "integrity", "_at", "_ms", "_tokens"))
        ]
        with pq.ParquetWriter(temporary, schema(comparison), compression="zstd", use_dictionary=dictionary) as writer:
            for batch in batches(comparison):
                writer.write_table(batch)
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}", hint="check that it is no folder, and permissions"
        ) from error


def as_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the rows of ``whichclock.diff/1``: the same names, nested under ``base`` and ``head``, JSON columns as JSON."""
    sides = [
        _side_rows(comparison.base.rows, comparison.pairs.base),
        _side_rows(comparison.head.rows, comparison.pairs.head),
    ]
    plain = comparison.plain_verdicts.to_pylist()
    for number, (old, new) in enumerate(zip(*sides, strict=True)):
        row = comparison.rows.get(number)
        either = new or old or {}
        if row is not None:
            old, new = row.base, row.head  # a renamed case stands beside its old row
        yield {
            "case_id": either["case_id"],
            "target": either["target"],
            "trial": either["trial"],
            "move": "none" if row is None else row.move,
            "clocks": [] if row is None else row.clocks,
            "request_changes": [] if row is None else row.request_changes,
            "verdict_change": plain[number] if row is None else row.verdict_change,
            "reason": _reason(row, plain[number]),
            "evidence": {} if row is None else row.evidence,
            "attribution": {} if row is None else row.attribution,
            "base": _without_key(old),
            "head": _without_key(new),
        }


def _side_rows(rows: pa.Table, numbers: pa.Array) -> list[dict[str, Any] | None]:
    found = iter(results.as_rows(rows.take(numbers.drop_null())))
    return [next(found) if valid else None for valid in numbers.is_valid().to_pylist()]


def _without_key(row: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if row is None else {name: row[name] for name, _ in _SIDE}
