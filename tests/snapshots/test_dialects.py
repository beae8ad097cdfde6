"""The table of dialects: its names, and what holds for every dialect alike."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapshots import dialects

BASE = "https://api.example.com/v1"
ODD = {
    "openai-chat": ("/chat/completions", {"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]}, "A"),
    "openai-responses": ("/responses", {"object": "response", "status": "completed", "output": [
        {"type": "message", "content": [{"type": "output_text", "text": "A"}]}]}, "A"),
    "anthropic": ("/messages", {"type": "message", "stop_reason": "end_turn", "content": [{"type": "text", "text": "A"}]}, "A"),
    "gemini": ("/models/m:generateContent", {"candidates": [{"content": {"parts": [{"text": "A"}]}}]}, "A"),
    "embeddings": ("/embeddings", {"data": [{"embedding": [0.5]}]}, ""),
    "openai-completions": ("/completions", {"choices": [{"text": "A", "finish_reason": "stop"}]}, "A"),
    "bedrock-converse": ("/model/m/converse", {"output": {"message": {"content": [{"text": "A"}]}}, "stopReason": "end_turn"}, "A"),
    "bedrock-anthropic": ("/model/m/invoke", {
        "type": "message", "stop_reason": "end_turn", "content": [{"type": "text", "text": "A"}]}, "A"),
    "cohere": ("/v2/chat", {
        "id": "1", "message": {"role": "assistant", "content": [{"type": "text", "text": "A"}]}, "finish_reason": "COMPLETE"}, "A"),
    "exec": (None, {"output": "A"}, "A"),
}  # fmt: skip


def request_to(path: str | None) -> dict[str, Any]:
    """Return a request document."""
    return {"transport": "exec"} if path is None else {"transport": "http", "method": "POST", "url": BASE + path}


def test_every_dialect_stands_in_the_table_once() -> None:
    """Readers and rules have the names that files and tables hold."""
    assert {
        "openai-chat": "openai-chat/1",
        "openai-responses": "openai-responses/1",
        "anthropic": "anthropic/1",
        "gemini": "gemini/1",
        "embeddings": "embeddings/1",
        "openai-completions": "openai-completions/1",
        "bedrock-converse": "bedrock-converse/1",
        "bedrock-anthropic": "bedrock-anthropic/1",
        "cohere": "cohere/1",
        "exec": "exec/1",
    } == {name: dialect.RULE for name, dialect in dialects.DIALECTS.items()}
    assert (
        "openai-chat/1", "openai-responses/1", "anthropic/1", "gemini/1", "embeddings/1", "openai-completions/1",
        "bedrock-converse/1", "bedrock-anthropic/1", "cohere/1", "exec/1", "http/1", "whole/1",
    ) == dialects.known_rules()  # fmt: skip


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("odd", ["NaN", "18446744073709551616", '"\\ud83d"', '1, "odd": 2'])
def test_a_whole_answer_that_strict_json_cannot_hold_is_still_read(name: str, odd: str) -> None:
    """It is complete, kept as text and hashed whole, and graders see the same envelope as of any other."""
    path, body, text = ODD[name]
    request, status = request_to(path), 0 if path is None else 200
    response = {"status": status, "text": f'{{"odd": {odd}, {json.dumps(body)[1:]}'}
    reader, _ = dialects.reader_for(request, response)

    assert ("whole/1", name, text, True) == (
        dialects.rule_for(request, response), reader, dialects.read(reader, response).first.text,
        dialects.is_complete(request, response),
    )  # fmt: skip


@pytest.mark.parametrize("name", [name for name in ODD if name not in ("openai-chat", "exec")])
def test_a_body_of_one_dialect_at_another_url_is_not_taken_for_it(name: str) -> None:
    """But for chat completions, which many servers speak at many paths, an endpoint belongs to what is recognised."""
    assert dialects.dialect_of(request_to("/elsewhere"), {"status": 200, "body": ODD[name][1]}) is None


@pytest.mark.parametrize("name", ODD)
def test_no_stream_no_assembled_body(name: str) -> None:
    """What came whole is searched as it is."""
    path, body, _ = ODD[name]

    assert dialects.assembled(request_to(path), {"status": 200, "body": body}) is None


@pytest.mark.parametrize(
    ("url", "code", "filtered"),
    [
        ("/chat/completions", "content_filter", True),
        ("/responses", "content_filter", True),
        ("/responses", "invalid_prompt", False),
        (None, "content_filter", False),
    ],
)
def test_a_content_filter_tells_by_its_code(url: str | None, code: str, filtered: bool) -> None:
    """A program has no content filter, whatever it prints."""
    response = {"status": 400, "body": {"error": {"code": code, "message": "x"}}}

    assert filtered == dialects.is_filtered(request_to(url), response)
