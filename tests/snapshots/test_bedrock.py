"""Bedrock: converse and messages by invoke, whole and in binary frames, by bodies that its API reference describes."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from snapshots import dialects
from snapshots.errors import UnreadableSnapshot
from snapshots.reading import Reading
from tests.snapshots import frames

HOST = "https://bedrock-runtime.eu-west-1.amazonaws.com/model"


def request(way: str, model: str = "m%3A0") -> dict[str, Any]:
    """Return a request document."""
    return {"transport": "http", "method": "POST", "url": f"{HOST}/{model}/{way}"}


def converse(*content: dict[str, Any], stop: str = "end_turn", **members: Any) -> dict[str, Any]:
    """Return a whole answer of converse."""
    message = {"role": "assistant", "content": list(content)}
    return {"status": 200, "body": {"output": {"message": message}, "stopReason": stop, **members}}


def use(arguments: Any, call: str = "1", **members: Any) -> dict[str, Any]:
    """Return a tool call."""
    return {"toolUse": {"toolUseId": call, "name": "get_order", "input": arguments, **members}}


def thought(text: str, signature: str = "s") -> dict[str, Any]:
    """Return a block of reasoning."""
    return {"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}}


USAGE = {
    "inputTokens": 11,
    "outputTokens": 5,
    "totalTokens": 46,
    "cacheReadInputTokens": 30,
    "cacheWriteInputTokens": 0,
}


def read(response: dict[str, Any], way: str = "converse") -> Reading:
    """Read a response by the reader that is its own."""
    return dialects.read(dialects.reader_for(request(way), response)[0], response)


def digest(response: dict[str, Any], way: str = "converse") -> tuple[str, str]:
    """Return the rule and the answer hash of a response."""
    rule = dialects.rule_for(request(way), response)
    return rule, dialects.answer_hash(rule, response)


START = frames.event("messageStart", role="assistant")


def delta(index: int, **members: Any) -> bytes:
    """Return the frame that goes on with a block."""
    return frames.event("contentBlockDelta", contentBlockIndex=index, delta=members)


def stop(reason: str) -> bytes:
    """Return the frame that tells the stop reason."""
    return frames.event("messageStop", stopReason=reason)


def test_an_answer_is_read_into_the_envelope() -> None:
    """Texts are joined; calls, reasoning and stop reason stand where those of other dialects do; no model is told."""
    reading = read(
        converse(thought("Hm."), {"text": "A"}, {"text": "B"}, use({"id": "A-17"}), stop="tool_use", usage=USAGE)
    )
    first = reading.first

    assert ("AB", "Hm.", "tool_use", False, None) == (
        first.text, first.reasoning, first.finish_reason, first.refusal, reading.model,
    )  # fmt: skip
    assert [{"name": "get_order", "arguments": {"id": "A-17"}}] == [call.as_dict() for call in first.tool_calls]


def test_cached_tokens_are_added_to_the_input() -> None:
    """The API counts them beside the rest: 11 + 30 are 41, and with 5 that came out they make the total of 46."""
    reading = read(converse({"text": "A"}, usage=USAGE))

    assert (41, 30, 0, 5) == (
        reading.input_tokens, reading.cached_tokens, reading.cache_write_tokens, reading.output_tokens,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "refused", "empty"),
    [("guardrail_intervened", True, False), ("content_filtered", True, False), ("max_tokens", False, False), ("end_turn", False, True)],
)  # fmt: skip
def test_a_filter_is_a_refusal_and_only_an_unexplained_nothing_is_empty(
    reason: str, refused: bool, empty: bool
) -> None:
    """The stop reason tells both."""
    reading = read(converse(stop=reason))

    assert (refused, empty) == (reading.first.refusal, reading.is_unexplained_empty)


def test_what_the_server_ran_itself_is_no_call() -> None:
    """A tool of the server's own is neither asked of the client nor an empty answer."""
    reading = read(converse(use({}, type="server_tool_use"), {"toolResult": {"toolUseId": "1", "content": []}}))

    assert ((), False) == (reading.first.tool_calls, reading.is_unexplained_empty)


def test_cited_text_is_text() -> None:
    """A block with citations holds its text one level down."""
    block = {"citationsContent": {"content": [{"text": "A"}, {"text": "B"}], "citations": [{"title": "T"}]}}

    assert "AB" == read(converse(block)).first.text


def test_a_stream_spells_the_same_answer_as_a_body() -> None:
    """Texts, reasoning, arguments and citations grow by the index of their block; padding says nothing."""
    streamed = frames.stream(
        START,
        delta(0, reasoningContent={"text": "H"}),
        delta(0, reasoningContent={"text": "m."}),
        delta(0, reasoningContent={"signature": "s"}),
        frames.event("contentBlockStop", contentBlockIndex=0),
        delta(1, text="a\u2028"),
        delta(1, text="b"),
        frames.event(
            "contentBlockStart", contentBlockIndex=2, start={"toolUse": {"toolUseId": "1", "name": "get_order"}}
        ),
        delta(2, toolUse={"input": '{"id": '}),
        delta(2, toolUse={"input": '"A-17"}'}),
        frames.event(
            "contentBlockStart", contentBlockIndex=3, start={"toolUse": {"toolUseId": "2", "name": "get_order"}}
        ),
        delta(4, text="c"),
        delta(4, citation={"title": "T"}),
        stop("tool_use"),
        frames.event("metadata", usage=USAGE, metrics={"latencyMs": 9}),
    )
    cited = {"citationsContent": {"content": [{"text": "c"}], "citations": [{"title": "T"}]}}
    content = thought("Hm."), {"text": "a\u2028b"}, use({"id": "A-17"}), use({}, "2"), cited
    whole = converse(*content, stop="tool_use", usage=USAGE, metrics={"latencyMs": 9})

    assert whole["body"] == dialects.assembled(request("converse-stream"), streamed)
    assert digest(whole) == digest(streamed, "converse-stream")
    assert dialects.is_complete(request("converse-stream"), streamed)


def test_a_model_that_speaks_converse_by_invoke_is_read_alike() -> None:
    """There each event is a member of a chunk, in base64 within the frame."""
    streamed = frames.stream(
        frames.chunk(messageStart={"role": "assistant"}),
        frames.chunk(contentBlockDelta={"delta": {"text": "A"}, "contentBlockIndex": 0}),
        frames.chunk(messageStop={"stopReason": "end_turn"}),
        frames.chunk(metadata={"usage": USAGE}, **{"amazon-bedrock-invocationMetrics": {"inputTokenCount": 11}}),
    )

    assert digest(converse({"text": "A"})) == digest(streamed, "invoke-with-response-stream")
    assert 41 == read(streamed, "invoke-with-response-stream").input_tokens


TEXT = delta(0, text="A")


@pytest.mark.parametrize(
    ("parts", "recognised", "complete"),
    [
        pytest.param([START, TEXT, stop("end_turn")], True, True, id="whole"),
        pytest.param([START, TEXT], True, False, id="no stop reason"),
        pytest.param([START, TEXT, frames.fault("throttlingException", "slow down"), stop("end_turn")], True, False, id="error"),
        pytest.param([START, TEXT, stop("end_turn")[:-1]], False, False, id="cut within a frame"),
        pytest.param([START, TEXT, stop("end_turn")[:5]], False, False, id="cut within the lengths"),
        pytest.param([TEXT, stop("end_turn")], False, False, id="no start"),
        pytest.param([START.replace(b"assistant", b"assistent"), TEXT, stop("end_turn")], False, False, id="a damaged byte"),
        pytest.param([b"\xff" * 64], False, False, id="other bytes"),
        pytest.param([frames.frame(b"[1]", event_type="messageStart", message_type="event")], False, False, id="no object"),
    ],
)  # fmt: skip
def test_only_sound_frames_to_the_end_are_an_answer(parts: list[bytes], recognised: bool, complete: bool) -> None:
    """Checksums are checked; what is cut off, failed or damaged is never stored."""
    response = frames.stream(*parts)
    speaks = dialects.dialect_of(request("converse-stream"), response) is not None

    assert (recognised, complete) == (speaks, dialects.is_complete(request("converse-stream"), response))


@pytest.mark.parametrize(
    "other",
    [
        converse({"text": "A"}, use({}, "2"), usage=USAGE, metrics={"latencyMs": 1}, trace={"guardrail": {}}),
        converse(
            {"text": "A"}, use({}), performanceConfig={"latency": "optimized"}, additionalModelResponseFields=None
        ),
    ],
)
def test_the_same_answer_has_the_same_hash(other: dict[str, Any]) -> None:
    """Ids, usage, times and settings leave no trace."""
    assert digest(converse({"text": "A"}, use({}))) == digest(other)


@pytest.mark.parametrize(
    "other",
    [
        converse({"text": "B"}, use({})),
        converse({"text": "A"}, use({"id": None})),
        converse({"text": "A"}, use({}), stop="max_tokens"),
        converse(thought("x"), {"text": "A"}, use({})),
        converse({"text": "A"}, use({}), something_new=1),
    ],
)
def test_another_answer_has_another_hash(other: dict[str, Any]) -> None:
    """Text, reasoning, calls, the stop reason and members that nobody knows yet count."""
    assert digest(converse({"text": "A"}, use({}))) != digest(other)


@pytest.mark.parametrize(
    ("content", "pointer"),
    [
        ({"text": 7}, "/body/output/message/content/0/text"),
        ({"toolUse": {"input": {}}}, "/body/output/message/content/0/toolUse/name"),
        ({"toolUse": {"name": "f", "input": 7}}, "/body/output/message/content/0/toolUse/input"),
        ({"citationsContent": {"content": [7]}}, "/body/output/message/content/0/citationsContent/content"),
    ],
)
def test_what_the_reader_does_not_know_is_named_by_pointer(content: dict[str, Any], pointer: str) -> None:
    """A sound file with an unknown body is unreadable at a place, never a crash."""
    with pytest.raises(UnreadableSnapshot) as error:
        read(converse(content))

    assert ("bedrock-converse", pointer) == (error.value.reader, error.value.pointer)


MESSAGE = {
    "id": "msg_bdrk_1", "type": "message", "role": "assistant", "model": "m-1", "content": [{"type": "text", "text": "AB"}],
    "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 7, "output_tokens": 2},
}  # fmt: skip
MESSAGE_EVENTS = [
    frames.chunk(type="message_start", message={**MESSAGE, "content": [], "stop_reason": None}),
    frames.chunk(type="content_block_start", index=0, content_block={"type": "text", "text": ""}),
    frames.chunk(type="content_block_delta", index=0, delta={"type": "text_delta", "text": "A"}),
    frames.chunk(type="content_block_delta", index=0, delta={"type": "text_delta", "text": "B"}),
    frames.chunk(type="message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 2}),
    frames.chunk(type="message_stop", **{"amazon-bedrock-invocationMetrics": {"inputTokenCount": 7}}),
]


def test_a_message_by_invoke_is_read_as_anthropic_s_own() -> None:
    """The URL is another, the body the same; a stream has the hash of the whole message."""
    whole, streamed = {"status": 200, "body": MESSAGE}, frames.stream(*MESSAGE_EVENTS)
    reading = read(streamed, "invoke-with-response-stream")

    assert ("bedrock-anthropic/1", "AB", "end_turn", 7, 2, "m-1") == (
        digest(whole, "invoke")[0], reading.first.text, reading.first.finish_reason, reading.input_tokens,
        reading.output_tokens, reading.model,
    )  # fmt: skip
    assert digest(whole, "invoke") == digest(streamed, "invoke-with-response-stream")


@pytest.mark.parametrize(
    "events", [MESSAGE_EVENTS[:-1], [*MESSAGE_EVENTS[:-1], frames.fault("x", "y"), MESSAGE_EVENTS[-1]]]
)
def test_a_message_in_frames_that_ends_early_or_in_an_error_is_incomplete(events: list[bytes]) -> None:
    """It is recognised, so that it can be refused by name."""
    response = frames.stream(*events)
    asked = request("invoke-with-response-stream")

    assert ("bedrock-anthropic", False) == (
        dialects.reader_for(asked, response)[0],
        dialects.is_complete(asked, response),
    )


def test_a_message_on_vertex_is_anthropic_s_own() -> None:
    """That URL ends in the way of asking and not in messages."""
    asked = {"transport": "http", "url": "https://example.com/v1/projects/p/publishers/anthropic/models/m:rawPredict"}

    assert "anthropic" == dialects.reader_for(asked, {"status": 200, "body": MESSAGE})[0]


def test_base64_that_is_none_is_not_read_as_frames() -> None:
    """Whatever stands there, nothing crashes."""
    texts = ["", "=", "AAAA", base64.b64encode(b"x" * 100).decode(), "\u00e9"]

    assert {("raw", 1)} == {
        dialects.reader_for(request(way), {"status": 200, "base64": text})
        for text in texts
        for way in ("converse", "invoke")
    }
