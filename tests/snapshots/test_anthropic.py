"""Anthropic messages: what is one, what its hash leaves out, and what graders read in it. Shapes are those of the API reference."""

from __future__ import annotations

from typing import Any

import pytest

from snapshots import anthropic, dialects
from snapshots.envelope import Envelope
from snapshots.errors import UnreadableSnapshot
from tests.snapshots.sse_text import stream

REQUEST = {"transport": "http", "method": "POST", "url": "https://api.example.com/v1/messages"}
USAGE = {"input_tokens": 10, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 30, "output_tokens": 5}


def text(value: str, **members: Any) -> dict[str, Any]:
    """Return a text block."""
    return {"type": "text", "text": value, **members}


def use(value: Any, number: str = "1") -> dict[str, Any]:
    """Return a tool use block."""
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "get_order", "input": value}


def body(*content: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return a message."""
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": list(content),
        "stop_reason": "end_turn", "stop_sequence": None, "usage": USAGE, **members,
    }  # fmt: skip


def whole(*content: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return a response with a whole body."""
    return {"status": 200, "body": body(*content, **members)}


def read(response: dict[str, Any]) -> Envelope:
    """Read a response by the reader that is its own."""
    reader, _ = dialects.reader_for(REQUEST, response)
    return Envelope(dialects.read(reader, response), response, None)


def digest(response: dict[str, Any]) -> tuple[str, str]:
    """Return the rule and the answer hash of a response."""
    rule = dialects.rule_for(REQUEST, response)
    return rule, dialects.answer_hash(rule, response)


START = {"type": "message_start", "message": {**body(), "stop_reason": None, "usage": {**USAGE, "output_tokens": 1}}}
STOP = {"type": "message_stop"}


def begin(index: int, block: dict[str, Any]) -> dict[str, Any]:
    """Return the event that begins a block."""
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **members: Any) -> dict[str, Any]:
    """Return the event that goes on with a block."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **members}}


def end(reason: str = "end_turn") -> dict[str, Any]:
    """Return the event that tells the stop reason."""
    change = {"stop_reason": reason, "stop_sequence": None}
    return {"type": "message_delta", "delta": change, "usage": {"output_tokens": 5}}


def test_a_message_is_read_into_the_envelope() -> None:
    """Texts are joined; calls, thinking, model and stop reason stand where those of other dialects do."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    answer = read(whole(thought, text("A"), text("B"), use({"id": "A-17"}), stop_reason="tool_use"))

    assert ("AB", "Hm.", [{"name": "get_order", "arguments": {"id": "A-17"}}], "tool_use", "m-1", False) == (
        answer.text, answer.reasoning, answer.tool_calls, answer.finish_reason, answer.model, answer.refusal,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("usage", "expected"),
    [(USAGE, (42, 30, 2, 5)), ({"input_tokens": 7, "output_tokens": 1}, (7, None, None, 1)), ({}, (None,) * 4)],
)
def test_cached_tokens_are_added_to_the_input(usage: dict[str, int], expected: tuple[int | None, ...]) -> None:
    """This API counts them beside the rest of the prompt: 10 + 2 + 30 are 42."""
    reading = anthropic.read(whole(text("A"), usage=usage))

    assert expected == (
        reading.input_tokens,
        reading.cached_tokens,
        reading.cache_write_tokens,
        reading.output_tokens,
    )


def test_a_refusal_is_a_stop_reason() -> None:
    """What explains it is the refusal's text; what was said before stays text."""
    details = {"type": "refusal", "category": "bio", "explanation": "Not that."}
    refused = read(whole(text("Well,"), stop_reason="refusal", stop_details=details))

    assert (True, "Not that.", "Well,", "refusal") == (
        refused.refusal, refused.refusal_text, refused.text, refused.finish_reason,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("content", "reason", "empty"),
    [
        ([], "end_turn", True),
        ([text("")], "end_turn", True),
        ([], "max_tokens", False),
        ([{"type": "server_tool_use", "name": "web_search", "input": {}}], "pause_turn", False),
        ([{"type": "redacted_thinking", "data": "x"}], "end_turn", True),
        ([{"type": "container_upload", "file_id": "f"}], "end_turn", False),
    ],
)
def test_only_an_unexplained_nothing_is_an_empty_answer(content: list[Any], reason: str, empty: bool) -> None:
    """A reason explains it, and so does a block that is neither text nor a call."""
    assert empty == anthropic.read(whole(*content, stop_reason=reason)).is_unexplained_empty


def test_a_stream_spells_the_same_answer_as_a_body() -> None:
    """Text, thinking, citations and arguments grow; a ping says nothing."""
    streamed = stream(
        START,
        begin(0, {"type": "thinking", "thinking": "", "signature": ""}),
        delta(0, "thinking_delta", thinking="H"),
        delta(0, "thinking_delta", thinking="m."),
        delta(0, "signature_delta", signature="s"),
        {"type": "content_block_stop", "index": 0},
        {"type": "ping"},
        begin(1, text("")),
        delta(1, "text_delta", text="a\u2028"),
        delta(1, "text_delta", text="b"),
        delta(1, "citations_delta", citation={"type": "char_location", "cited_text": "b"}),
        begin(2, use({})),
        delta(2, "input_json_delta", partial_json=""),
        delta(2, "input_json_delta", partial_json='{"id": '),
        delta(2, "input_json_delta", partial_json='"A-17"}'),
        begin(3, use({}, "2")),
        delta(3, "input_json_delta", partial_json=""),
        end("tool_use"),
        STOP,
    )
    said = text("a\u2028b", citations=[{"type": "char_location", "cited_text": "b"}])
    content = {"type": "thinking", "thinking": "Hm.", "signature": "s"}, said, use({"id": "A-17"}), use({}, "2")

    assert body(*content, stop_reason="tool_use") == dialects.assembled(REQUEST, streamed)
    assert digest(whole(*content, stop_reason="tool_use")) == digest(streamed)
    assert dialects.is_complete(REQUEST, streamed)


def test_halves_of_a_surrogate_pair_in_two_events_are_joined() -> None:
    """An emoji that two events split arrives whole; half of one is no answer that has a hash of its own."""
    halves = [
        '{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "\\ud83d"}}',
        '{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "\\ude00"}}',
    ]
    joined = stream(START, begin(0, text("")), *halves, end(), STOP)
    alone = stream(START, begin(0, text("")), halves[0], end(), STOP)

    assert ("😀", "anthropic/1") == (read(joined).text, digest(joined)[0])
    assert "whole/1" == digest(alone)[0]


@pytest.mark.parametrize("spelled", ['{"id": ', '["A-17"]', '{"id": 1, "id": 2}'])
def test_arguments_that_are_no_object_stay_text(spelled: str) -> None:
    """A stream may be stopped within them; nothing raises, and the hash has them."""
    streamed = stream(START, begin(0, use({})), delta(0, "input_json_delta", partial_json=spelled), end(), STOP)

    assert [{"name": "get_order", "arguments": {}, "arguments_text": spelled}] == read(streamed).tool_calls
    assert digest(whole(use(spelled))) == digest(streamed)


@pytest.mark.parametrize(
    ("response", "complete"),
    [
        pytest.param(whole(text("A")), True, id="whole"),
        pytest.param(whole(text("A"), stop_reason=None), False, id="without a stop reason"),
        pytest.param(stream(START, begin(0, text("A")), end(), STOP), True, id="stream"),
        pytest.param(stream(START, begin(0, text("A")), end()), False, id="no last event"),
        pytest.param(stream(START, begin(0, text("A"))), False, id="cut"),
        pytest.param(stream(START, begin(0, text("A")), {"type": "error", "error": {"type": "overloaded_error"}}, end(), STOP), False, id="error"),
        pytest.param({"status": 200, "body": {"type": "error", "error": {"message": "x"}}}, False, id="an error as a body"),
    ],
)  # fmt: skip
def test_only_what_came_to_its_end_is_complete(response: dict[str, Any], complete: bool) -> None:
    """What is cut off or failed is never stored."""
    assert complete == dialects.is_complete(REQUEST, response)


@pytest.mark.parametrize(
    "other",
    [
        whole(text("A"), use({}), id="msg_2", model="m-2", usage={"output_tokens": 9}, container={"id": "c"}),
        whole(text("A"), use({}, "2")),
        whole(text("A", citations=None), use({}), stop_details=None, context_management=None),
    ],
)
def test_the_same_answer_has_the_same_hash(other: dict[str, Any]) -> None:
    """Ids, the reported model, usage and containers leave no trace."""
    assert digest(whole(text("A"), use({}))) == digest(other)


def test_what_is_signed_or_encrypted_anew_leaves_no_trace() -> None:
    """The same thought, result and citation come with other signatures each time; the age of a result is told anew too."""

    def searched(mark: str) -> dict[str, Any]:
        found = {"type": "web_search_result", "title": "T", "encrypted_content": mark, "page_age": mark}
        return whole(
            {"type": "thinking", "thinking": "Hm.", "signature": mark},
            {"type": "redacted_thinking", "data": mark},
            {"type": "web_search_tool_result", "tool_use_id": mark, "content": [found]},
            text("A", citations=[{"title": "T", "encrypted_index": mark}]),
            {**use({}), "caller": {"type": "code_execution_20250825", "tool_id": mark}},
        )

    assert digest(searched("x")) == digest(searched("y"))


@pytest.mark.parametrize(
    "other",
    [
        whole(text("B"), use({})),
        whole(text("A"), use({"id": 1})),
        whole(text("A"), use({"id": None})),
        whole(text("A"), {**use({}), "name": "refund"}),
        whole(text("A"), use({}), stop_reason="max_tokens"),
        whole(text("A"), use({}), something_new=1),
        whole({"type": "thinking", "thinking": "x", "signature": "s"}, text("A"), use({})),
    ],
)
def test_another_answer_has_another_hash(other: dict[str, Any]) -> None:
    """Text, thinking, calls, the stop reason and members that nobody knows yet count."""
    assert digest(whole(text("A"), use({})))[0] == digest(other)[0]
    assert digest(whole(text("A"), use({}))) != digest(other)


@pytest.mark.parametrize(
    "events",
    [
        [begin(0, text("A"))],
        [START, delta(0, "text_delta", text="A")],
        [START, {"type": "content_block_start", "content_block": text("A")}],
        [{"type": "message_start", "message": 7}],
        ["[1]"],
        ["[" * 2000 + "]" * 2000],
    ],
)
def test_a_stream_that_makes_no_sense_is_no_message(events: list[Any]) -> None:
    """Whatever a server sends, reading it ends without an answer, never in a crash."""
    response = stream(*events, end(), STOP)

    assert (False, "whole/1") == (dialects.is_complete(REQUEST, response), digest(response)[0])


@pytest.mark.parametrize(
    ("response", "pointer"),
    [
        (whole({"type": "text", "text": 7}), "/body/content/0/text"),
        (whole({"type": "tool_use", "input": {}}), "/body/content/0/name"),
        (whole(use(7)), "/body/content/0/input"),
        (whole(text("A"), stop_reason=7), "/body/stop_reason"),
        ({"status": 200, "body": {"type": "error"}}, "/body"),
        ({"status": 200, "text": "data: {}\n\n"}, "/text"),
    ],
)
def test_what_the_reader_does_not_know_is_named_by_pointer(response: dict[str, Any], pointer: str) -> None:
    """A sound file with an unknown body is unreadable at a place, never a crash."""
    with pytest.raises(UnreadableSnapshot) as error:
        dialects.read("anthropic", response)

    assert ("anthropic", pointer) == (error.value.reader, error.value.pointer)
