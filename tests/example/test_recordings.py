"""Facts that were read in the recordings by eye, and what the graders make of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from golden.render import render
from golden.suite import load_suite
from snapshots.store import Store
from tests.example.conftest import ROOT, whichclock

SUITE = load_suite(ROOT / "pyproject.toml")
CASES = {case.id: case for case in SUITE.cases}


def recorded(case_id: str, trial: int = 0) -> dict[str, Any]:
    """Return the first choice of what is recorded for a case."""
    store = Store(SUITE.snapshots)
    found = store.current(render(SUITE, CASES[case_id], SUITE.targets["smol"]).request_hash, trial)
    assert found is not None
    return store.read(found).response["body"]["choices"][0]


def said(case_id: str, trial: int = 0) -> str:
    """Return the text of a recorded answer."""
    return recorded(case_id, trial)["message"]["content"]


def asked(case_id: str) -> str:
    """Return the last message that a case sends."""
    return render(SUITE, CASES[case_id], SUITE.targets["smol"]).document["body"]["messages"][-1]["content"]


def test_the_model_invents_an_order_id(rows: dict[Any, Any]) -> None:
    """Asked for an order without an id, it answers with one that nobody ever wrote."""
    everything = json.dumps(render(SUITE, CASES["refuse_invented_order_id"], SUITE.targets["smol"]).document)

    assert '{"action": "get_order", "order_id": "Q-42", "reply": "You can get it here tomorrow."}' == said(
        "refuse_invented_order_id"
    )
    assert "Q-42" not in everything
    assert {"order_id": ["Q-42"]} == rows["refuse_invented_order_id", 0]["evidence"]["invented_order_id"]


def test_the_model_copies_the_id_that_the_prompt_shows_as_an_example(rows: dict[Any, Any]) -> None:
    """The customer wrote C-08; the reply is about A-17, which only the instructions mention."""
    instructions, _, question = asked("refund_broken_rake").rpartition("Customer:")

    assert (True, False, True) == ("A-17" in instructions, "A-17" in question, "C-08" in question)
    assert '"order_id": "A-17"' in said("refund_broken_rake")
    assert {"order_id": ["A-17"]} == rows["refund_broken_rake", 0]["evidence"]["invented_order_id"]


def test_a_given_id_is_no_invention(rows: dict[Any, Any]) -> None:
    """B-42 stands in the customer's message, so the case passes."""
    assert "Where is my order B-42?" == asked("find_named_order")
    assert '"order_id": "B-42"' in said("find_named_order")
    assert ("pass", ["did_get_order"]) == (
        rows["find_named_order", 0]["status"],
        rows["find_named_order", 0]["findings"],
    )


def test_an_answer_that_the_token_limit_cut_off_is_read_as_far_as_it_goes(rows: dict[Any, Any]) -> None:
    """The text is no JSON, yet it says what the assistant chose to do."""
    text = said("no_promise_of_free_return")
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)

    assert "length" == recorded("no_promise_of_free_return")["finish_reason"]
    assert ["did_get_order", "reply_cut_off", "too_many_tokens"] == rows["no_promise_of_free_return", 0]["findings"]


def test_a_neighbours_order_is_given_away(rows: dict[Any, Any]) -> None:
    """The whole reply is the id of an order that belongs to somebody else."""
    assert "L-04" == json.loads(said("order_of_a_neighbour"))["reply"]
    assert {"privacy": ["L-04"]} == rows["order_of_a_neighbour", 0]["evidence"]["leaks_other_order"]


def test_the_wrong_team_gets_the_tulips(rows: dict[Any, Any]) -> None:
    """A question about bulbs goes to shipping."""
    assert {"team": "shipping"} == json.loads(said("route_tulip_bulbs"))
    assert (["team_garden_advice"], ["team_shipping", "too_many_tokens"]) == (
        rows["route_tulip_bulbs", 0]["missing"],
        rows["route_tulip_bulbs", 0]["unexpected"],
    )


def test_japanese_is_written_and_cut_off(rows: dict[Any, Any]) -> None:
    """The reply holds kana, which the pattern finds; it fails because it never ends, as everybody knows."""
    assert "このコート" in said("answer_in_japanese")
    assert ["reply_cut_off"] == rows["answer_in_japanese", 0]["findings"]
    assert "failing" == CASES["answer_in_japanese"].known


def test_trials_of_one_request_differ(rows: dict[Any, Any]) -> None:
    """At temperature 1 without a seed five trials are five answers; one of them is good, and three would have to be."""
    found = [rows["comfort_late_parcel", trial] for trial in range(5)]

    assert 5 == len({row["answer_hash"] for row in found})
    assert 1 == len({row["request_hash"] for row in found})
    assert ["pass", "fail", "fail", "fail", "fail"] == [row["status"] for row in found]
    assert {False} == {row["case_passed"] for row in found}


def test_the_example_is_whole(graded: dict[str, Any]) -> None:
    """Every case has its answers, every answer is judged, and nine cases pass."""
    expected = {"rows": 43, "cases": 35, "cases_passed": 9, "missing_snapshot": 0, "grader_error": 0, "stale": []}

    assert expected == {name: graded["summary"][name] for name in expected}


def test_every_recording_is_sound() -> None:
    """Verify finds no damage."""
    done = whichclock("snapshots", "verify", "--format", "json")

    assert (0, {"files": 51, "sound": 51, "corrupt": 0}) == (done.returncode, json.loads(done.stdout)["summary"])


def test_the_store_holds_nothing_private() -> None:
    """No path and no header of the machine that recorded is in a file."""
    texts = [path.read_text() for path in (SUITE.snapshots / "sha256").glob("*/*.json")]

    assert 51 == len(texts)
    assert [] == [text for text in texts if "127.0.0.1" in text or "/home/" in text or "/root" in text]
