"""Bodies that no server should send: whatever is in them, they are recognised or not, read or unreadable, and nothing else happens."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapshots import dialects
from snapshots.errors import JsonError, UnreadableSnapshot
from snapshots.reading import Reading

URLS = {
    "openai-chat": "https://x.example.com/v1/chat/completions",
    "openai-responses": "https://x.example.com/v1/responses",
    "anthropic": "https://x.example.com/v1/messages",
    "gemini": "https://x.example.com/v1beta/models/m:streamGenerateContent",
    "embeddings": "https://x.example.com/v1/embeddings",
}
USAGE = {
    "input_tokens": 1,
    "input_tokens_details": {"cached_tokens": 1},
    "cache_read_input_tokens": 1,
    "output_tokens": 2,
}
BODIES: dict[str, Any] = {
    "openai-chat": {
        "model": "m", "usage": {"prompt_tokens": 1, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1}}, "choices": [
            {"message": {"content": [{"text": "A"}], "refusal": "B", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
             "finish_reason": "stop"}]},
    "openai-responses": {
        "object": "response", "status": "incomplete", "incomplete_details": {"reason": "content_filter"}, "model": "m", "usage": USAGE,
        "error": None, "output": [
            {"type": "message", "content": [{"type": "output_text", "text": "A"}, {"type": "refusal", "refusal": "B"}]},
            {"type": "reasoning", "summary": [{"text": "C"}], "content": [{"text": "D"}]},
            {"type": "function_call", "name": "f", "arguments": "{}"}, {"type": "computer_call", "action": {}}]},
    "anthropic": {
        "type": "message", "model": "m", "stop_reason": "refusal", "stop_details": {"explanation": "A"}, "usage": USAGE, "content": [
            {"type": "text", "text": "A"}, {"type": "thinking", "thinking": "B"}, {"type": "tool_use", "name": "f", "input": {}}]},
    "gemini": {
        "candidates": [{"index": 0, "content": {"parts": [{"text": "A", "thought": True}, {"functionCall": {"name": "f", "args": {}}}]},
                        "finishReason": "STOP", "finishMessage": "B"}],
        "promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "m", "usageMetadata": {"promptTokenCount": 1, "thoughtsTokenCount": 2}},
    "embeddings": {"object": "list", "model": "m", "data": [{"embedding": [0.5]}], "usage": {"prompt_tokens": 1}},
    "exec": {
        "output": "A", "usage": USAGE, "cost_usd": 1, "stop_reason": "a", "empty_reason": "b", "model": "m", "reasoning": "c",
        "tool_calls": [{"id": "1", "name": "f", "arguments": {}}], "error": None},
}  # fmt: skip
EVENTS: dict[str, list[Any]] = {
    "openai-chat": [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "A"}}]},
        {
            "choices": [
                {
                    "delta": {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]},
                    "finish_reason": "stop",
                }
            ]
        },
    ],
    "openai-responses": [
        {"type": "response.created", "response": {**BODIES["openai-responses"], "output": []}},
        {"type": "response.output_item.done", "output_index": 0, "item": BODIES["openai-responses"]["output"][0]},
        {"type": "response.completed", "response": {**BODIES["openai-responses"], "output": []}},
    ],
    "anthropic": [
        {"type": "message_start", "message": {**BODIES["anthropic"], "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "name": "f", "input": {}}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {}}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": USAGE},
        {"type": "message_stop"},
    ],
    "gemini": [BODIES["gemini"], BODIES["gemini"]],
}

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2), max_leaves=4)  # fmt: skip


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all parts of a value but the whole."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for name, item in items for path in ((*at, name), *places(item, (*at, name)))]


@st.composite
def mutated(draw: st.DrawFn, value: Any) -> Any:
    """Draw a value with up to three of its parts replaced by anything."""
    changed = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        if not (paths := places(changed)):
            break
        *above, last = draw(st.sampled_from(paths))
        holder = changed
        for name in above:
            holder = holder[name]
        holder[last] = draw(values)
    return changed


def check(reading: Reading) -> None:
    """Hold a reading against the types that its fields promise."""
    assert isinstance(reading.is_unexplained_empty, bool)
    for number in (reading.input_tokens, reading.output_tokens, reading.cached_tokens, reading.cache_write_tokens):
        assert number is None or 0 <= number < 2**63
    for choice in reading.choices:
        assert isinstance(choice.text, str)
        assert isinstance(choice.refusal_text, str)
        assert isinstance(choice.reasoning, str)
        assert isinstance(choice.finish_reason, str | None)
        assert all(isinstance(call.name, str) and isinstance(call.arguments, dict) for call in choice.tool_calls)


def use(name: str, response: dict[str, Any]) -> None:
    """Do with a response all that any command does."""
    request = {"transport": "exec"} if name == "exec" else {"transport": "http", "url": URLS[name]}
    dialects.is_complete(request, response)
    dialects.assembled(request, response)
    dialects.is_filtered(request, response)
    with suppress(JsonError):  # NaN, which no file can hold
        dialects.answer_hash(dialects.rule_for(request, response), response)
    readers = {dialects.reader_for(request, response)[0], name}
    if name == "openai-chat" and len(readers) > 1:
        readers.remove(name)  # this one counts on being asked only for what it recognises
    for reader in sorted(readers):
        with suppress(UnreadableSnapshot):
            check(dialects.read(reader, response))


@pytest.mark.parametrize("name", sorted(BODIES))
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_a_mutated_body_never_crashes(name: str, data: st.DataObject) -> None:
    """Recognisers, rules and readers answer, or say at which pointer they cannot."""
    body = data.draw(mutated(BODIES[name]))
    wrapped = [body, body] if name == "gemini" and data.draw(st.booleans()) else body

    use(name, {"status": 200, "body": wrapped})


@pytest.mark.parametrize("name", sorted(EVENTS))
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_a_mutated_stream_never_crashes(name: str, data: st.DataObject) -> None:
    """The same for what assemblers make of events, cut off anywhere."""
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in data.draw(mutated(EVENTS[name])))

    use(name, {"status": 200, "text": text[: data.draw(st.integers(0, len(text)))]})
