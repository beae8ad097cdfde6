"""Bodies that no server should send, for the dialects that recordings brought: Bedrock, Cohere, text completions."""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapshots import dialects
from snapshots.errors import JsonError, UnreadableSnapshot
from tests.snapshots import frames
from tests.snapshots.test_mutated_bodies import check, mutated

BEDROCK = "https://x.example.com/model/m/"
USAGE = {"inputTokens": 1, "outputTokens": 2, "cacheReadInputTokens": 3, "cacheWriteInputTokens": 4}
MESSAGE = {"type": "message", "stop_reason": "end_turn", "usage": {}, "content": [{"type": "text", "text": "A"}]}
BODIES: dict[str, tuple[str, Any]] = {
    "openai-completions": ("https://x.example.com/v1/completions", {
        "model": "m", "usage": {"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}},
        "choices": [{"text": "A", "index": 0, "finish_reason": "stop"}]}),
    "bedrock-converse": (f"{BEDROCK}converse", {
        "stopReason": "end_turn", "usage": USAGE, "output": {"message": {"role": "assistant", "content": [
            {"text": "A"}, {"toolUse": {"toolUseId": "1", "name": "f", "input": {}}},
            {"reasoningContent": {"reasoningText": {"text": "B", "signature": "s"}}},
            {"citationsContent": {"content": [{"text": "C"}], "citations": [{}]}}]}}}),
    "bedrock-anthropic": (f"{BEDROCK}invoke", MESSAGE),
    "cohere": ("https://x.example.com/v2/chat", {
        "id": "1", "finish_reason": "COMPLETE", "usage": {"tokens": {"input_tokens": 1}, "cached_tokens": 1}, "message": {
            "role": "assistant", "tool_plan": "B", "content": [{"type": "text", "text": "A"}, {"type": "thinking", "thinking": "C"}],
            "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}}),
    "cohere 1": ("https://x.example.com/v1/chat", {
        "text": "A", "generation_id": "1", "finish_reason": "COMPLETE", "meta": {"tokens": {"input_tokens": 1}},
        "tool_calls": [{"name": "f", "parameters": {}}]}),
}  # fmt: skip
PART = {"type": "text", "text": "A"}
TEXTS: dict[str, tuple[str, Any]] = {
    "openai-completions": (BODIES["openai-completions"][0], [BODIES["openai-completions"][1]] * 2),
    "cohere": (BODIES["cohere"][0], [
        {"type": "message-start", "id": "1", "delta": {"message": {"role": "assistant", "content": []}}},
        {"type": "content-start", "index": 0, "delta": {"message": {"content": PART}}},
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "B"}}}},
        {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": {"function": {"name": "f", "arguments": ""}}}}},
        {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {"function": {"arguments": "{}"}}}}},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": {}}}]),
    "cohere 1": (BODIES["cohere 1"][0], [
        {"event_type": "stream-start", "generation_id": "1"}, {"event_type": "text-generation", "text": "A"},
        {"event_type": "stream-end", "finish_reason": "COMPLETE", "response": BODIES["cohere 1"][1]}]),
}  # fmt: skip
FRAMES: dict[str, Any] = {
    "converse-stream": [
        ("messageStart", {"role": "assistant"}),
        ("contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "1", "name": "f"}}}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{}"}}}),
        ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"reasoningContent": {"text": "B"}}}),
        ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"text": "A", "citation": {}}}),
        ("messageStop", {"stopReason": "end_turn"}),
        ("metadata", {"usage": USAGE}),
    ],
    "invoke-with-response-stream": [
        ("chunk", {"type": "message_start", "message": {**MESSAGE, "content": []}}),
        ("chunk", {"type": "content_block_start", "index": 0, "content_block": PART}),
        ("chunk", {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "B"}}),
        ("chunk", {"messageStart": {"role": "assistant"}}),
        ("chunk", {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "C"}}}),
        ("chunk", {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        ("chunk", {"type": "message_stop"}),
    ],
}


def use(url: str, response: dict[str, Any]) -> None:
    """Do with a response all that any command does, by the reader that is its own and by all others."""
    request = {"transport": "http", "url": url}
    dialects.is_complete(request, response)
    dialects.assembled(request, response)
    with suppress(JsonError):  # NaN, which no file can hold
        dialects.answer_hash(dialects.rule_for(request, response), response)
    own = dialects.reader_for(request, response)[0]
    for reader in {own, "openai-completions", "bedrock-converse", "bedrock-anthropic", "cohere"}:
        with suppress(UnreadableSnapshot):
            check(dialects.read(reader, response))


@pytest.mark.parametrize("name", sorted(BODIES))
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_a_mutated_body_never_crashes(name: str, data: st.DataObject) -> None:
    """Recognisers, rules and readers answer, or say at which pointer they cannot."""
    url, body = BODIES[name]

    use(url, {"status": 200, "body": data.draw(mutated(body))})


@pytest.mark.parametrize("name", sorted(TEXTS))
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_a_mutated_stream_never_crashes(name: str, data: st.DataObject) -> None:
    """The same for what assemblers make of events, cut off anywhere, as events and as lines."""
    url, events = TEXTS[name]
    sign = data.draw(st.sampled_from(["data: ", ""]))
    text = "".join(f"{sign}{json.dumps(event)}\n\n" for event in data.draw(mutated(events)))

    use(url, {"status": 200, "text": text[: data.draw(st.integers(0, len(text)))]})


@pytest.mark.parametrize("way", sorted(FRAMES))
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_a_mutated_binary_stream_never_crashes(way: str, data: st.DataObject) -> None:
    """Frames are sound, and what is in them is not."""
    names = [name for name, _ in FRAMES[way]]
    payloads = data.draw(mutated([payload for _, payload in FRAMES[way]]))
    told = [
        (name, payload if isinstance(payload, dict) else {"odd": payload})
        for name, payload in zip(names, payloads, strict=True)
    ]
    parts = [frames.chunk(**p) if n == "chunk" else frames.event(n, **p) for n, p in told if "name" not in p]

    use(BEDROCK + way, frames.stream(*parts))


@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_bytes_that_are_changed_anywhere_never_crash(data: st.DataObject) -> None:
    """A checksum tells, and where it happens to match again the payload does."""
    whole = base64.b64decode(frames.stream(frames.event("messageStart", role="assistant"))["base64"])
    at = data.draw(st.integers(0, len(whole) - 1))
    changed = whole[:at] + data.draw(st.binary(max_size=6)) + whole[at + data.draw(st.integers(0, 6)) :]

    use(BEDROCK + "converse-stream", {"status": 200, "base64": base64.b64encode(changed).decode()})
