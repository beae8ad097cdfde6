"""OpenAI's text completions, by bodies and chunks that its API reference describes; and parts of chat that came later."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapshots import dialects
from snapshots.errors import UnreadableSnapshot
from snapshots.reading import Reading

REQUEST = {"transport": "http", "method": "POST", "url": "https://api.example.com/v1/completions"}
CHAT = {"transport": "http", "method": "POST", "url": "https://api.example.com/v1/chat/completions"}


def choice(text: str, index: int = 0, reason: str | None = "stop", **members: Any) -> dict[str, Any]:
    """Return a choice."""
    return {"text": text, "index": index, "finish_reason": reason, **members}


def whole(*choices: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return a whole completion."""
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    head = {"id": "cmpl-1", "object": "text_completion", "created": 1700000001, "model": "m-1"}
    return {"status": 200, "body": {**head, "choices": list(choices), "usage": usage, **members}}


def stream(*events: dict[str, Any] | str) -> dict[str, Any]:
    """Return a response that holds an event stream."""
    datas = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return {"status": 200, "text": "".join(f"data: {data}\n\n" for data in datas)}


def chunk(*choices: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return a chunk of a completion."""
    return {"id": "cmpl-1", "object": "text_completion", "choices": list(choices), **members}


def read(response: dict[str, Any], request: dict[str, Any] = REQUEST) -> Reading:
    """Read a response by the reader that is its own."""
    return dialects.read(dialects.reader_for(request, response)[0], response)


def digest(response: dict[str, Any], request: dict[str, Any] = REQUEST) -> tuple[str, str]:
    """Return the rule and the answer hash of a response."""
    rule = dialects.rule_for(request, response)
    return rule, dialects.answer_hash(rule, response)


def test_a_completion_is_read_into_the_envelope() -> None:
    """Each prompt and each draw is a choice."""
    reading = read(whole(choice("A"), choice("B", 1, "length")))

    assert (["A", "B"], ["stop", "length"], 7, 2, 4, "m-1") == (
        [c.text for c in reading.choices], [c.finish_reason for c in reading.choices], reading.input_tokens,
        reading.output_tokens, reading.cached_tokens, reading.model,
    )  # fmt: skip


def test_a_filtered_completion_is_a_refusal() -> None:
    """The finish reason tells."""
    assert read(whole(choice("", reason="content_filter"))).first.refusal


@pytest.mark.parametrize(
    ("asked", "complete"),
    [
        ({}, True),
        ({"n": 2}, False),
        ({"prompt": ["x", "y"]}, False),
        ({"prompt": [[1], [2]]}, False),
        ({"prompt": [1, 2]}, True),
        ({"prompt": ["x"], "n": 1}, True),
        ({"stream_options": {"include_usage": True}}, False),
    ],
)
def test_a_stream_holds_what_was_asked_for_or_says_that_it_is_done(asked: dict[str, Any], complete: bool) -> None:
    """Each prompt has its choices; one prompt of tokens is one."""
    request = {**REQUEST, "body": asked}
    events = [chunk(choice("a")), "[DONE]"]

    assert (complete, True) == (
        dialects.is_complete(request, stream(*events[:1])),
        dialects.is_complete(request, stream(*events)),
    )


def test_the_padding_of_chunks_is_no_part_of_the_answer() -> None:
    """It hides how long a text is, and stands in no whole body."""
    padded = [stream(chunk(choice("a"), obfuscation=text), "[DONE]") for text in ("xyz", "")]

    assert digest(padded[0]) == digest(padded[1]) == digest(whole(choice("a")))


def test_a_stream_spells_the_same_answer_as_a_body() -> None:
    """Texts grow by the index of their choice; the usage comes alone at the end."""
    streamed = stream(
        chunk(choice("a\u2028", 0, None)),
        chunk(choice("B", 1, None)),
        chunk(choice("b", 0, None)),
        chunk(choice("", 0)),
        chunk(choice("", 1, "length")),
        chunk(usage={"prompt_tokens": 7}),
        "[DONE]",
    )

    assert ("openai-completions/1", True) == (digest(streamed)[0], dialects.is_complete(REQUEST, streamed))
    assert digest(whole(choice("a\u2028b"), choice("B", 1, "length"))) == digest(streamed)


@pytest.mark.parametrize(
    "events",
    [
        [chunk(choice("A", 0, None))],
        [chunk(choice("A", 0, None)), "[DONE]"],
        [chunk(choice("A")), {"error": {"message": "overloaded"}}],
        [chunk(choice("A")), chunk(choice("B", 1, None))],
    ],
)
def test_a_stream_that_ends_early_or_in_an_error_is_incomplete(events: list[Any]) -> None:
    """Neither the end of the text nor its last mark makes an answer."""
    assert not dialects.is_complete(REQUEST, stream(*events))


def test_the_same_answer_has_the_same_hash_and_another_one_has_not() -> None:
    """Ids, times, usage and log probabilities leave no trace; text and finish reason count."""
    same = whole(choice("A", logprobs={"tokens": ["A"]}), id="cmpl-2", created=2, model="m-2", usage=None)

    assert digest(whole(choice("A"))) == digest(same)
    assert 3 == len({digest(whole(c)) for c in (choice("A"), choice("B"), choice("A", reason="length"))})


@pytest.mark.parametrize("body", [{}, {"choices": None}, {"choices": []}, {"choices": [7]}])
def test_a_body_without_a_choice_is_unreadable_at_a_place(body: dict[str, Any]) -> None:
    """A sound file with an unknown body is never a crash."""
    with pytest.raises(UnreadableSnapshot) as error:
        dialects.read("openai-completions", {"status": 200, "body": body})

    assert "/body/choices" == error.value.pointer


def test_a_chat_is_no_text_completion() -> None:
    """The paths end alike."""
    said = {"status": 200, "body": {"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]}}

    assert "openai-chat" == dialects.reader_for(CHAT, said)[0]


def think(text: str) -> dict[str, Any]:
    """Return a thinking part as Mistral spells it."""
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}


def spoken(content: Any, reason: str | None = None) -> dict[str, Any]:
    """Return a chunk of a chat."""
    return {"choices": [{"index": 0, "delta": {"role": "assistant", "content": content}, "finish_reason": reason}]}


def test_content_that_is_now_text_and_now_parts_is_joined_by_kind() -> None:
    """A chat that thinks in parts and answers in text has the hash of the whole body."""
    streamed = stream(
        spoken(""), spoken([think("H")]), spoken([think("m.")]), spoken("A"), spoken("B", "stop"), "[DONE]"
    )
    content = [think("Hm."), {"type": "text", "text": "AB"}]
    message = {"role": "assistant", "content": content}
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    reading = read(streamed, CHAT)

    assert ("AB", "Hm.", True) == (reading.first.text, reading.first.reasoning, dialects.is_complete(CHAT, streamed))
    assert digest({"status": 200, "body": body}, CHAT) == digest(streamed, CHAT)


def test_parts_alone_keep_the_published_form() -> None:
    """A stream whose content was a list from its beginning was recognised before: its parts are listed as they came."""
    streamed = stream(spoken([{"type": "text", "text": "A"}]), spoken([{"type": "text", "text": "B"}], "stop"))
    whole_body = dialects.assembled(CHAT, streamed)

    assert [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}] == whole_body["choices"][0]["message"][
        "content"
    ]


def test_choices_that_are_null_beside_the_usage_are_none() -> None:
    """Such a last chunk does not spoil the answer before it; one with an error does."""
    assert dialects.is_complete(CHAT, stream(spoken("A", "stop"), {"choices": None, "usage": {}}, "[DONE]"))
    assert not dialects.is_complete(CHAT, stream(spoken("A", "stop"), {"choices": None, "error": {"code": 502}}))


def test_a_body_whose_choices_are_null_is_unreadable_and_no_answer() -> None:
    """Some gateways answer an error so."""
    response = {"status": 200, "body": {"choices": None}}
    with pytest.raises(UnreadableSnapshot):
        dialects.read("openai-chat", response)

    assert not dialects.is_complete(CHAT, response)


def test_an_answer_of_sound_is_read_by_its_transcript() -> None:
    """It is not empty, with or without one."""
    for transcript, expected in (("Hello", "Hello"), (None, "")):
        audio = {"id": "a", "data": "AAAA", "expires_at": 1, "transcript": transcript}
        message = {"role": "assistant", "content": None, "audio": audio}
        reading = read({"status": 200, "body": {"choices": [{"message": message, "finish_reason": "stop"}]}}, CHAT)

        assert (expected, False) == (reading.first.text, reading.is_unexplained_empty)


def test_empty_members_of_a_message_say_that_there_is_nothing() -> None:
    """Some servers send each member of a message, empty where there is none: no call, no sound, no refusal."""
    empty = {
        "audio": {"data": "", "expires_at": 0, "transcript": ""},
        "function_call": {"arguments": "", "name": ""},
        "refusal": "",
    }
    message = {"role": "assistant", "content": "", **empty}
    reading = read({"status": 200, "body": {"choices": [{"message": message, "finish_reason": ""}]}}, CHAT)

    assert ((), False, True) == (reading.first.tool_calls, reading.first.refusal, reading.is_unexplained_empty)
