"""Odd numbers, texts and depths in recorded answers: kept as they are, and never the end of an import."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from snapshots import dialects
from tests.capture import cassettes
from tests.capture.cassettes import asked, interaction, only, reasons, run, said, stored

WHOLE = said("A")


def told(extra: str) -> str:
    """Return a chat completion with one more member."""
    return WHOLE[:-1] + f', "odd": {extra}}}'


@pytest.mark.parametrize(
    "extra",
    ['"\\ud83d"', "NaN", "-Infinity", "1e999", "18446744073709551616", "-0.0", "1, \"odd\": 2"],
    ids=["half a pair", "NaN", "infinity", "beyond double", "beyond 64 bits", "minus zero", "twice"],
)  # fmt: skip
def test_an_odd_answer_is_kept_as_it_was_received(extra: str, tmp_path: Path) -> None:
    """What strict JSON has no place for is text; the other interaction is imported, too."""
    path = cassettes.write(
        tmp_path / "c.json", interaction(answer={"string": told(extra)}), interaction(asked("other"))
    )
    result = run(tmp_path / "store", path)
    kept = [
        one["response"]
        for one in stored(tmp_path / "store").values()
        if one["request"]["body"] == json.loads(asked("Q"))
    ]

    assert ([], 2) == (reasons(result), result.summary()["imported"])
    assert [True] == [response.get("text") == told(extra) or extra == "-0.0" for response in kept]


@pytest.mark.parametrize(
    "extra",
    ["9" * 5000, "[" * 1000 + "]" * 1000, "[" * 100_000 + "]" * 100_000, '"cut'],
    ids=["5,000 digits", "1,000 deep", "100,000 deep", "cut off"],
)
def test_an_answer_that_no_reader_can_read_is_refused_by_name(extra: str, tmp_path: Path) -> None:
    """Kept as text, all of its JSON would be judged as if the model had said it; the other interaction is imported."""
    body = told(extra)[:-1] if extra == '"cut' else told(extra)
    path = cassettes.write(tmp_path / "c.json", interaction(answer={"string": body}), interaction(asked("other")))

    result = run(tmp_path / "store", path)

    assert [
        "a JSON body that cannot be read: cut off, nested too deep, or with a number of too many digits"
    ] == reasons(result)
    assert 1 == result.summary()["imported"]


def test_half_a_pair_in_each_of_two_events_is_one_character(tmp_path: Path) -> None:
    """The stream is text as received; joined, it holds the emoji."""
    events = [
        '{"choices": [{"index": 0, "delta": {"content": "\\ud83d"}}]}',
        '{"choices": [{"index": 0, "delta": {"content": "\\ude00"}, "finish_reason": "stop"}]}',
    ]
    path = cassettes.write(
        tmp_path / "c.yaml", interaction(answer={"string": "".join(f"data: {e}\n\n" for e in events)})
    )
    run(tmp_path / "store", path)

    assert "\U0001f600" == dialects.read("openai-chat", only(tmp_path / "store")["response"]).first.text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400])
def test_a_request_of_values_that_json_has_not_is_refused_or_exact(value: float, tmp_path: Path) -> None:
    """A recorder that keeps values may hold what no JSON text says; a large integer keeps its digits."""
    made = interaction()
    made["request"].pop("body")
    made["request"]["parsed_body"] = {"seed": value}
    result = run(tmp_path / "store", cassettes.write(tmp_path / "c.yaml", made))

    if isinstance(value, int):
        assert {"seed": value} == only(tmp_path / "store")["request"]["body"]
    else:
        assert [True] == [reason.startswith("the request's body has no JSON form") for reason in reasons(result)]


def test_a_schema_of_a_parsed_body_is_keyed_in_the_recorder_s_order(tmp_path: Path) -> None:
    """A recorder that sorts members has lost the order that was sent: what it wrote is what can be keyed."""
    made = interaction()
    made["request"].pop("body")
    schema = {"type": "object", "properties": {"b": {}, "a": {}}}
    made["request"]["parsed_body"] = {"tools": [{"function": {"name": "f", "parameters": schema}}]}
    run(tmp_path / "store", cassettes.write(tmp_path / "c.yaml", made))

    assert "order" not in only(tmp_path / "store")["request"]
