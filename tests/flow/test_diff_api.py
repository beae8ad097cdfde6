"""``whichclock.diff``: the command's answer as values and as a DataFrame."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

import whichclock
from grade.table import NAMES
from tests.flow.conftest import Project


@pytest.fixture
def moved(recorded: Project) -> Project:
    """A project in which a check got another text: one case newly fails, by the expectation clock."""
    recorded.edit("golden/cases/cases.yaml", "contains: Ann", "contains: Bob")
    return recorded


def test_a_diff_says_what_the_command_says(moved: Project) -> None:
    """Summary, sentence, regressions and exit code."""
    found = whichclock.diff("main", suite=whichclock.load(moved.root / "whichclock.toml"))
    told = moved.ok("diff", "main", "--format", "json", code=1).json

    assert told["summary"] == found.summary
    assert moved.run("diff", "main").out.startswith(found.sentence)
    assert ([("greet", "gpt")], 1, False) == (found.regressions, found.exit_code, found.passed)


def test_the_frame_has_a_column_for_each_side(moved: Project) -> None:
    """Flat names, values in list and JSON columns, types that survive gaps."""
    frame = whichclock.diff("main", suite=whichclock.load(moved.root / "whichclock.toml")).to_pandas()
    greet = frame.set_index("case_id").loc["greet"]

    own = ["move", "clocks", "request_changes", "verdict_change", "reason", "evidence", "attribution"]
    sides = [f"{side}_{name}" for side in ("base", "head") for name in NAMES if name not in ("target", "trial")]
    assert ["case_id", "target", "trial", *own, *sides] == list(frame.columns)
    assert (["expectation"], [], {"expectation": "-1"}) == (
        greet["clocks"],
        greet["request_changes"],
        greet["attribution"],
    )
    assert ([], ["text_missing"]) == (greet["base_findings"], greet["head_findings"])
    assert [{"contains": "Ann"}] == greet["base_expectation"]["checks"]
    assert {"trial": "Int64", "base_case_passed": "boolean", "head_recorded_at": "datetime64[s, UTC]"} == {
        name: str(frame.dtypes[name]) for name in ("trial", "base_case_passed", "head_recorded_at")
    }


def test_a_side_that_lacks_a_row_has_unknown_values_there(recorded: Project) -> None:
    """A removed case keeps the base's columns; lists and JSON are None at head, never empty."""
    text = (recorded.root / "golden/cases/cases.yaml").read_text()
    (recorded.root / "golden/cases/cases.yaml").write_text(text.split("  - id: greet")[0])
    frame = whichclock.diff("main", suite=whichclock.load(recorded.root / "whichclock.toml")).to_pandas()
    greet = frame.set_index("case_id").loc["greet"]

    assert ("removed", "pass", None, None) == (
        greet["move"],
        greet["base_status"],
        greet["head_findings"],
        greet["head_expectation"],
    )
    assert bool(frame["head_case_passed"].isna()[frame["case_id"] == "greet"].all())


def test_the_suite_is_found_from_the_working_directory(moved: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the command finds it."""
    monkeypatch.chdir(moved.root)

    assert (
        "The clock that moved: expectation (1 case); 1 newly failing, 0 newly passing."
        == whichclock.diff("main").sentence
    )


def test_gates_and_targets_are_those_of_the_command(moved: Project) -> None:
    """A regression of another clock does not fail; a map without sense is an error of the one tree."""
    suite = whichclock.load(moved.root / "whichclock.toml")

    assert ([], 0) == (
        (found := whichclock.diff("main", suite=suite, gate_clocks=["model"])).regressions,
        found.exit_code,
    )
    with pytest.raises(whichclock.WhichclockError, match="is no clock"):
        whichclock.diff("main", suite=suite, gate_clocks=["weather"])
    with pytest.raises(whichclock.WhichclockError, match="no row of target"):
        whichclock.diff("main", suite=suite, target_map={"gpt": "nobody"})


def test_the_pandas_queries_of_the_docs_run(moved: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, over the runs main~1 and main: the shares of the grader are none, the expectation took a case."""
    from tests.docs.page import ROOT, blocks

    moved.ok("grade", "--save", "main", code=1)
    monkeypatch.chdir(moved.root)
    names: dict[str, Any] = {}
    for block in blocks(ROOT / "docs/pandas.md"):
        if block.lang == "text":
            exec(block.text, names)

    assert (["greet"], ["text_missing"], 0) == (
        list(names["worse"]["case_id"]),
        [code for codes in names["appeared"] for code in codes],
        names["shares"].sum(),
    )


def test_the_queries_of_the_docs_run(moved: Project) -> None:
    """Those in SQL, over the file that --out writes."""
    if find_spec("duckdb") is None:
        pytest.skip("duckdb is not installed")
    import duckdb  # pyright: ignore[reportMissingImports]

    from tests.docs.page import ROOT, blocks

    moved.ok("diff", "main", "--out", "d.parquet", code=1)
    found = [block.text for block in blocks(ROOT / "docs/pandas.md") if block.lang == "sql"]

    assert found
    for text in found:
        duckdb.sql(text.replace("'d.parquet'", f"'{moved.root / 'd.parquet'}'")).fetchall()
