"""OpenAI responses: what is one, what its hash leaves out, and what graders read in it. Shapes are those of the API reference."""

from __future__ import annotations

from typing import Any

import pytest

from snapshots import dialects, openai_responses
from snapshots.envelope import Envelope
from snapshots.errors import UnreadableSnapshot
from tests.snapshots.sse_text import stream

REQUEST = {"transport": "http", "method": "POST", "url": "https://api.example.com/v1/responses?api-version=1"}


def message(text: str, **members: Any) -> dict[str, Any]:
    """Return a message item."""
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part], **members}


def call(arguments: Any, name: str = "get_order") -> dict[str, Any]:
    """Return a function call item."""
    return {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": name, "arguments": arguments}


def body(*output: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return a response object."""
    return {
        "id": "resp_1", "object": "response", "created_at": 1, "model": "m-1", "status": "completed", "error": None,
        "incomplete_details": None, "output": list(output), "temperature": 1.0, "tools": [],
        "usage": {"input_tokens": 30, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 20}}, **members,
    }  # fmt: skip


def whole(*output: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return a response with a whole body."""
    return {"status": 200, "body": body(*output, **members)}


def read(response: dict[str, Any]) -> Envelope:
    """Read a response by the reader that is its own."""
    reader, _ = dialects.reader_for(REQUEST, response)
    return Envelope(dialects.read(reader, response), response, None)


def digest(response: dict[str, Any]) -> tuple[str, str]:
    """Return the rule and the answer hash of a response."""
    rule = dialects.rule_for(REQUEST, response)
    return rule, dialects.answer_hash(rule, response)


def test_a_response_is_read_into_the_envelope() -> None:
    """Texts of all messages are joined; calls, reasoning, model and usage stand where those of other dialects do."""
    thought = {"id": "rs_1", "type": "reasoning", "encrypted_content": "x", "summary": [
        {"type": "summary_text", "text": "First."}, {"type": "summary_text", "text": "Then."}]}  # fmt: skip
    answer = read(whole(thought, message("A", phase="commentary"), message("B"), call('{"id": "A-17"}')))

    assert (
        "AB", "First.\n\nThen.", [{"name": "get_order", "arguments": {"id": "A-17"}}], "completed", "m-1", False,
        {"input_tokens": 30, "output_tokens": 5},
    ) == (
        answer.text, answer.reasoning, answer.tool_calls, answer.finish_reason, answer.model, answer.refusal,
        {name: answer.usage[name] for name in ("input_tokens", "output_tokens")},
    )  # fmt: skip


def test_cached_tokens_are_part_of_the_input() -> None:
    """This API counts them in already."""
    usage = {
        "input_tokens": 30,
        "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 4},
        "output_tokens": 5,
    }
    reading = openai_responses.read(whole(message("A"), usage=usage))

    assert (30, 20, 4, 5) == (
        reading.input_tokens,
        reading.cached_tokens,
        reading.cache_write_tokens,
        reading.output_tokens,
    )


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (call('{"id": '), {"name": "get_order", "arguments": {}, "arguments_text": '{"id": '}),
        (call(""), {"name": "get_order", "arguments": {}}),
        (call("[1]"), {"name": "get_order", "arguments": {}, "arguments_text": "[1]"}),
        ({"type": "custom_tool_call", "name": "run", "input": "ls"}, {"name": "run", "arguments": {}, "arguments_text": "ls"}),
        ({"type": "computer_call", "action": {"type": "click", "x": 1}}, {"name": "computer", "arguments": {"type": "click", "x": 1}}),
        ({"type": "local_shell_call", "action": {"command": ["ls"]}}, {"name": "local_shell", "arguments": {"command": ["ls"]}}),
        ({"type": "tool_search_call", "execution": "client", "arguments": {"q": "x"}}, {"name": "tool_search", "arguments": {"q": "x"}}),
    ],
)  # fmt: skip
def test_what_the_client_has_to_run_is_a_tool_call(item: dict[str, Any], expected: dict[str, Any]) -> None:
    """Arguments that do not parse stay text; a call without a name of its own is called after its kind."""
    assert [expected] == read(whole(item)).tool_calls


def test_a_refusal_is_read() -> None:
    """It stands in a part of its own."""
    refused = read(whole(message("", content=[{"type": "refusal", "refusal": "I cannot."}])))

    assert (True, "I cannot.", "") == (refused.refusal, refused.refusal_text, refused.text)


def test_a_content_filters_error_is_a_refusal() -> None:
    """Sent with status 400, it is an answer."""
    response = {"status": 400, "body": {"error": {"code": "content_filter", "message": "Filtered."}}}
    refused = read(response)

    assert (True, "openai-responses/1") == (dialects.is_filtered(REQUEST, response), digest(response)[0])
    assert (True, "Filtered.", "content_filter") == (refused.refusal, refused.refusal_text, refused.finish_reason)


@pytest.mark.parametrize(
    ("response", "complete"),
    [
        pytest.param(whole(message("A")), True, id="completed"),
        pytest.param(whole(message("A"), status="incomplete", incomplete_details={"reason": "max_output_tokens"}), True, id="too long"),
        pytest.param(whole(message("A"), status="incomplete"), False, id="incomplete without a reason"),
        pytest.param(whole(status="failed", error={"code": "server_error", "message": "x"}), False, id="failed"),
        pytest.param(whole(status="queued"), False, id="queued"),
        pytest.param(whole(status="in_progress"), False, id="in progress"),
        pytest.param(whole(), True, id="nothing, but completed"),
        pytest.param(stream({"type": "response.completed", "response": body(message("A"))}), True, id="stream"),
        pytest.param(stream({"type": "response.created", "response": body(status="in_progress")}), False, id="cut stream"),
        pytest.param(stream({"type": "response.failed", "response": body(status="failed", error={"code": "x"})}), False, id="failed stream"),
        pytest.param(stream({"type": "response.created", "response": body(status="in_progress")}, {"type": "error", "code": "x"}), False, id="error event"),
    ],
)  # fmt: skip
def test_only_what_came_to_its_end_is_complete(response: dict[str, Any], complete: bool) -> None:
    """What is under way, cut off or failed is never stored."""
    assert complete == dialects.is_complete(REQUEST, response)


@pytest.mark.parametrize(
    ("reason", "empty"), [("max_output_tokens", False), ("content_filter", False), ("max_messages", True)]
)
def test_a_reason_explains_an_answer_without_text(reason: str, empty: bool) -> None:
    """It is called as the provider calls it."""
    reading = openai_responses.read(whole(status="incomplete", incomplete_details={"reason": reason}))

    assert (reason, empty) == (reading.first.finish_reason, reading.is_unexplained_empty)


def test_an_image_is_an_answer_without_text() -> None:
    """What is no text and no call is not called empty."""
    image = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "QUJD"}

    assert (False, True) == (
        openai_responses.read(whole(image)).is_unexplained_empty,
        openai_responses.read(whole({"type": "web_search_call", "id": "ws_1"})).is_unexplained_empty,
    )


@pytest.mark.parametrize(
    "other",
    [
        whole(message("A"), id="resp_2", created_at=2, completed_at=3, model="m-2", usage=None, service_tier="flex"),
        whole(message("A", id="msg_2")),
        whole(message("A", phase=None), moderation=None, content_filters=None),
        whole(message("A"), temperature=0.7, top_p=0.98, tools=[{"output_schema": None}], store=False, billing={"payer": "x"}),
        whole(message("A", content=[{"type": "output_text", "text": "A", "annotations": [], "logprobs": [{"token": "A"}]}])),
    ],
)  # fmt: skip
def test_the_same_answer_has_the_same_hash(other: dict[str, Any]) -> None:
    """Ids, times, the reported model, usage, log probabilities and what repeats the request leave no trace."""
    assert digest(whole(message("A"))) == digest(other)


@pytest.mark.parametrize(
    "other",
    [
        whole(message("B")),
        whole(message("A", phase="commentary")),
        whole(message("A"), call("{}")),
        whole(message("A"), status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
        whole(message("A"), something_new=1),
        {**whole(message("A")), "status": 203},
    ],
)
def test_another_answer_has_another_hash(other: dict[str, Any]) -> None:
    """Text, items, status and members that nobody knows yet count."""
    assert digest(whole(message("A")))[0] == digest(other)[0]
    assert digest(whole(message("A"))) != digest(other)


def test_calls_differ_by_name_and_arguments_and_not_by_ids() -> None:
    """Ids are new with each call; the rest is the answer."""
    first, other_id, other_arguments = call("{}"), {**call("{}"), "call_id": "call_2", "id": "fc_2"}, call('{"a": 1}')

    assert digest(whole(first)) == digest(whole(other_id))
    assert digest(whole(first)) != digest(whole(other_arguments))


def test_reasoning_differs_by_its_summary_and_not_by_its_encryption() -> None:
    """The same thought is encrypted anew for each call."""

    def thought(text: str, encrypted: str) -> dict[str, Any]:
        summary = [{"type": "summary_text", "text": text}]
        return whole({"type": "reasoning", "id": "rs", "summary": summary, "encrypted_content": encrypted})

    assert digest(thought("a", "x")) == digest(thought("a", "y"))
    assert digest(thought("a", "x")) != digest(thought("b", "x"))


@pytest.mark.parametrize("text", ["a\u2028b", "a\u0085b", "😀"])
def test_a_stream_spells_the_same_answer_as_a_body(text: str) -> None:
    """Its last event holds the response whole, characters that look like line ends included."""
    streamed = stream(
        {"type": "response.created", "response": body(status="in_progress")},
        {"type": "response.output_text.delta", "delta": text, "output_index": 0},
        {"type": "response.completed", "response": body(message(text))},
    )

    assert digest(whole(message(text))) == digest(streamed)
    assert (text, body(message(text))) == (read(streamed).text, dialects.assembled(REQUEST, streamed))


def test_a_last_event_without_output_is_filled_from_the_items_that_were_done() -> None:
    """Some servers send each item once and leave the last event empty."""
    streamed = stream(
        {"type": "response.created", "response": body(status="in_progress")},
        {"type": "response.output_item.done", "output_index": 1, "item": call("{}")},
        {"type": "response.output_item.done", "output_index": 0, "item": message("A")},
        {"type": "response.completed", "response": body()},
        "[DONE]",
    )

    assert digest(whole(message("A"), call("{}"))) == digest(streamed)


@pytest.mark.parametrize(
    ("response", "pointer"),
    [
        ({"status": 200, "body": {"object": "response", "output": "x"}}, "/body/output"),
        (whole({"type": "message", "content": [7]}), "/body/output/0/content"),
        (whole({"type": "function_call", "arguments": "{}"}), "/body/output/0/name"),
        (whole(call(7)), "/body/output/0/arguments"),
        ({"status": 200, "text": "data: {}\n\n"}, "/text"),
    ],
)
def test_what_the_reader_does_not_know_is_named_by_pointer(response: dict[str, Any], pointer: str) -> None:
    """A sound file with an unknown body is unreadable at a place, never a crash."""
    with pytest.raises(UnreadableSnapshot) as error:
        dialects.read("openai-responses", response)

    assert ("openai-responses", pointer) == (error.value.reader, error.value.pointer)
