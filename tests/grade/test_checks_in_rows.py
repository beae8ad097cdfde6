"""Checks in a real worker: what a row says of them, and patterns that never come to an end."""

from __future__ import annotations

import json
import math
from typing import Any

from tests.grade.conftest import Grade

PURE = "from whichclock import grader\n\n\n@grader\ndef g(envelope):\n    return set()\n"
EVIL = "^(a+)+$"


def _evidence(row: dict[str, Any]) -> Any:
    return json.loads(row["evidence"])


def test_a_pattern_that_never_ends_is_a_grader_error_of_its_row(grade: Grade) -> None:
    """Python's engine backtracks; the limit of processor time ends it, and the other checks and graders go on."""
    row = grade(
        PURE, text="a" * 60 + "!", timeout_s=0.5, checks=[{"regex": EVIL}, {"contains": "b"}, {"not_regex": EVIL}]
    )  # fmt: skip

    assert "grader_error" == row["status"]
    told = "it used more than 0.5 s of processor time"
    assert f"check:regex: {told}; check:not_regex: {told}" == row["error"]
    assert ["text_missing"] == row["findings"]


def test_a_pattern_in_a_schema_or_at_a_path_is_limited_too(grade: Grade) -> None:
    """They use the same engine."""
    text = json.dumps({"a": "a" * 60 + "!"})
    checks = [
        {"json_schema": {"properties": {"a": {"pattern": EVIL}}}},
        {"json_path": {"path": "$.a", "matches": EVIL}},
    ]
    row = grade(PURE, text=text, timeout_s=0.5, checks=checks)

    told = "it used more than 0.5 s of processor time"
    assert f"check:json_schema: {told}; check:json_path: {told}" == row["error"]


def test_a_cost_is_made_of_the_tokens_and_the_price_of_the_case(grade: Grade) -> None:
    """Three tokens in and two out, at 2 and 8 dollars a million."""
    price = {"input": 2, "output": 8}
    row = grade(PURE, checks=[{"max_cost_usd": 0.000021}, {"max_cost_usd": 0.000022}], price=price)

    found = _evidence(row)["too_costly"]["check:max_cost_usd"]
    assert ["cost_usd"] == list(found)
    assert math.isclose(0.000022, found["cost_usd"])


def test_a_cost_without_a_price_is_not_known(grade: Grade) -> None:
    """An old expectation may hold none."""
    row = grade(PURE, checks=[{"max_cost_usd": 5}])

    assert {"too_costly": {"check:max_cost_usd": {"cost_usd": None}}} == _evidence(row)


def test_the_recorded_latency_is_what_a_limit_reads(grade: Grade) -> None:
    """The evidence says that it is a replayed one."""
    row = grade(PURE, checks=[{"max_latency_ms": 12}, {"max_latency_ms": 12.5}])

    assert {"too_slow": {"check:max_latency_ms": {"latency_ms": 12.5, "replayed": True}}} == _evidence(row)


def test_a_check_that_asks_without_a_store_is_a_grader_error(grade: Grade) -> None:
    """It never passes for want of an answer."""
    row = grade(PURE, checks=[{"judge": {"rubric": "r", "target": "t"}}])

    assert "grader_error" == row["status"]
    assert "check:judge: it asks for answers, and there is no store to find them in" == row["error"]


def test_only_the_checks_of_a_case_stand_in_its_digests(grade: Grade) -> None:
    """A new check of ours moves no row that does not use it."""
    row = grade(PURE, checks=[{"starts_with": "Hello"}])

    assert {"check:empty_answer", "check:starts_with", "g", "reader:openai-chat"} == set(json.loads(row["graders"]))


def test_a_grader_that_rewrites_a_check_ends_its_worker(grade: Grade) -> None:
    """All checks are there before any grader runs, so that none can be exchanged unseen."""
    source = (
        "import sys\nfrom whichclock import grader\n\n\n@grader\ndef g(envelope):\n"
        "    sys.modules['grade.check_number'].number = lambda *_: None\n    return set()\n"
    )
    row = grade(source, checks=[{"number": 1}])

    assert "grader_error" == row["status"]
    assert "it changed whichclock's own code" in row["error"]
