"""Completions that strict JSON has no place for: kept as text, read as the completions they are, and judged by what is read."""

from __future__ import annotations

import json

import pytest

from capture.accept import Answer, Failure, judge
from capture.run import Mode
from capture.transport import Reply
from golden.model import Target
from snapshots import dialects
from snapshots.lookup import reported_model
from tests.capture.conftest import Project, outcomes
from tests.capture.server import ModelServer, Say, completion

URL = "https://api.example.com/v1/chat/completions"
DOCUMENT = {"transport": "http", "method": "POST", "url": URL, "headers": {}, "body": {"model": "m-1", "messages": []}}


def odd(text: str | None = "A", **parts) -> bytes:
    """Return a completion that names a member twice."""
    return json.dumps(completion(text, **parts)).encode()[:-1] + b', "x": 1, "x": 1}'


def judged(data: bytes, status: int = 200, accept: tuple[int, ...] = ()) -> Answer | Failure:
    return judge(
        Reply(status, (("content-type", "application/json"),), data, 1),
        DOCUMENT,
        Target("gpt", "openai", "https://api.example.com/v1", accept_status=accept),
    )


def test_its_model_is_the_one_that_the_reader_reports() -> None:
    """What capture compares and what the store says are one reading."""
    answer = judged(odd(model="m-1"))

    assert isinstance(answer, Answer)
    assert ("m-1", False, True) == (answer.model, answer.is_unexplained_empty, "text" in answer.response)


def test_an_empty_one_is_empty() -> None:
    """It is asked again once, as any other."""
    answer = judged(odd(""))

    assert isinstance(answer, Answer)
    assert answer.is_unexplained_empty


@pytest.mark.parametrize(
    "data",
    [
        b'{"choices": [], "x": 1, "x": 1}',
        b'{"error": {"message": "no"}, "x": 1, "x": 1}',
        b'{"choices": [{"text": "legacy"}], "x": 1, "x": 1}',
        b'{"choices": [{"index": 0, "mess',
        b'data: {"choices": [{"index": 0, "delta": {"content": "A"}}]}\n\n',
    ],
)
def test_what_is_no_whole_completion_is_no_answer(data: bytes) -> None:
    """No choice, an error, another dialect, cut JSON, a cut stream."""
    assert isinstance(judged(data), Failure)


def test_live_calls_it_unchanged(one: Project, server: ModelServer) -> None:
    """The same odd bytes twice are one observation."""
    server.fallback = lambda asked: Say(odd(model="tiny-1"), 200, {"Content-Type": "application/json"})
    one.capture()

    assert ["unchanged"] == outcomes(one.capture(Mode.LIVE))
    assert 1 == len(one.files())
    assert "tiny-1" == reported_model(one.store.read(next(one.store.walk())))


def test_an_accepted_error_is_read_raw() -> None:
    """A status that a target accepts brings bodies that are no completions: graders get them as they came."""
    answer = judged(b'{"error": {"message": "no such thing", "code": "not_found"}}', 404, (404,))

    assert isinstance(answer, Answer)
    assert "raw" == dialects.reader_for(DOCUMENT, answer.response)[0]
    assert not dialects.read("raw", answer.response).recognised


def test_a_filtered_error_is_read_as_a_refusal() -> None:
    """A content filter's 400 is an answer of this dialect."""
    answer = judged(b'{"error": {"message": "filtered", "code": "content_filter"}}', 400)

    assert isinstance(answer, Answer)
    reader, _ = dialects.reader_for(DOCUMENT, answer.response)
    assert ("openai-chat", "content_filter") == (reader, dialects.read(reader, answer.response).first.finish_reason)
