"""Pairing two tables by key: the right rows, whatever the ids hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diff.pairs import pair
from grade import table
from snapshots.errors import RefError


def results(*rows: tuple[Any, ...]) -> pa.Table:
    """Return a result table of rows (case_id, target, trial, request_hash)."""
    columns: dict[str, list[Any]] = {name: [] for name in table.NAMES}
    for case_id, target, trial, request_hash in sorted(rows):
        for name in table.NAMES:
            columns[name].append(
                {"case_id": case_id, "target": target, "trial": trial, "request_hash": request_hash, "status": "pass",
                 "findings": [], "expected": [], "missing": [], "unexpected": [], "tags": []}.get(name)
            )  # fmt: skip
    return table.batch(columns, table.schema({"suite": "s", "selection": None, "runtime": {}, "tool": "t"}))


def paired(base: pa.Table, head: pa.Table, **options: Any) -> list[tuple[Any, Any, bool]]:
    """Return (base key, head key, moved) for each pair."""
    pairs = pair(base, head, **options)
    keys = [[tuple(r.values()) for r in t.select(["case_id", "target", "trial"]).to_pylist()] for t in (base, head)]
    return [
        (None if b is None else keys[0][b], None if h is None else keys[1][h], m)
        for b, h, m in zip(pairs.base.to_pylist(), pairs.head.to_pylist(), pairs.moved.to_pylist(), strict=True)
    ]


def test_equal_keys_are_paired_in_place() -> None:
    """Rows that agree have not moved, others have."""
    base, head = results(("a", "t", 0, "1"), ("b", "t", 0, "1")), results(("a", "t", 0, "1"), ("b", "t", 0, "2"))

    assert [(("a", "t", 0), ("a", "t", 0), False), (("b", "t", 0), ("b", "t", 0), True)] == paired(base, head)


def test_added_and_removed_rows_stand_in_the_order_of_the_key() -> None:
    """A side without the row has None, and the row has moved."""
    base, head = results(("a", "t", 0, "1"), ("c", "t", 0, "1")), results(("b", "t", 0, "1"), ("c", "t", 0, "1"))

    assert [
        (("a", "t", 0), None, True),
        (None, ("b", "t", 0), True),
        (("c", "t", 0), ("c", "t", 0), False),
    ] == paired(base, head)


def test_a_selected_side_says_nothing_about_the_rest() -> None:
    """With a selection only what both sides have is compared."""
    base, head = results(("a", "t", 0, "1"), ("b", "t", 0, "1")), results(("b", "t", 0, "1"))

    assert [(("b", "t", 0), ("b", "t", 0), False)] == paired(base, head, only_common=True)


def test_a_key_twice_is_refused() -> None:
    """Pairing would have to guess."""
    twice = results(("a", "t", 0, "1"), ("a", "t", 0, "2"))

    with pytest.raises(RefError, match="twice"):
        pair(twice, results(("b", "t", 0, "1")))


_KEYS = st.sets(
    st.tuples(
        st.sampled_from(["a", "a\x1f", "a\x1fb", "é", "e\u0301", "1:a", ""]),
        st.sampled_from(["t", "b\x1ft"]),
        st.integers(0, 2),
    ),
    max_size=8,
)


@given(_KEYS, _KEYS)
def test_every_row_of_both_sides_appears_once(old: set[Any], new: set[Any]) -> None:
    """No row is lost, doubled or paired with another key."""
    found = paired(results(*((*k, "1") for k in old)), results(*((*k, "1") for k in new)))

    assert sorted(old) == sorted(b for b, _, _ in found if b is not None)
    assert sorted(new) == sorted(h for _, h, _ in found if h is not None)
    assert [] == [1 for b, h, _ in found if b is not None and h is not None and b != h]


def test_a_written_table_reads_back_equal(tmp_path: Path) -> None:
    """Nulls, empty lists, 64-bit integers and texts survive; missing, null and empty stay apart."""
    columns: dict[str, list[Any]] = {name: [None, None] for name in table.NAMES}
    columns |= {
        "case_id": ["a", "é\u2028"], "target": ["t", "t"], "trial": [0, 2**62], "status": ["pass", "missing_snapshot"], "tags": [[], ["x"]],
        "findings": [[], None], "expected": [["a", "b"], []], "case_passed": [True, None], "input_tokens": [1234567890123456789, None],
        "recorded_at": ["2026-06-01T12:00:00Z", None], "latency_ms": [0.5, None], "error": ["", None],
    }  # fmt: skip
    made = table.batch(columns, table.schema({"suite": "s", "selection": None, "runtime": {}, "tool": "t"}))
    writer = table.Writer(tmp_path / "r.parquet", made.schema)
    writer.write(made)
    writer.finish().rename(tmp_path / "r.parquet")

    read = table.as_rows(table.read(tmp_path / "r.parquet"))

    assert [{name: columns[name][i] for name in table.NAMES} for i in (0, 1)] == read
