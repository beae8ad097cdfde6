"""Small inputs at which other stores of model answers failed: the order of names, signs of zero, line ends, and what is read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from snapshots import canonical, dialects, request, response, snapshot, strict_json
from snapshots.errors import CorruptSnapshot
from snapshots.store import Store

NOON = 1_780_315_200
REQUEST = request.http_document(
    method="POST",
    url="https://api.example.com/v1/chat/completions",
    headers={},
    body={"model": "m1", "messages": [{"role": "user", "content": "hi"}]},
)


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        ('{"\uff20": 2, "\U0001f600": 1}', "e8a382c8cf5fa44fb0b880984a77a573863604a2fb465d33e1a03a0514a63a09"),
        ('{"\ue000": 2, "\U00010000": 1}', "4045c21a23c8ae8f8d9add81f54bd506bee65885099876fb4afb378b1f2c3516"),
        ('{"presence_penalty": -0.0}', "3503fd4feaaaf35f9db7bb417c076131bbd0fae097ff1fc6072dd02ffd9c3970"),
        ('{"presence_penalty": 0.0}', "3503fd4feaaaf35f9db7bb417c076131bbd0fae097ff1fc6072dd02ffd9c3970"),
        ('{"presence_penalty": 0}', "3503fd4feaaaf35f9db7bb417c076131bbd0fae097ff1fc6072dd02ffd9c3970"),
        ('{"presence_penalty": -0}', "3503fd4feaaaf35f9db7bb417c076131bbd0fae097ff1fc6072dd02ffd9c3970"),
    ],
    ids=["a pair before U+FF20", "a pair before U+E000", "-0.0", "0.0", "0", "-0"],
)
def test_odd_names_and_zeros_have_published_hashes(text: str, digest: str) -> None:
    """Names by UTF-16 units, one zero (RFC 8785); the digests are those of sha256sum over the bytes written by hand."""
    assert digest == canonical.digest(strict_json.loads(text.encode()))


WHOLE: dict[str, Any] = {
    "z": 1,
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "A"}, "finish_reason": "stop", "logprobs": None},
        {"index": 1, "message": {"role": "assistant", "content": "B"}, "finish_reason": "length",
         "logprobs": {"content": [{"token": "B", "logprob": -0.25}]}},
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    "system_fingerprint": "fp_1",
    "a": {"m": [-0.0, 1e-7, 9007199254740993]},
}  # fmt: skip


def written(answered: dict[str, Any], second: int = NOON) -> tuple[str, bytes]:
    """Return name and bytes of a recording of an answer."""
    rule = dialects.rule_for(REQUEST, answered)
    return snapshot.write(
        request=REQUEST,
        request_hash=request.request_hash(REQUEST),
        trial=0,
        answer_hash=dialects.answer_hash(rule, answered),
        answer_rule=rule,
        second=second,
        response=answered,
        meta={},
    )


def test_an_answer_is_read_back_as_it_was_received(tmp_path: Path) -> None:
    """Every member, in its order, with log probabilities, usage, all choices and the fingerprint: a replay sees what a capture saw."""
    answered = response.response(200, [], json.dumps(WHOLE).encode())
    store = Store(tmp_path)
    found = store.read(store.put(*written(answered)))
    second = dialects.read("openai-chat", found.response).choices[1]

    assert json.dumps(WHOLE) == json.dumps(found.response["body"])
    assert ("B", "length") == (second.text, second.finish_reason)


def test_a_damaged_recording_is_named_and_a_later_one_is_read(tmp_path: Path) -> None:
    """Cut in half, or empty, a file is corrupt by its name and stays; the answer that is recorded after it is the current one."""
    store = Store(tmp_path)
    answered = response.response(200, [], json.dumps(WHOLE).encode())
    name, data = written(answered)
    found = store.put(name, data)

    for damaged in (data[: len(data) // 2], b""):
        Path(found.path).write_bytes(damaged)
        with pytest.raises(CorruptSnapshot, match=found.name):
            store.read(found)
    store.put(*written(answered, NOON + 1))
    current = store.current(request.request_hash(REQUEST), 0, fresh=True)
    assert current is not None
    assert ("2026-06-01T12:00:01Z", b"") == (store.read(current).recorded_at, Path(found.path).read_bytes())


def sse(*events: Any) -> dict[str, Any]:
    """Return a response that holds an event stream whose texts are written raw."""
    return {"status": 200, "text": "".join(f"data: {json.dumps(e, ensure_ascii=False)}\n\n" for e in events)}


def chunks(text: str) -> dict[str, dict[str, Any]]:
    """Return the same streamed text in several dialects, by the end of the path that it comes from."""
    said = {"type": "message", "content": [{"type": "output_text", "text": text}]}
    body = {"object": "response", "status": "completed", "output": [said]}
    message = {"type": "message", "role": "assistant", "content": [], "stop_reason": None}
    return {
        "/chat/completions": sse({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]}, {"choices": []}),
        "/completions": sse({"choices": [{"index": 0, "text": text, "finish_reason": "stop"}]}),
        "/responses": sse({"type": "response.completed", "response": body}),
        "/messages": sse(
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
            {"type": "message_stop"},
        ),
        "/models/m:streamGenerateContent?alt=sse": sse(
            {"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}]}
        ),
    }  # fmt: skip


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\u0085"])
@pytest.mark.parametrize("path", chunks(""))
def test_no_dialect_ends_an_event_at_a_line_end_of_unicode(path: str, odd: str) -> None:
    """They stand raw in the data: the text holds them, and the end of the stream is seen."""
    asked = {"transport": "http", "method": "POST", "url": f"https://api.example.com/v1{path}"}
    answered = chunks(f"a{odd}b")[path]
    reader, _ = dialects.reader_for(asked, answered)

    assert odd in answered["text"]
    assert (f"a{odd}b", True) == (dialects.read(reader, answered).first.text, dialects.is_complete(asked, answered))
