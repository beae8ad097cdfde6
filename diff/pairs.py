"""Pair the rows of two result tables by case × target × trial, column by column: a million rows are not looked at one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from grade.arrow import pc
from grade.columns import scalar
from snapshots.errors import RefError

KEY = ("case_id", "target", "trial")
# A pair that agrees in all of these has moved nowhere; only the others reach the classifier.
COMPARED = (
    "status", "case_passed", "request_hash", "answer_hash", "answer_rule", "integrity", "grader_digest", "expectation_digest", "asked",
    "evidence", "findings",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pairs:
    """Row numbers on both sides, null where a side has no such row, in the order of the key; ``moved`` marks pairs that differ."""

    base: pa.Array
    head: pa.Array
    moved: pa.Array


def pair(base: pa.Table, head: pa.Table, *, only_common: bool = False) -> Pairs:
    """Pair two tables.

    Args:
        base: the old rows.
        head: the new rows.
        only_common: leave out rows that one side lacks: it was selected and says nothing about them.

    Raises:
        RefError: a table holds a key twice.
    """
    if all(base.column(n).equals(head.column(n)) for n in KEY):
        _keys(head, "each side")
        rows = _numbers(base.num_rows)
        return Pairs(rows, rows, _moved(base, head))
    base_key, head_key = _keys(base, "the base"), _keys(head, "the head")
    in_base = pc.index_in(head_key, value_set=base_key)
    removed = pc.filter(_numbers(base.num_rows), pc.invert(pc.is_in(base_key, value_set=head_key)))
    base_rows = pa.concat_arrays([in_base.cast(pa.int64()), removed])
    head_rows = pa.concat_arrays([_numbers(head.num_rows), pa.nulls(len(removed), pa.int64())])
    if only_common:
        common = pc.and_(pc.is_valid(base_rows), pc.is_valid(head_rows))
        base_rows, head_rows = pc.filter(base_rows, common), pc.filter(head_rows, common)
    order = _order(base, head, base_rows, head_rows)
    base_rows, head_rows = base_rows.take(order), head_rows.take(order)
    return Pairs(base_rows, head_rows, _moved(base, head, base_rows, head_rows))


def pair_numbers(base: pa.Table, head: pa.Table) -> tuple[pa.Array, pa.Array]:
    """Return the row numbers on both sides of the keys that both have, in the order of the head."""
    found = pc.index_in(_keys(head, "the head"), value_set=_keys(base, "the base"))
    found = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
    return found.drop_null().cast(pa.int64()), pc.indices_nonzero(pc.is_valid(found))


def _numbers(count: int) -> pa.Array:
    import array

    return pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(array.array("q", range(count)).tobytes())])


def _keys(table: pa.Table, side: str) -> pa.Array:
    """Return one text for each key; lengths stand before the texts, so that no two keys can have the same one."""
    parts: list[Any] = []
    for name in ("case_id", "target"):
        column = table.column(name).cast(pa.string())
        parts += [pc.binary_length(column).cast(pa.string()), column]
    parts.append(table.column("trial").cast(pa.string()))
    keys = pc.binary_join_element_wise(*parts, scalar(pa.string(), "\x1f"))
    keys = keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys
    if pc.count_distinct(keys).as_py() != len(keys):
        raise RefError(
            f"{side} holds a case × target × trial twice", hint="make it anew with: whichclock grade --save LABEL"
        )
    return keys


def _order(base: pa.Table, head: pa.Table, base_rows: pa.Array, head_rows: pa.Array) -> pa.Array:
    names: dict[str, Any] = {}
    for name in KEY:
        old, new = base.column(name).take(base_rows), head.column(name).take(head_rows)
        names[name] = pc.coalesce(new, old)
    table = pa.Table.from_arrays(list(names.values()), names=list(names))
    return pc.sort_indices(table, sort_keys=[(name, "ascending") for name in KEY])


def _moved(
    base: pa.Table, head: pa.Table, base_rows: pa.Array | None = None, head_rows: pa.Array | None = None
) -> pa.Array:
    """Return which pairs differ, looking at one column at a time: two whole tables would not fit into memory twice."""
    moved: Any = None
    for name in COMPARED:
        old, new = base.column(name), head.column(name)
        if base_rows is not None:
            old, new = old.take(base_rows), new.take(head_rows)
        differs = _differs(_plain(old), _plain(new))
        moved = differs if moved is None else pc.or_(moved, differs)
    return moved.combine_chunks() if isinstance(moved, pa.ChunkedArray) else moved


def _plain(column: Any) -> Any:
    if pa.types.is_list(column.type):
        # codes match [a-z][a-z0-9_]*: none holds the separator
        return pc.binary_join(column, scalar(pa.string(), "\x1f"))
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def _differs(old: Any, new: Any) -> Any:
    """Return where two columns differ; null equals null and nothing else."""
    both = pc.coalesce(pc.not_equal(old, new), scalar(pa.bool_(), False))
    return pc.or_(both, pc.xor(pc.is_null(old), pc.is_null(new)))
