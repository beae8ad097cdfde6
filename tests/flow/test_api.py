"""The public names of the module ``whichclock``, used as a notebook would."""

from __future__ import annotations

import pytest

import whichclock
from tests.flow.conftest import Project


def test_a_suite_is_loaded_graded_and_read(recorded: Project) -> None:
    """Results are those of the command, without a process or a file of ours in between."""
    suite = whichclock.load(recorded.root / "whichclock.toml")
    results = whichclock.grade(suite)

    assert ("support", True, 0) == (suite.name, results.passed, results.exit_code)
    assert (2, 2, 2) == tuple(results.summary[name] for name in ("rows", "pass", "cases_passed"))
    assert recorded.ok("grade", "--format", "json").json["rows"] == results.rows()


def test_an_envelope_reads_as_graders_see_it(recorded: Project) -> None:
    """Members and attributes are the same."""
    suite = whichclock.load(recorded.root / "whichclock.toml")
    envelope = whichclock.envelope(suite, "greet")

    assert ("Hello Ann", "Hello Ann", False) == (envelope["text"], envelope.text, envelope["refusal"])
    assert isinstance(envelope, whichclock.Envelope)


def test_the_results_are_a_data_frame_whose_types_survive_gaps(recorded: Project) -> None:
    """Integers stay integers beside unknown ones; JSON columns hold values; the instant is in UTC."""
    recorded.edit("golden/cases/greet.txt", "Say hello", "Say good morning")
    frame = whichclock.grade(whichclock.load(recorded.root / "whichclock.toml")).to_pandas()

    assert {
        "trial": "Int64", "input_tokens": "Int64", "case_passed": "boolean", "recorded_at": "datetime64[s, UTC]",
    } == {name: str(frame.dtypes[name]) for name in ("trial", "input_tokens", "case_passed", "recorded_at")}  # fmt: skip
    by_case = frame.set_index("case_id")
    assert ("missing_snapshot", True) == (by_case.loc["greet", "status"], bool(by_case["case_passed"].isna()["greet"]))
    assert {"ok_refusal": {"order_grader": None}} == by_case.loc["refuse_invented_order_id", "evidence"]


def test_some_cases_are_graded(recorded: Project) -> None:
    """Selections are those of the command line."""
    suite = whichclock.load(recorded.root / "whichclock.toml")

    assert ["greet"] == [row["case_id"] for row in whichclock.grade(suite, cases=["gre*"]).rows()]


def test_a_frozen_grading_reads_the_saved_run(recorded: Project) -> None:
    """The label of a run is a REF here too."""
    suite = whichclock.load(recorded.root / "whichclock.toml")
    results = whichclock.grade(suite, frozen="main")

    assert (2, 0, 0) == tuple(results.summary[name] for name in ("rows", "not_in_base", "request_moved"))


def test_errors_are_of_one_tree(recorded: Project) -> None:
    """Whoever catches the base catches all."""
    suite = whichclock.load(recorded.root / "whichclock.toml")

    with pytest.raises(whichclock.WhichclockError, match="no case matches"):
        whichclock.grade(suite, cases=["nobody*"])
