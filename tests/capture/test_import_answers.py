"""Which recorded answers are worth storing, and when they were given."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.capture import cassettes
from tests.capture.cassettes import asked, interaction, only, reasons, run, said
from tests.snapshots import frames

KEY = "sk-test-" + "a" * 24
BEDROCK = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/"
FILTERED = {"error": {"code": "content_filter", "message": "Not that."}}


def chunk(text: str, reason: str | None = None, **more: Any) -> str:
    """Return an event of a chat's stream."""
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": reason}
    return f"data: {json.dumps({'choices': [choice], **more})}\n\n"


DONE = "data: [DONE]\n\n"
STREAM = frames.stream(
    frames.event("messageStart", role="assistant"),
    frames.event("contentBlockDelta", contentBlockIndex=0, delta={"text": "A"}),
    frames.event("messageStop", stopReason="end_turn"),
)["base64"]
LLAMA = [frames.chunk(generation="A", stop_reason=None), frames.chunk(generation="", stop_reason="stop", **{"amazon-bedrock-invocationMetrics": {}})]  # fmt: skip
OTHER = frames.stream(*LLAMA)["base64"]


def text(body: str, **more: Any) -> dict[str, Any]:
    """Return an interaction whose answer is a text."""
    return interaction(answer={"string": body}, **more)


def packed(data: str, way: str) -> dict[str, Any]:
    """Return an interaction with Bedrock whose answer is bytes."""
    kind = "application/vnd.amazon.eventstream"
    return interaction(answer={"base64_string": data}, url=BEDROCK + way, content_type=kind)


def cut(data: str) -> str:
    """Return base64 without the last byte."""
    return base64.b64encode(base64.b64decode(data)[:-1]).decode()


@pytest.mark.parametrize(
    "made",
    [
        text(chunk("A") + chunk("", "stop") + DONE),
        text(chunk("A", "stop")),
        text(chunk("A\u2028\u0085\x0b\x1cB", "stop") + DONE),
        packed(STREAM, "converse-stream"),
        packed(OTHER, "invoke-with-response-stream"),
        interaction(answer={"string": ""}, status=204),
        interaction(answer={"string": ""}, content_length="0"),
        interaction(answer={"string": json.dumps(FILTERED)}, status=400),
        interaction(answer={"string": '{"unknown": "shape"}'}, url="https://api.example.com/v9/ask"),
        interaction(answer={"string": "plain text"}, url="https://api.example.com/v9/ask"),
        interaction(answer={"string": said("A").replace('"finish_reason"', '"logprobs": NaN, "finish_reason"')}),
    ],
)
def test_an_answer_that_came_to_its_end_is_imported(made: dict[str, Any], tmp_path: Path) -> None:
    """Known dialects, whole bodies of unknown ones, a filter's refusal, and what was empty and said so."""
    result = run(tmp_path / "store", cassettes.write(tmp_path / "c.json", made))

    assert ([], 1) == (reasons(result), result.summary()["imported"])


CUT = "the answer did not come to its end"
UNKNOWN = "a stream that was cut off, failed, or is of a dialect whose end is not known here"


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        pytest.param(text(chunk("A") + chunk("B")), CUT, id="neither reason nor end"),
        pytest.param(text(chunk("A") + DONE), CUT, id="an end without a reason"),
        pytest.param(text(chunk("A") + chunk("B") + 'data: {"error": {"message": "x"}}\n\n'), UNKNOWN, id="an error event"),
        pytest.param(text(chunk("A", "stop") + chunk("", None, error={"code": 502})), CUT, id="an error in a chunk"),
        pytest.param(text("data: {"), UNKNOWN, id="half an event"),
        pytest.param(interaction(answer={"string": '{"a": 1}\n{"a": 2}\n'}, content_type="application/x-ndjson"), UNKNOWN, id="lines"),
        pytest.param(packed(cut(STREAM), "converse-stream"), "a binary event stream that is cut off", id="cut frames"),
        pytest.param(packed(frames.stream(LLAMA[0])["base64"], "invoke-with-response-stream"), "a binary event stream that is cut off", id="frames without their last"),
        pytest.param(packed("//79/A==", "converse-stream"), "a binary event stream that is cut off", id="no frames"),
        pytest.param(text('{"choices": []}'), CUT, id="no choices"),
        pytest.param(text('{"error": {"message": "x"}}'), "the body is an error", id="an error as a success"),
        pytest.param(text('{"choices": null, "error": {"message": "x"}}'), "the body is an error", id="choices that are null"),
        pytest.param(text(""), "the body is empty", id="empty"),
        pytest.param(interaction(answer=None, status=429), "status 429", id="too many requests"),
        pytest.param(interaction(status=500), "status 500", id="server error"),
        pytest.param(interaction(status=301), "status 301: a redirect", id="redirect"),
        pytest.param(interaction(status=0), "status 0", id="no real status"),
        pytest.param(interaction(status=None), "the response has no status", id="no status"),
        pytest.param(interaction(status=True), "the response has no status", id="a truth as status"),
        pytest.param(text(said(f"it is {KEY}")), "the answer holds what looks like a credential at /response/body", id="a key"),
        pytest.param(text(chunk("it is " + KEY[:12]) + chunk(KEY[12:], "stop")), "the answer holds what looks like a credential", id="a key over two events"),
        pytest.param(text('{"access_token": "ya29.x", "expires_in": 1}'), "the answer holds a credential: access_token", id="a token"),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_refused_by_name(made: dict[str, Any], reason: str, tmp_path: Path) -> None:
    """It is never taken for one, and the other interaction is imported."""
    result = run(tmp_path / "store", cassettes.write(tmp_path / "c.json", interaction(asked("other")), made))

    assert (1, 1) == (result.summary()["imported"], result.files[0].refused[0].index)
    assert reasons(result)[0].startswith(reason)
    assert KEY not in reasons(result)[0]


def test_an_error_is_an_answer_where_it_is_asked_for(tmp_path: Path) -> None:
    """As targets accept statuses."""
    path = cassettes.write(tmp_path / "c.json", interaction(answer={"string": '{"error": {"code": "x"}}'}, status=404))
    result = run(tmp_path / "store", path, accepted=(404,))

    assert (404, []) == (only(tmp_path / "store")["response"]["status"], reasons(result))


def test_a_body_that_json_kept_as_null_is_there(tmp_path: Path) -> None:
    """A recorder that keeps values says so by the member that it writes."""
    made = interaction(url="https://api.example.com/v9/ask")
    made["response"] |= {"body": None, "parsed_body": None}
    run(tmp_path / "store", cassettes.write(tmp_path / "c.json", made))

    assert only(tmp_path / "store")["response"]["body"] is None


@pytest.mark.parametrize(
    ("date", "recorded_at", "expected"),
    [
        ("Sun, 30 Nov 2025 12:00:00 GMT", "2020-01-01T00:00:00", "2025-11-30T12:00:00Z"),
        (None, "2020-01-02T03:04:05", "2020-01-02T03:04:05Z"),
        (None, "2020-01-02T03:04:05+01:00", "2020-01-02T02:04:05Z"),
        (None, "Tue, 01 Nov 2011 04:58:44 GMT", "2011-11-01T04:58:44Z"),
        ("yesterday", "2020-01-02T03:04:05Z", "2020-01-02T03:04:05Z"),
        ("Sun, 99 Nov 2025 12:00:00 GMT", None, "1970-01-01T00:00:00Z"),
        ("Mon, 01 Jan 1900 00:00:00 GMT", None, "1970-01-01T00:00:00Z"),
        ("Sun, 30 Nov 99999 12:00:00 GMT", "9999-12-31T23:59:59-14:00", "1970-01-01T00:00:00Z"),
        (None, 7, "1970-01-01T00:00:00Z"),
        (None, None, "1970-01-01T00:00:00Z"),
    ],
)
def test_the_second_is_the_server_s_else_the_recorder_s_else_the_first(
    date: str | None, recorded_at: Any, expected: str, tmp_path: Path
) -> None:
    """Never the time of the import."""
    made = {**interaction(date=date), "recorded_at": recorded_at}
    run(tmp_path / "store", cassettes.write(tmp_path / "c.json", made))

    assert expected == only(tmp_path / "store")["recorded_at"]


def test_nothing_of_the_import_is_written(tmp_path: Path) -> None:
    """Neither its time, nor the tool's version, nor a path."""
    run(tmp_path / "store", cassettes.write(tmp_path / "a folder" / "c.json", interaction()))
    snapshot = only(tmp_path / "store")

    assert {"import": "vcr"} == snapshot["meta"]
    assert "a folder" not in json.dumps(snapshot)
