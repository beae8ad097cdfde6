"""The one classifier: each move and each clock, from rows written by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diff.classify import CLOCKS, MOVES, Facts, classify

A, B, C = "a" * 64, "b" * 64, "c" * 64


def row(**members: Any) -> dict[str, Any]:
    """Return a passing row, changed as given."""
    base: dict[str, Any] = {
        "status": "pass",
        "case_passed": True,
        "findings": ["ok"],
        "expected": ["ok"],
        "request_hash": A,
        "answer_hash": A,
        "answer_rule": "openai-chat/1",
        "integrity": A,
        "graders": {"g": A, "check:contains": A, "reader:openai-chat": A},
        "grader_digest": A,
        "expectation_digest": A,
        "asked": [],
        "expectation": {"expected": ["ok"], "pass": "all"},
        "evidence": {"ok": {"g": None}},
        "error": None,
        "reported_model": "m1",
        "input_tokens": 3,
        "output_tokens": 2,
        "latency_ms": 1.0,
    }
    return {**base, **members}


FAILED = {"status": "fail", "findings": ["bad"], "evidence": {"bad": {"g": None}}, "case_passed": False}
GRADER = {"graders": {"g": B, "check:contains": A, "reader:openai-chat": A}, "grader_digest": B}
OTHER_ANSWER = {"answer_hash": B, "integrity": B}


@pytest.mark.parametrize(
    ("head", "facts", "move", "clocks"),
    [
        pytest.param(row(), Facts(True), "none", [], id="nothing moved"),
        pytest.param(row(request_hash=B, **OTHER_ANSWER), Facts(None), "capture_hash_moved", ["request"], id="request"),
        pytest.param(row(request_hash=B, **OTHER_ANSWER, **FAILED), Facts(None), "capture_hash_moved", ["request"], id="request and findings"),
        pytest.param(row(**OTHER_ANSWER), Facts(False), "answer_moved_on_frozen_request", ["model"], id="answer"),
        pytest.param(row(**OTHER_ANSWER, **GRADER, **FAILED), Facts(False), "answer_moved_on_frozen_request", ["model", "grader"], id="answer and grader"),
        pytest.param(row(**GRADER, **FAILED), Facts(True), "grader_changed_on_frozen_hash", ["grader"], id="grader"),
        pytest.param(row(**GRADER), Facts(True), "none", ["grader"], id="silent grader"),
        pytest.param(row(expectation_digest=B, status="fail", case_passed=False), Facts(True), "expectation_changed_on_frozen_hash", ["expectation"], id="expectation"),
        pytest.param(row(expectation_digest=B, **FAILED), Facts(True), "expectation_changed_on_frozen_hash", ["expectation"], id="context of the grader"),
        pytest.param(row(expectation_digest=B), Facts(True), "none", ["expectation"], id="silent expectation"),
        pytest.param(row(status="missing_snapshot", findings=None, evidence=None, answer_hash=None, integrity=None), Facts(None), "missing_snapshot", [], id="missing"),
        pytest.param(row(status="corrupt_snapshot", findings=None, evidence=None, answer_hash=None, integrity=None, request_hash=B), Facts(None), "missing_snapshot", ["request"], id="missing and request"),
        pytest.param(row(**FAILED), Facts(True), "impure_grader", [], id="equal inputs, other findings"),
        pytest.param(row(**FAILED), Facts(True, runtime_moved=True), "runtime_moved", [], id="another Python"),
        pytest.param(row(**GRADER, **FAILED), Facts(True, old_code_agrees=False), "impure_grader", ["grader"], id="the old code does not give the old findings"),
        pytest.param(row(**FAILED, integrity=B, output_tokens=9), Facts(True), "answer_moved_on_frozen_request", ["model"], id="same answer, other usage"),
        pytest.param(row(integrity=B, reported_model="m2"), Facts(True), "none", [], id="same answer from another model"),
        pytest.param(row(**OTHER_ANSWER, reported_model="m2"), Facts(False), "answer_moved_on_frozen_request", ["model"], id="other answer from another model"),
        pytest.param(row(answer_rule="whole/1", answer_hash=B, integrity=B), Facts(None), "none", [], id="another rule, bodies not at hand"),
        pytest.param(row(answer_rule="whole/1", answer_hash=B, integrity=B, **FAILED, **GRADER), Facts(None), "none", ["grader"], id="nobody is blamed for what is not known"),
        pytest.param(row(integrity=B, output_tokens=900, **FAILED, **GRADER), Facts(True), "answer_moved_on_frozen_request", ["model", "grader"], id="re-recorded, never blamed on the grader"),
        pytest.param(row(integrity=B, output_tokens=900, **FAILED, **GRADER), Facts(True, old_code_agrees=True), "grader_changed_on_frozen_hash", ["grader"], id="re-recorded, and the old code still finds the old"),
        pytest.param(row(integrity=B, output_tokens=900, expectation_digest=B, **FAILED), Facts(True, old_code_agrees=False), "answer_moved_on_frozen_request", ["model", "expectation"], id="re-recorded, not the expectation"),
        pytest.param(row(graders={"g": A, "check:contains": A, "reader:raw": A}, grader_digest=B, **FAILED), Facts(True), "grader_changed_on_frozen_hash", ["grader"], id="another reader of ours"),
    ],
)  # fmt: skip
def test_a_move_has_its_name_and_its_clocks(head: dict[str, Any], facts: Facts, move: str, clocks: list[str]) -> None:
    """The move is the first that applies, the clocks are all that moved, in their order."""
    found = classify(row(), head, facts)

    assert (move, clocks) == (found.move, found.clocks)


def test_another_rule_over_the_trials_is_the_expectation() -> None:
    """The same findings in every trial, and another case verdict: what the case demands has changed."""
    head = row(case_passed=False, expectation_digest=B, expectation={"expected": ["ok"], "pass": "any"})

    found = classify(row(case_passed=True), head, Facts(True))

    assert ("expectation_changed_on_frozen_hash", ["expectation"]) == (found.move, found.clocks)


def test_a_verdict_that_another_trial_turned_is_no_move_of_this_row() -> None:
    """A row whose own inputs stood still did not move, whatever became of its case."""
    for moved in ({}, {"expectation_digest": B}):
        assert "none" == classify(row(case_passed=True), row(case_passed=False, **moved), Facts(True)).move


def test_a_check_on_one_side_only_is_the_expectation() -> None:
    """A name that judges on one side only is what the case asks for, never the grader's code."""
    head = row(graders={"g": A, "reader:openai-chat": A}, grader_digest=B, expectation_digest=B, **FAILED)

    found = classify(row(), head, Facts(True))

    assert ("expectation_changed_on_frozen_hash", ["expectation"]) == (found.move, found.clocks)


def test_a_grader_with_its_new_code_is_the_grader_clock() -> None:
    """A code that only the new version emits is explained by the version."""
    head = row(findings=["new"], evidence={"new": {"g": None}}, status="fail", **GRADER)

    assert "grader_changed_on_frozen_hash" == classify(row(), head, Facts(True)).move


def test_a_moved_grader_that_emits_no_differing_code_is_not_blamed() -> None:
    """Only a source of a differing code can have caused it."""
    head = row(graders={"g": A, "check:contains": B, "reader:openai-chat": A}, expectation_digest=B, **FAILED)

    found = classify(row(), head, Facts(True))

    assert ("expectation_changed_on_frozen_hash", ["grader", "expectation"]) == (found.move, found.clocks)


def judged(answer: str, question: str = A) -> list[dict[str, Any]]:
    """Return what a row asked its judge."""
    return [
        {
            "name": "judge",
            "request_hash": question,
            "trial": 0,
            "recorded_at": "",
            "answer_hash": answer,
            "answer_rule": "",
            "integrity": "",
        }
    ]


def test_a_judges_other_answer_is_the_model_clock() -> None:
    """The same question, another answer."""
    found = classify(row(asked=judged(A)), row(asked=judged(B), **FAILED), Facts(True))

    assert ("judge_answer_moved_on_frozen_request", ["model"]) == (found.move, found.clocks)


@pytest.mark.parametrize(
    ("moved", "clock"), [({}, ["grader"]), (GRADER, ["grader"]), ({"expectation_digest": B}, ["expectation"])]
)
def test_another_question_to_the_judge_is_the_grader_clock_unless_only_the_expectation_moved(
    moved: dict[str, Any], clock: list[str]
) -> None:
    """What a judge is asked belongs to the grader, or to the expectation that it quotes."""
    found = classify(row(asked=judged(A)), row(asked=judged(B, question=B), **FAILED, **moved), Facts(True))

    assert clock == found.clocks


_HASHES = st.sampled_from([A, B])
_ROWS = st.builds(
    row,
    status=st.sampled_from(["pass", "fail", "missing_snapshot", "grader_error"]),
    findings=st.sampled_from([["ok"], ["bad"], []]),
    request_hash=_HASHES,
    answer_hash=_HASHES,
    integrity=_HASHES,
    expectation_digest=_HASHES,
    graders=st.fixed_dictionaries({"g": _HASHES}),
    evidence=st.sampled_from([{"ok": {"g": None}}, {"bad": {"g": None}}, {}]),
)
_FACTS = st.builds(Facts, st.sampled_from([True, False, None]), st.booleans(), st.sampled_from([True, False, None]))


@given(_ROWS, _ROWS, _FACTS)
def test_every_pair_has_one_of_the_names(base: dict[str, Any], head: dict[str, Any], facts: Facts) -> None:
    """No pair of rows is without a name, and clocks come in their order."""
    found = classify(base, head, facts)

    assert found.move in MOVES
    assert [c for c in CLOCKS if c in found.clocks] == found.clocks


@given(_ROWS, _ROWS, _FACTS)
def test_the_grader_is_never_blamed_where_the_answer_moved(
    base: dict[str, Any], head: dict[str, Any], facts: Facts
) -> None:
    """grader_changed needs the same request, a known equal answer and a moved digest."""
    found = classify(base, head, facts)

    if found.move == "grader_changed_on_frozen_hash":
        assert (True, True, True) == (
            base["request_hash"] == head["request_hash"],
            facts.same_answer is not False,
            base["graders"] != head["graders"],
        )


@given(_ROWS, _FACTS)
def test_a_row_compared_with_itself_has_not_moved(one: dict[str, Any], facts: Facts) -> None:
    """Nothing moved, whatever else is known."""
    found = classify(one, one, Facts(True, facts.runtime_moved, facts.old_code_agrees))

    assert ([], True) == (found.clocks, found.move in ("none", "missing_snapshot"))


@pytest.mark.parametrize(
    ("head", "observation"),
    [
        ({"output_tokens": 9}, "usage"),
        ({"latency_ms": 2.0}, "latency"),
        ({"reported_model": "m2"}, "the rest of the response"),
    ],
)
def test_the_evidence_says_what_differs_beside_an_equal_answer(head: dict[str, Any], observation: str) -> None:
    """Latency is only named where latency differs."""
    assert observation == classify(row(), row(integrity=B, **FAILED, **head), Facts(True)).evidence["observation"]
