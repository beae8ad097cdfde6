"""Gemini's content: what is one, what its hash leaves out, and what graders read in it. Shapes are those of the API reference."""

from __future__ import annotations

from typing import Any

import pytest

from snapshots import dialects, gemini
from snapshots.envelope import Envelope
from snapshots.errors import UnreadableSnapshot
from tests.snapshots.sse_text import stream

MODEL = "https://gemini.example.com/v1beta/models/m-1"
REQUEST = {"transport": "http", "method": "POST", "url": f"{MODEL}:generateContent"}
STREAMED = {"transport": "http", "method": "POST", "url": f"{MODEL}:streamGenerateContent?alt=sse"}


def candidate(*parts: dict[str, Any], finish: str | None = "STOP", **members: Any) -> dict[str, Any]:
    """Return a candidate."""
    reason = {} if finish is None else {"finishReason": finish}
    return {"content": {"parts": list(parts), "role": "model"}, **reason, **members}


def body(*candidates: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return generated content."""
    return {"candidates": list(candidates), "modelVersion": "m-1", "responseId": "r1", **members}


def whole(*parts: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return a response with one candidate."""
    return {"status": 200, "body": body(candidate(*parts), **members)}


def read(response: dict[str, Any], request: dict[str, Any] = REQUEST) -> Envelope:
    """Read a response by the reader that is its own."""
    reader, _ = dialects.reader_for(request, response)
    return Envelope(dialects.read(reader, response), response, None)


def digest(response: dict[str, Any], request: dict[str, Any] = REQUEST) -> tuple[str, str]:
    """Return the rule and the answer hash of a response."""
    rule = dialects.rule_for(request, response)
    return rule, dialects.answer_hash(rule, response)


def test_content_is_read_into_the_envelope() -> None:
    """Texts are joined, thoughts stand apart; calls, model and finish reason stand where those of other dialects do."""
    answer = read(
        whole(
            {"text": "Hm.", "thought": True},
            {"text": "A"},
            {"text": "B", "thoughtSignature": "s"},
            {"functionCall": {"name": "get_order", "args": {"id": "A-17"}, "id": "x"}},
            {"functionCall": {"name": "stop"}},
        )
    )

    assert (
        "AB", "Hm.", [{"name": "get_order", "arguments": {"id": "A-17"}}, {"name": "stop", "arguments": {}}], "STOP", "m-1",
    ) == (answer.text, answer.reasoning, answer.tool_calls, answer.finish_reason, answer.model)  # fmt: skip


def test_all_candidates_are_choices() -> None:
    """The first is the answer."""
    response = {"status": 200, "body": body(candidate({"text": "a"}), candidate({"text": "b"}, index=1))}

    assert ["a", "b"] == [choice["text"] for choice in read(response).choices]


def test_thinking_counts_as_output_and_what_tools_put_in_as_input() -> None:
    """13 + 289 go in and 194 + 20 come out; cached tokens are part of the prompt's."""
    usage = {
        "promptTokenCount": 13, "toolUsePromptTokenCount": 289, "candidatesTokenCount": 194, "thoughtsTokenCount": 20,
        "cachedContentTokenCount": 8,
    }  # fmt: skip
    reading = gemini.read(whole({"text": "A"}, usageMetadata=usage))

    assert (302, 214, 8) == (reading.input_tokens, reading.output_tokens, reading.cached_tokens)


@pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"])
def test_a_filtered_candidate_is_a_refusal(reason: str) -> None:
    """Its message is the refusal's text; it may have no content at all."""
    response = {"status": 200, "body": {"candidates": [{"finishReason": reason, "finishMessage": "No."}]}}
    refused = read(response)

    assert (True, "No.", reason, "") == (
        refused.refusal,
        refused.refusal_text,
        refused.finish_reason,
        refused.text,
    )


def test_a_blocked_prompt_is_a_complete_refusal() -> None:
    """There is no candidate then, but a reason."""
    feedback = {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "Not that."}
    response = {"status": 200, "body": {"promptFeedback": feedback, "responseId": "r"}}
    refused = read(response)

    assert (True, "gemini/1") == (dialects.is_complete(REQUEST, response), digest(response)[0])
    assert (True, "Not that.", "PROHIBITED_CONTENT") == (
        refused.refusal, refused.refusal_text, refused.finish_reason,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "finish", "empty"),
    [
        ([{"text": ""}], "STOP", True),
        ([], "STOP", True),
        ([], "MALFORMED_FUNCTION_CALL", True),
        ([], "MAX_TOKENS", False),
        ([{"inlineData": {"mimeType": "image/png", "data": "QUJD"}}], "STOP", False),
        ([{"text": "", "thoughtSignature": "s"}], "STOP", True),
    ],
)
def test_only_an_unexplained_nothing_is_an_empty_answer(parts: list[Any], finish: str, empty: bool) -> None:
    """A reason explains it, and so does an image."""
    response = {"status": 200, "body": body(candidate(*parts, finish=finish))}

    assert empty == gemini.read(response).is_unexplained_empty


def test_a_numbered_reason_is_called_by_its_name() -> None:
    """Servers number them when asked to; 2 is MAX_TOKENS in both of Google's APIs, and 9 has two meanings."""
    responses = [{"status": 200, "body": {"candidates": [{"finishReason": number}]}} for number in (2, 9)]

    assert ["MAX_TOKENS", "9"] == [gemini.read(response).first.finish_reason for response in responses]


@pytest.mark.parametrize(
    "cuts",
    [
        [[{"text": "Hm.", "thought": True}], [{"text": "a\u2028bc"}], [{"text": "", "thoughtSignature": "s"}]],
        [[{"text": "H", "thought": True}], [{"text": "m.", "thought": True}, {"text": "a\u2028"}], [{"text": "bc"}]],
        [[{"text": "Hm.", "thought": True}, {"text": ""}, {"text": "a\u2028b", "thoughtSignature": "t"}], [{"text": "c"}]],
    ],
)  # fmt: skip
def test_a_stream_is_joined_wherever_it_was_cut(cuts: list[list[dict[str, Any]]]) -> None:
    """Both forms of a stream, cut anywhere, spell one answer, and it is the whole body's."""
    chunks = [body(candidate(*parts, finish=None), usageMetadata={"promptTokenCount": 3}) for parts in cuts]
    chunks.append({"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"candidatesTokenCount": 2}})
    events, listed = stream(*chunks), {"status": 200, "body": chunks}
    once = digest(whole({"text": "Hm.", "thought": True}, {"text": "a\u2028bc"}))

    assert [once, once] == [digest(events, STREAMED), digest(listed, STREAMED)]
    assert ("a\u2028bc", "Hm.", "STOP") == (
        read(events, STREAMED).text, read(listed, STREAMED).reasoning, read(events, STREAMED).finish_reason,
    )  # fmt: skip
    assert dialects.assembled(STREAMED, events) == dialects.assembled(STREAMED, listed)
    assert {"promptTokenCount": 3, "candidatesTokenCount": 2} == dialects.assembled(STREAMED, events)["usageMetadata"]


def test_each_chunk_of_a_stream_rates_anew() -> None:
    """One rating of each category is left, the last one, whatever the scores of those before it."""

    def rated(*scores: float, label: str = "LOW") -> dict[str, Any]:
        feedback = {
            "safetyRatings": [{"category": "P", "probability": "LOW", "probabilityScore": score} for score in scores]
        }
        ratings = [
            [
                {"category": "C", "probability": "NEGLIGIBLE", "probabilityScore": score},
                {"category": "D", "probability": "LOW"},
            ]
            for score in scores
        ]
        ratings[-1][0]["probability"] = label
        chunks = [
            body(candidate({"text": "a"}, finish=None, safetyRatings=one), promptFeedback=feedback) for one in ratings
        ]
        return stream(*chunks, {"candidates": [{"finishReason": "STOP"}]})

    [one] = dialects.assembled(STREAMED, rated(0.1, 0.2))["candidates"]

    assert [
        {"category": "C", "probability": "LOW", "probabilityScore": 0.2}, {"category": "D", "probability": "LOW"},
    ] == one["safetyRatings"]  # fmt: skip
    assert digest(rated(0.1, 0.1), STREAMED) == digest(rated(0.1, 0.2), STREAMED)
    assert digest(rated(0.1, 0.2), STREAMED) != digest(rated(0.1, 0.2, label="HIGH"), STREAMED)


@pytest.mark.parametrize(
    ("config", "complete"),
    [
        ({}, True),
        ({"generationConfig": {"candidateCount": 1}}, True),
        ({"generationConfig": {"candidateCount": 2}}, False),
        ({"generation_config": {"candidate_count": 2}}, False),
        ({"generationConfig": {"candidateCount": "2"}}, True),
    ],
)
def test_a_stream_has_as_many_candidates_as_were_asked_for(config: dict[str, Any], complete: bool) -> None:
    """One that ends after the first of two was cut; a list says where it ends."""
    request = {**STREAMED, "body": config}
    chunk = body(candidate({"text": "a"}))

    assert (complete, True) == (
        dialects.is_complete(request, stream(chunk)),
        dialects.is_complete(request, {"status": 200, "body": [chunk]}),
    )


def test_calls_of_a_stream_stand_in_their_order() -> None:
    """Each comes whole, and candidates keep apart."""
    first = {"functionCall": {"name": "a", "args": {"x": 1}}}
    streamed = stream(
        body(candidate(first, finish=None), candidate({"text": "B"}, index=1)),
        body(candidate({"functionCall": {"name": "b", "args": {}}})),
    )

    assert [["a", "b"], []] == [
        [c["name"] for c in choice["tool_calls"]] for choice in read(streamed, STREAMED).choices
    ]
    assert dialects.is_complete(STREAMED, streamed)


def test_halves_of_a_surrogate_pair_in_two_chunks_are_joined() -> None:
    """An emoji that two chunks split arrives whole."""
    halves = ['{"candidates": [{"content": {"parts": [{"text": "\\ud83d"}]}}]}',
              '{"candidates": [{"content": {"parts": [{"text": "\\ude00"}]}, "finishReason": "STOP"}]}']  # fmt: skip

    assert "😀" == read(stream(*halves), STREAMED).text


@pytest.mark.parametrize(
    ("response", "complete"),
    [
        pytest.param(stream(body(candidate({"text": "a"}))), True, id="stream"),
        pytest.param(stream(body(candidate({"text": "a"}, finish=None))), False, id="cut"),
        pytest.param(stream(body(candidate({"text": "a"}), candidate({"text": "b"}, finish=None, index=1))), False, id="one candidate cut"),
        pytest.param(stream(body(candidate({"text": "a"})), {"error": {"code": 503}}), False, id="error"),
        pytest.param({"status": 200, "body": [body(candidate({"text": "a"}))]}, True, id="list"),
        pytest.param({"status": 200, "body": [body(candidate({"text": "a"}, finish=None))]}, False, id="cut list"),
        pytest.param({"status": 200, "body": [{"error": {"code": 503}}]}, False, id="a list with an error"),
        pytest.param({"status": 200, "body": {"usageMetadata": {}}}, False, id="neither candidate nor reason"),
        pytest.param({"status": 200, "body": {"candidates": []}}, False, id="no candidate"),
    ],
)  # fmt: skip
def test_only_what_came_to_its_end_is_complete(response: dict[str, Any], complete: bool) -> None:
    """What is cut off or failed is never stored."""
    assert complete == dialects.is_complete(STREAMED, response)


def test_the_same_answer_has_the_same_hash() -> None:
    """Ids, times, the reported model, usage, scores, signatures and redirects leave no trace."""

    def answered(mark: str, number: float) -> dict[str, Any]:
        rating = {"category": "C", "probability": "LOW", "probabilityScore": number}
        grounding = {
            "groundingChunks": [{"web": {"uri": mark, "title": "T"}}],
            "searchEntryPoint": {"renderedContent": mark},
            "groundingSupports": [{"confidenceScores": [number], "segment": {"text": "A"}}],
        }
        call = {"functionCall": {"name": "f", "args": {}, "id": mark}, "thoughtSignature": mark}
        one = candidate({"text": "A", "thoughtSignature": mark}, call, avgLogprobs=number, logprobsResult={"x": number},
                        safetyRatings=[rating], groundingMetadata=grounding)  # fmt: skip
        return {"status": 200, "body": body(one, responseId=mark, createTime=mark, modelVersion=mark,
                                            usageMetadata={"promptTokenCount": 1 if mark == "x" else 2})}  # fmt: skip

    assert digest(answered("x", 0.25)) == digest(answered("y", 0.5))


@pytest.mark.parametrize(
    "other",
    [
        whole({"text": "B"}),
        whole({"text": "A"}, {"functionCall": {"name": "f", "args": {}}}),
        {"status": 200, "body": body(candidate({"text": "A"}, finish="MAX_TOKENS"))},
        whole({"text": "A"}, something_new=1),
        {"status": 200, "body": body(candidate({"text": "A"}, safetyRatings=[{"category": "C", "probability": "HIGH"}]))},
        whole({"text": "A", "thought": True}),
    ],
)  # fmt: skip
def test_another_answer_has_another_hash(other: dict[str, Any]) -> None:
    """Text, calls, the finish reason, labels and members that nobody knows yet count."""
    assert digest(whole({"text": "A"}))[0] == digest(other)[0]
    assert digest(whole({"text": "A"})) != digest(other)


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"candidates": [7]}, "/body/candidates"),
        ({"candidates": [{"content": {"parts": [7]}}]}, "/body/candidates/0/content/parts"),
        ({"candidates": [{"content": {"parts": [{"functionCall": {}}]}}]}, "/body/candidates/0/content/parts/0/functionCall/name"),
        ({"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": 1}}]}}]}, "/body/candidates/0/content/parts/0/functionCall/args"),
        ({}, "/body/candidates"),
    ],
)  # fmt: skip
def test_what_the_reader_does_not_know_is_named_by_pointer(value: Any, pointer: str) -> None:
    """A sound file with an unknown body is unreadable at a place, never a crash."""
    with pytest.raises(UnreadableSnapshot) as error:
        dialects.read("gemini", {"status": 200, "body": value})

    assert ("gemini", pointer) == (error.value.reader, error.value.pointer)
