"""Small inputs at which other comparisons failed: odd values on both sides, gaps beside numbers, ids that look alike, and coverage."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from diff import report, table
from diff.compare import Comparison
from diff.coverage import coverage
from diff.drift import drift
from diff.tallies import tallies
from snapshots.columnar import parquet_file
from tests.diff.sides import compared, row

LATENCIES = [None, 0.0, math.nan, math.inf, -math.inf]


def exported(comparison: Comparison, path: Path) -> Any:
    """Write a diff as Parquet and return the table that is read back."""
    table.write(comparison, path)
    with parquet_file(path) as file:
        return file.read()


def groups(path: Path) -> int:
    """Return the number of row groups of a file."""
    with parquet_file(path) as file:
        return file.num_row_groups


def test_a_run_compared_with_itself_has_not_moved_whatever_it_holds(tmp_path: Path) -> None:
    """NaN equals NaN here; null, zero and both infinities stay apart on both sides of the export."""
    rows = [row(str(i), latency_ms=value) for i, value in enumerate(LATENCIES)]
    made = compared(rows, rows)
    read = exported(made, tmp_path / "d.parquet")

    assert ({}, {}) == (made.rows, {name: n for name, n in made.clocks.items() if n})
    assert [list(map(repr, LATENCIES))] * 2 == [
        list(map(repr, read.column(f"{side}_latency_ms").to_pylist())) for side in ("base", "head")
    ]


def test_an_integer_beside_a_gap_keeps_its_value(tmp_path: Path) -> None:
    """Another row lacks the number and an added one lacks its whole side: no column becomes one of floats."""
    large = 1234567890123456789
    made = compared(
        [row("a", input_tokens=large), row("b")], [row("a", input_tokens=large), row("b"), row("c", input_tokens=1)]
    )
    read = exported(made, tmp_path / "d.parquet")

    assert [[large, None, None], [large, None, 1]] == [
        read.column(f"{side}_input_tokens").to_pylist() for side in ("base", "head")
    ]


def test_batches_of_empty_lists_have_the_columns_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand rows without a tag or a move, then one with both: exported in eleven batches or in one, the table is the same."""
    base = [row(f"{i:04}") for i in range(1001)]
    head = [*base[:-1], row("1000", answer="2", found="x", tags=["t"])]
    made = compared(base, head)
    whole = exported(made, tmp_path / "1.parquet")
    monkeypatch.setattr(table, "BATCH", 100)
    parts = exported(made, tmp_path / "2.parquet")

    assert (11, 1) == (groups(tmp_path / "2.parquet"), groups(tmp_path / "1.parquet"))
    assert whole.equals(parts, check_metadata=True)
    assert ([], ["t"], ["model"]) == (
        parts.column("head_tags")[0].as_py(), parts.column("head_tags")[-1].as_py(), parts.column("clocks")[-1].as_py(),
    )  # fmt: skip


def test_text_lists_and_null_stand_side_by_side_in_an_export(tmp_path: Path) -> None:
    """One column of JSON holds them all, each with its type."""
    values: list[Any] = ["1", 1, True, None, ["x"], [{"type": "text"}], {}, 2**70]
    rows = [row(str(i), found="a", evidence=json.dumps({"a": {"g": value}})) for i, value in enumerate(values)]
    read = exported(compared(rows, rows), tmp_path / "d.parquet")
    found = [json.loads(text)["a"]["g"] for text in read.column("head_evidence").to_pylist()]

    assert (values, [*map(type, values)]) == (found, [*map(type, found)])


COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


def test_ids_that_differ_in_normal_form_are_two_cases() -> None:
    """With other requests one is gone and one is new; neither is paired with the other in silence."""
    made = compared([row(DECOMPOSED, request="1")], [row(COMPOSED, request="2")])

    assert {DECOMPOSED: "removed", COMPOSED: "added"} == {one.case_id: one.move for one in made.rows.values()}


def test_an_id_in_another_normal_form_is_told_as_renamed() -> None:
    """With equal hashes it is the same case under another id, and the report says so."""
    made = compared([row(DECOMPOSED)], [row(COMPOSED)])
    [one] = [one for one in made.rows.values() if one.move == "renamed"]

    assert one.base is not None
    assert (DECOMPOSED, COMPOSED) == (one.base["case_id"], one.case_id)


def test_an_id_that_begins_another_is_not_mixed_with_it() -> None:
    """What happens to a says nothing of abc."""
    made = compared([row("a"), row("abc")], [row("a", answer="2", found="x"), row("abc")])

    assert [("a", "gpt")] == made.regressions
    assert ["a"] == [one.case_id for one in made.rows.values()]


def test_more_cases_are_coverage_and_no_change_of_quality() -> None:
    """One case, then three: no clock moved, no test counts them, and no share is anybody's."""
    made = compared([row("a")], [row("a"), row("b", found="x"), row("c")])
    found = coverage(made, tallies(made))
    suite = made.attributed.suite if made.attributed is not None else None

    assert (0, 0, None) == (report.test_of(made).worse, report.test_of(made).better, drift(made).p)
    assert suite is not None
    assert ({}, True) == ({clock: share for clock, share in suite.shares.items() if share}, bool(suite.added))
    assert (1, 3, 1) == (found.base, found.head, found.compared)
    assert report.sentence(made).startswith("No clock moved, but: added")
