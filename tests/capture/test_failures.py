"""What is never stored, what is tried again, and what is said in the end."""

from __future__ import annotations

import json

import pytest

from capture.run import Mode
from tests.capture.conftest import NOON, Project, outcomes
from tests.capture.server import ModelServer, Say, completion, say, say_json

REFUSAL = {"error": {"code": "content_filter", "message": "The response was filtered", "type": "invalid_request_error"}}


def stream(*events: object, done: bool = True) -> Say:
    lines = [f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n" for event in events]
    return Say(
        "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode(), headers={"Content-Type": "text/event-stream"}
    )


def chunk(text: str = "", finish: str | None = None) -> dict:
    return {
        "id": "c",
        "model": "tiny-1",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}],
    }


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_a_passing_failure_is_tried_again(one: Project, server: ModelServer, status: int) -> None:
    """One transient status and then an answer is a recording of two attempts."""
    server.replies = [say_json({"error": {"message": "busy"}}, status), say("A")]
    result = one.capture()

    assert ["recorded"] == outcomes(result)
    assert 2 == result.calls
    [found] = one.store.walk()
    assert 2 == one.store.read(found).meta["attempts"]


@pytest.mark.parametrize("status", [401, 403, 404, 422])
def test_another_client_error_fails_at_once(one: Project, server: ModelServer, status: int) -> None:
    """The server's own words are told, and nothing is stored."""
    server.replies = [say_json({"error": {"message": "no such model"}}, status)]
    result = one.capture()

    assert [f"HTTP {status}: no such model"] == [row.error for row in result.rows]
    assert (1, 3, []) == (result.calls, result.exit_code, one.files())


def test_the_wait_doubles_from_half_a_second_to_ten(one: Project, server: ModelServer) -> None:
    """Without a word from the server the waits are fixed: no jitter."""
    one.write({"id": "hello", "prompt": "hello"}, target="retries = 7")
    server.fallback = lambda asked: Say(b"down", 503)
    result = one.capture()

    assert [0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0] == one.pauses
    assert ["HTTP 503: down (after 8 attempts)"] == [row.error for row in result.rows]
    assert 8 == result.calls


def test_no_retries_means_one_call(one: Project, server: ModelServer) -> None:
    """Zero is a number of retries."""
    one.write({"id": "hello", "prompt": "hello"}, target="retries = 0")
    server.fallback = lambda asked: Say(b"down", 503)

    assert ["HTTP 503: down"] == [row.error for row in one.capture().rows]


@pytest.mark.parametrize(
    ("value", "pause"),
    [
        pytest.param("7", 7.0, id="seconds"),
        pytest.param("120", 120.0, id="the ceiling itself"),
        pytest.param("Sun, 30 Nov 2025 12:00:09 GMT", 9.0, id="a date"),
        pytest.param("Sun, 30 Nov 2025 11:59:00 GMT", 0.5, id="a date that is past"),
        pytest.param("0", 0.5, id="at once is not sooner than our own wait"),
        pytest.param("soon", 0.5, id="no time at all"),
    ],
)
def test_retry_after_is_honoured(one: Project, server: ModelServer, value: str, pause: float) -> None:
    """The server's wait, in seconds or as a date, takes the place of ours."""
    assert NOON == one.second
    server.replies = [say_json({}, 429, Retry_After=value), say("A")]

    assert ["recorded"] == outcomes(one.capture())
    assert [pause] == one.pauses


def test_a_wait_beyond_the_ceiling_fails_at_once(one: Project, server: ModelServer) -> None:
    """Nobody waits an hour for one call; the message says what was asked."""
    server.replies = [say_json({"error": {"message": "quota"}}, 429, Retry_After="3600")]
    result = one.capture()

    assert ["HTTP 429: quota (the server asks to wait 3600 s, more than the ceiling of 120 s)"] == [
        row.error for row in result.rows
    ]
    assert ([], 1) == (one.pauses, result.calls)


BROKEN = {
    "connection reset": Say(reset=True),
    "body cut short": Say(json.dumps(completion("A")).encode(), cut=40),
    "body cut to nothing": Say(json.dumps(completion("A")).encode(), cut=0),
    "no JSON": Say(b"<html>gateway</html>", headers={"Content-Type": "text/html"}),
    "half a JSON": Say(json.dumps(completion("A")).encode()[:60]),
    "empty body": Say(b""),
    "error object with status 200": say_json({"error": {"message": "overloaded"}}),
    "no choices": say_json({"id": "x", "object": "chat.completion"}),
    "empty choices": say_json({"choices": []}),
    "choices without a message": say_json({"choices": [{"index": 0}]}),
    "another API": say_json({"content": [{"type": "text", "text": "A"}], "role": "assistant"}),
    "stream without a finish reason": stream(chunk("A")),
    "stream cut before its end": stream(chunk("A"), done=False),
    "stream with an error event": stream(chunk("A"), chunk("B"), {"error": {"message": "overloaded"}}),
    "length longer than the body": Say(b"{}", length=200, cut=2),
    "unknown encoding": Say(b"not gzip at all", headers={"Content-Encoding": "gzip"}),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_what_is_no_whole_answer_is_tried_again_and_never_stored(
    one: Project, server: ModelServer, broken: Say
) -> None:
    """An incomplete answer with a good status is a passing failure; the answer after it is stored."""
    server.replies = [broken, say("whole")]
    result = one.capture()

    assert ["recorded"] == outcomes(result)
    [found] = one.store.walk()
    assert "whole" == one.store.read(found).response["body"]["choices"][0]["message"]["content"]


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_what_stays_broken_fails_with_a_reason(one: Project, server: ModelServer, broken: Say) -> None:
    """Once the retries are used up the row says what came, and the store stays empty."""
    server.fallback = lambda asked: broken
    result = one.capture()

    assert ["failed"] == outcomes(result)
    assert (result.rows[0].error or "").endswith("(after 4 attempts)")
    assert (4, 3, []) == (result.calls, result.exit_code, one.files())


def test_a_finished_stream_is_an_answer_and_is_kept_as_its_event_text(one: Project, server: ModelServer) -> None:
    """A stream with finish reasons is whole; it replays as it came."""
    reply = stream(chunk("A"), chunk("B", "stop"))
    server.replies = [reply]

    assert ["recorded"] == outcomes(one.capture())
    [found] = one.store.walk()
    assert reply.body.decode() == one.store.read(found).response["text"]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ("timeout_s = 0.2", "no whole answer within 0.2 s"),
        ("first_byte_timeout_s = 0.1", "no first byte within 0.1 s"),
    ],
)
def test_a_server_that_says_nothing_is_given_up(one: Project, server: ModelServer, limits: str, message: str) -> None:
    """Both the whole call and its first byte have a limit."""
    one.write({"id": "hello", "prompt": "hello"}, target=f"retries = 0\n{limits}")
    server.replies = [Say(hang=True)]
    result = one.capture()

    assert ["failed"] == outcomes(result)
    assert (result.rows[0].error or "").endswith(message)


def test_a_server_that_is_not_there_fails_with_its_address(one: Project, server: ModelServer) -> None:
    """A refused connection is a transport failure like any other."""
    server.stop()
    one.write({"id": "hello", "prompt": "hello"}, target="retries = 1")
    result = one.capture()

    assert ["failed"] == outcomes(result)
    assert "127.0.0.1" in (result.rows[0].error or "")
    assert [0.5] == one.pauses


def test_a_redirect_is_not_followed(one: Project, server: ModelServer) -> None:
    """Another host would get the key: the call fails and names where it was sent."""
    server.replies = [Say(b"", 307, {"Location": "https://elsewhere.example.com/v1"})]
    result = one.capture()

    assert ["failed"] == outcomes(result)
    assert "a redirect to https://elsewhere.example.com/v1 is not followed" in (result.rows[0].error or "")
    assert 1 == len(server.asked)


def test_cookies_are_never_sent_back(project: Project, server: ModelServer) -> None:
    """What one answer sets does not colour the next request."""
    project.write(*({"id": name, "prompt": name} for name in "ab"), target="concurrency = 1")
    server.replies = [say_json(completion("A"), Set_Cookie="session=1")]
    project.capture()

    assert [False, False] == ["cookie" in asked.headers for asked in server.asked]


def test_a_proxy_in_the_environment_is_not_used(one: Project, server: ModelServer, monkeypatch) -> None:
    """The request goes where the suite says."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    assert ["recorded"] == outcomes(one.capture())


ODD = {
    "half a surrogate pair": '{"choices":[{"index":0,"message":{"content":"a\\ud83d"},"finish_reason":"stop"}]}',
    "NaN among log probabilities": '{"choices":[{"index":0,"message":{"content":"a"},"logprobs":{"x":NaN}}]}',
    "an integer beyond 64 bits": '{"choices":[{"index":0,"message":{"content":"a"}}],"x":123456789012345678901}',
    "a member given twice": '{"choices":[{"index":0,"message":{"content":"a","content":"b"}}]}',
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_a_whole_answer_that_strict_json_cannot_hold_is_kept_as_its_text(
    one: Project, server: ModelServer, text: str
) -> None:
    """Asking again would give the same: the bytes are kept, and nothing is changed to make them fit."""
    server.replies = [Say(text.encode())]
    result = one.capture()

    assert (["recorded"], 1) == (outcomes(result), result.calls)
    [found] = one.store.walk()
    assert text == one.store.read(found).response["text"]


def test_a_content_filter_refusal_sent_as_400_is_an_answer(one: Project, server: ModelServer) -> None:
    """The refusal is what this model says to this request."""
    server.replies = [say_json(REFUSAL, 400)]

    assert ["recorded"] == outcomes(one.capture())
    [found] = one.store.walk()
    assert 400 == one.store.read(found).response["status"]


def test_a_status_that_the_target_accepts_is_an_answer(one: Project, server: ModelServer) -> None:
    """accept_status makes an error an answer, but never a transient one."""
    one.write({"id": "hello", "prompt": "hello"}, target="accept_status = [404]")
    server.replies = [say_json({"error": {"message": "gone"}}, 404)]

    assert ["recorded"] == outcomes(one.capture())


def test_an_empty_answer_is_asked_once_more(one: Project, server: ModelServer) -> None:
    """The second answer, if it says something, is the answer."""
    server.replies = [say(""), say("A")]
    result = one.capture()

    assert (["recorded"], 2, []) == (outcomes(result), result.calls, one.pauses)
    [found] = one.store.walk()
    assert "A" == one.store.read(found).response["body"]["choices"][0]["message"]["content"]


def test_two_empty_answers_in_a_row_are_the_answer(one: Project, server: ModelServer) -> None:
    """What a model says twice is what it says."""
    server.replies = [say(""), say(None), say("too late")]
    result = one.capture()

    assert (["recorded"], 2) == (outcomes(result), result.calls)


def test_empty_answers_around_a_failure_are_not_two_in_a_row(one: Project, server: ModelServer) -> None:
    """The answer before the failure says nothing about the one after it: that is asked once more too."""
    server.replies = [say(""), Say(b"down", 503), say(""), say("A")]
    result = one.capture()

    assert (["recorded"], 4, [0.5]) == (outcomes(result), result.calls, one.pauses)
    [found] = one.store.walk()
    assert "A" == one.store.read(found).response["body"]["choices"][0]["message"]["content"]


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_an_explained_empty_answer_is_stored_at_once(one: Project, server: ModelServer, reason: str) -> None:
    """The finish reason says why there is nothing."""
    server.replies = [say("", finish=reason)]

    assert 1 == one.capture().calls


def test_an_answer_that_is_too_large_is_refused(one: Project, server: ModelServer) -> None:
    """The limit holds with and without a declared length, and nothing is stored."""
    server.replies = [say("x" * 5000)]
    result = one.capture(max_response_bytes=4000)

    assert ["the answer is larger than 4000 bytes; it is not stored"] == [row.error for row in result.rows]
    assert (["refused"], 3, []) == (outcomes(result), result.exit_code, one.files())


def test_the_servers_words_are_neutral_and_short(one: Project, server: ModelServer) -> None:
    """An error text cannot move the cursor or fill the screen."""
    server.replies = [say_json({"error": {"message": "\x1b[2J" + "very " * 200}}, 422)]
    [row] = one.capture().rows

    assert (row.error or "").startswith("HTTP 422: \\x1b[2Jvery very")
    assert 300 == len(row.error or "")


def test_the_budget_counts_retries_and_refuses_the_rest(project: Project, server: ModelServer) -> None:
    """Two calls pay for one answer with one retry; the second case is refused."""
    project.write(*({"id": name, "prompt": name} for name in "ab"), target="concurrency = 1")
    server.replies = [Say(b"down", 503), say("A")]
    result = project.capture(max_calls=2)

    assert ["recorded", "refused"] == outcomes(result)
    assert "over the budget of 2 calls" == result.rows[1].error
    assert (2, 3) == (result.calls, result.exit_code)


def test_an_unset_variable_fails_the_rows_that_need_it(one: Project, server: ModelServer) -> None:
    """The name of the variable is told; nothing is sent without it."""
    one.write({"id": "hello", "prompt": "hello"}, target='api_key = "{{ env.TRY_API_KEY }}"')
    result = one.capture(Mode.LIVE)

    assert ["failed"] == outcomes(result)
    assert "TRY_API_KEY" in (result.rows[0].error or "")
    assert 0 == result.calls == len(server.asked)


def test_one_failure_does_not_stop_the_others(project: Project, server: ModelServer) -> None:
    """Every row has an outcome, in suite order, and the code says that one is missing."""
    server.fallback = lambda asked: say_json({}, 404) if asked.prompt == "hello" else say("A")
    result = project.capture()

    assert ["failed", "recorded"] == outcomes(result)
    assert 3 == result.exit_code


def test_a_disk_that_refuses_stops_the_asking(project: Project, server: ModelServer, monkeypatch) -> None:
    """Answers that cannot be kept are not paid for."""
    import os

    project.write(*({"id": str(i), "prompt": str(i)} for i in range(20)), target="concurrency = 1")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    result = project.capture()

    assert {"failed"} == set(outcomes(result))
    assert len(server.asked) < 20
    assert "No space left on device" in (result.rows[0].error or "")
    assert [] == project.files()
