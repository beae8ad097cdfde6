"""What an http target answers: cut streams and errors are no answers, whoever sends them; a service's own streams are, once sound."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capture.accept import Answer, Failure, judge
from capture.transport import Reply
from golden.model import Target
from tests.capture.conftest import Project, outcomes
from tests.capture.server import ModelServer, Say
from tests.snapshots import frames

HOST = "https://service.example.com"
EVENTS, FRAMES, JSON, LINES = (
    "text/event-stream", "application/vnd.amazon.eventstream", "application/json", "application/x-ndjson",
)  # fmt: skip
CUT, ERROR, ERROR_EVENT = "the stream was cut off before its end", "the body is an error", "the stream reports an error"
HALF = "the answer was cut off before its end"


def judged(data: bytes, kind: str = "", path: str = "/ask", status: int = 200, **body: Any) -> Answer | Failure:
    document = {"transport": "http", "method": "POST", "url": HOST + path, "headers": {}, "body": body}
    headers = (("Content-Type", kind),) if kind else ()
    return judge(Reply(status, headers, data, 1), document, Target("service", "http", url=HOST + path))


def reason(data: bytes, kind: str = "", path: str = "/ask") -> str | None:
    """Return why a reply is no answer, without the server's words, or ``None`` where it is one."""
    verdict = judged(data, kind, path)
    return None if isinstance(verdict, Answer) else verdict.reason.removeprefix("HTTP 200, but ").partition(":")[0]


def sse(*events: Any, named: bool = False) -> bytes:
    """Return an event stream; a text is the data as it is."""
    return "".join(
        (f"event: {event['type']}\n" if named else "")
        + f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n"
        for event in events
    ).encode()


def lines(*events: Any) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def chat(delta: dict[str, Any], finish: str | None = None, index: int = 0) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


MESSAGE = {"type": "message", "role": "assistant", "content": [], "stop_reason": None}
ANTHROPIC = (
    {"type": "message_start", "message": MESSAGE},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "A"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    {"type": "message_stop"},
)
RESPONSE = {"object": "response", "status": "in_progress", "output": []}
SPOKEN = {"type": "message", "content": [{"type": "output_text", "text": "A"}]}
PARTS = {"content": {"role": "model", "parts": [{"text": "A"}]}}
CONVERSE = (
    frames.event("messageStart", role="assistant"),
    frames.event("contentBlockDelta", contentBlockIndex=0, delta={"text": "A"}),
    frames.event("messageStop", stopReason="end_turn"),
)
# For each stream: its path, its type, as much of it as is needed, and what comes after that and tells nothing of the answer.
STREAMS: dict[str, tuple[str, str, bytes, bytes]] = {
    "chat": ("/v1/chat/completions", EVENTS, sse(chat({"content": "A"}), chat({}, "stop"))[:-2], b"\n\ndata: [DONE]\n\n"),
    "completions": (
        "/v1/completions", EVENTS,
        sse({"choices": [{"index": 0, "text": "A"}]}, {"choices": [{"index": 0, "text": "", "finish_reason": "stop"}]})[:-2],
        b"\n\ndata: [DONE]\n\n",
    ),
    "responses": (
        "/v1/responses", EVENTS,
        sse({"type": "response.created", "response": RESPONSE}, {"type": "response.output_text.delta", "delta": "A"},
            {"type": "response.completed", "response": {**RESPONSE, "status": "completed", "output": [SPOKEN]}}, named=True)[:-2],
        b"\n\n",
    ),
    "anthropic": ("/v1/messages", EVENTS, sse(*ANTHROPIC, named=True)[:-2], b"\n\n"),
    "gemini": (
        "/v1beta/models/m:streamGenerateContent", EVENTS,
        sse({"candidates": [PARTS]}, {"candidates": [{"finishReason": "STOP"}]})[:-2], b"\n\n",
    ),
    "gemini list": (
        "/v1beta/models/m:streamGenerateContent", JSON,
        json.dumps([{"candidates": [PARTS]}, {"candidates": [{"finishReason": "STOP"}]}], indent=1).encode(), b"\n",
    ),
    "cohere": (
        "/v2/chat", EVENTS,
        sse({"type": "message-start", "id": "1", "delta": {"message": {"role": "assistant", "content": []}}},
            {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "A"}}}},
            {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}, named=True)[:-2],
        b"\n\n",
    ),
    "cohere 1": (
        "/v1/chat", "application/stream+json",
        lines({"event_type": "stream-start", "generation_id": "1"}, {"event_type": "text-generation", "text": "A"},
              {"event_type": "stream-end", "finish_reason": "COMPLETE", "response": {
                  "text": "A", "generation_id": "1", "finish_reason": "COMPLETE"}})[:-1],
        b"\n",
    ),
    "converse": ("/model/m/converse-stream", FRAMES, b"".join(CONVERSE), b""),
    "invoke": ("/model/m/invoke-with-response-stream", FRAMES, b"".join(frames.chunk(**event) for event in ANTHROPIC), b""),
    "invoke, another model": (
        "/model/l/invoke-with-response-stream", FRAMES,
        frames.chunk(generation="A") + frames.chunk(**{"generation": "", "amazon-bedrock-invocationMetrics": {}}), b"",
    ),
}  # fmt: skip


@pytest.mark.parametrize("path", [None, "/gateway"], ids=["its own path", "another path"])
@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_is_cut_at_any_byte_is_no_answer(name: str, path: str | None) -> None:
    """Wherever it is sent from, it is one from the byte on that ends what its dialect needs."""
    own, kind, needed, rest = STREAMS[name]
    whole = needed + rest
    accepted = [size for size in range(len(whole)) if isinstance(judged(whole[:size], kind, path or own), Answer)]

    assert isinstance(judged(whole, kind, path or own), Answer)
    assert [] == [size for size in accepted if size < len(needed)]


@pytest.mark.parametrize(
    ("data", "kind", "path", "why"),
    [
        pytest.param(b'{"error": {"message": "busy"}}', JSON, "/ask", ERROR, id="error object"),
        pytest.param(b'{"error": "busy", "x": NaN}', JSON, "/ask", ERROR, id="error object that strict JSON cannot hold"),
        pytest.param(b'{"type": "error", "message": "busy"}', JSON, "/ask", ERROR, id="type error"),
        pytest.param(b'{"object": "error", "message": "busy"}', JSON, "/ask", ERROR, id="object error"),
        pytest.param(b'[{"error": {"code": 503}}]', JSON, "/ask", ERROR, id="list of an error"),
        pytest.param(b'[{"error": {"code": 503}}]', JSON, STREAMS["gemini list"][0], ERROR, id="gemini's list of an error"),
        pytest.param(b'{"a": [1, 2', JSON, "/ask", HALF, id="half an object"),
        pytest.param(b' [{"a": 1},', "application/problem+json; charset=utf-8", "/ask", HALF, id="half a list"),
        pytest.param(b'"wor', JSON, "/ask", HALF, id="half a text"),
        pytest.param(sse(chat({"content": "A"}), {"error": {"code": 1}}), EVENTS, "/v1/chat/completions", ERROR_EVENT, id="chunk, error"),
        pytest.param(sse({"error": {"code": 1}}), EVENTS, "/v1/chat/completions", ERROR_EVENT, id="only an error"),
        pytest.param(sse({"error": {"code": 1}}, "[DONE]"), EVENTS, "/ask", ERROR_EVENT, id="an error before the end"),
        pytest.param(sse({"type": "error", "x": 1}), EVENTS, "/v1/messages", ERROR_EVENT, id="only an error of a message"),
        pytest.param(b"event: error\ndata: busy\n\n", EVENTS, "/ask", ERROR_EVENT, id="an event that is called so"),
        pytest.param(lines({"response": "A"}, {"error": "busy"}), LINES, "/ask", ERROR_EVENT, id="a line with an error"),
        pytest.param(lines({"response": "A", "done": False}), LINES, "/ask", CUT, id="a line that is not done"),
        pytest.param(lines({"response": "A"}, {"response": "B"})[:-3], LINES, "/ask", CUT, id="half a line"),
        pytest.param(lines({"response": "A"}, {"response": "B"})[:-3], "", "/ask", CUT, id="half a line of an unnamed type"),
        pytest.param(sse({"x": 1}, {"x": 2})[:-1], EVENTS, "/ask", CUT, id="an event without its blank line"),
        pytest.param(b'data: {"x": 1}\r\n\r\ndata: {"x": 2}\r\n', EVENTS, "/ask", CUT, id="the same with other line ends"),
        pytest.param(sse({"x": 1}, '{"x": '), EVENTS, "/ask", CUT, id="half an object in a whole event"),
        pytest.param(b": ping\n\n", EVENTS, "/ask", CUT, id="no event at all"),
        pytest.param(b"dat", EVENTS, "/ask", CUT, id="half a field"),
        pytest.param(sse(ANTHROPIC[2]), "text/plain", "/ask", CUT, id="events of a dialect without their beginning"),
        pytest.param(CONVERSE[0] + frames.fault("throttlingException", "busy"), FRAMES, "/ask", CUT, id="an exception in converse"),
        pytest.param(frames.fault("throttlingException", "busy"), FRAMES, "/ask", ERROR_EVENT, id="only an exception"),
        pytest.param(frames.chunk(generation="A"), FRAMES, "/ask", CUT, id="chunks without the last one"),
        pytest.param(CONVERSE[2], "", "/ask", CUT, id="frames of converse without their beginning"),
        pytest.param(b"\0\0\0", FRAMES, "/ask", CUT, id="the beginning of a frame"),
        pytest.param(b"", JSON, "/ask", "the body is empty", id="nothing"),
    ],
)  # fmt: skip
def test_what_shows_that_it_is_no_whole_answer_is_refused(data: bytes, kind: str, path: str, why: str) -> None:
    """It may pass: another attempt is made, and the reason is told."""
    assert why == reason(data, kind, path)
    assert isinstance(verdict := judged(data, kind, path), Failure)
    assert verdict.passing


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        pytest.param(b'{"error": null, "type": "result"}', JSON, id="no error"),
        pytest.param(b'[{"result": 1}, {"error": "no such item"}]', JSON, id="a list in which one item failed"),
        pytest.param(sse({"x": 1}, {"x": 2}), EVENTS, id="a service's own events"),
        pytest.param(sse({"x": 1}, "[DONE]")[:-1], EVENTS, id="an end without its blank line"),
        pytest.param(sse("Hel", "lo ["), EVENTS, id="events of words"),
        pytest.param(lines({"response": "A", "done": False}, {"response": "", "done": True}), LINES, id="lines that are done"),
        pytest.param(lines({"a": 1}, {"a": 2})[:-1], LINES, id="lines without the last line end"),
        pytest.param(b"{{ name }} is a template", "text/plain", id="words that begin with a brace"),
        pytest.param(b'{"a": 1}\nis what I found', "text/plain", id="words after JSON"),
        pytest.param(b"id: A-17\nstatus: shipped", "text/plain", id="words that look like a field"),
        pytest.param(b"\x89PNG\r\n\x1a\n" + bytes(range(128, 160)), "image/png", id="an image"),
        pytest.param(frames.frame(b"\x01\x02", event_type="AudioEvent", message_type="event"), FRAMES, id="frames of another service"),
    ],
)  # fmt: skip
def test_what_a_service_says_in_its_own_way_is_an_answer(data: bytes, kind: str) -> None:
    """Nothing shows that anything is missing."""
    assert reason(data, kind) is None


def test_no_content_is_an_answer() -> None:
    """Its status says so."""
    assert isinstance(judged(b"", status=204), Answer)


def test_a_stream_of_two_choices_has_both() -> None:
    """The request says how many; the stream may say itself that it is done."""
    first, second = sse(chat({"content": "A"}, "stop")), sse(chat({"content": "B"}, "stop", 1))
    told = [judged(data, EVENTS, "/gateway", n=2) for data in (first, first + second, first + sse("[DONE]"))]

    assert [Failure, Answer, Answer] == [type(verdict) for verdict in told]


def test_a_cut_stream_is_asked_for_again_and_never_stored(project: Project, server: ModelServer) -> None:
    """The whole one after it is."""
    whole = sse(*ANTHROPIC, named=True)
    (project.root / "whichclock.toml").write_text(
        'suite = "s"\ncases = ["cases.jsonl"]\n[targets.service]\ntype = "http"\n'
        f'url = "{server.url}/ask"\nbody = {{ question = "{{{{ prompt }}}}" }}\n'
    )
    server.replies = [Say(whole[:-20], headers={"Content-Type": EVENTS}), Say(whole, headers={"Content-Type": EVENTS})]
    (project.root / "cases.jsonl").write_text('{"id": "hello", "prompt": "hello"}\n')

    result = project.capture()

    assert (["recorded"], 2) == (outcomes(result), result.calls)
    [found] = project.store.walk()
    assert whole.decode() == project.store.read(found).response["text"]
