"""Embeddings: vectors are the answer, and an answer without text that is not empty."""

from __future__ import annotations

from typing import Any

import pytest

from snapshots import dialects, embeddings
from snapshots.envelope import Envelope
from snapshots.errors import UnreadableSnapshot

REQUEST = {"transport": "http", "method": "POST", "url": "https://api.example.com/v1/embeddings"}


def response(*vectors: Any, **members: Any) -> dict[str, Any]:
    """Return a response with embeddings."""
    data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
    usage = {"prompt_tokens": 4, "total_tokens": 4}
    return {"status": 200, "body": {"object": "list", "data": data, "model": "e-1", "usage": usage, **members}}


def digest(answer: dict[str, Any]) -> tuple[str, str]:
    """Return the rule and the answer hash of a response."""
    rule = dialects.rule_for(REQUEST, answer)
    return rule, dialects.answer_hash(rule, answer)


@pytest.mark.parametrize("vector", [[0.5, -0.25], "AAAAPwAAgL4="])
def test_an_embedding_has_no_text_and_is_not_empty(vector: Any) -> None:
    """Graders find the vectors in the raw body."""
    answer = response(vector)
    reading = dialects.read(dialects.reader_for(REQUEST, answer)[0], answer)
    envelope = Envelope(reading, answer, None)

    assert ("", False, "e-1", 4, None) == (
        envelope.text, reading.is_unexplained_empty, reading.model, reading.input_tokens, reading.output_tokens,
    )  # fmt: skip
    assert vector == envelope.raw["data"][0]["embedding"]


def test_a_server_that_counts_only_the_total_counts_the_input() -> None:
    """An embedding has no output to count."""
    assert 9 == embeddings.read(response([0.5], usage={"total_tokens": 9})).input_tokens


def test_the_hash_is_of_the_vectors() -> None:
    """The reported model, usage and ids leave no trace; another number does."""
    first = digest(response([0.5, -0.25]))

    assert "embeddings/1" == first[0]
    assert first == digest(response([0.5, -0.25], model="e-2", usage={}, id="x", created=7))
    assert first != digest(response([0.5, -0.26]))
    assert first != digest(response([0.5, -0.25], [0.5, -0.25]))


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ({"data": []}, "embeddings/1"),
        ({"data": [{"embedding": 7}]}, "whole/1"),
        ({"error": {"message": "x"}}, "whole/1"),
    ],
)
def test_a_body_without_an_embedding_is_no_answer(body: Any, rule: str) -> None:
    """It is never stored."""
    answer = {"status": 200, "body": body}

    assert (False, rule) == (dialects.is_complete(REQUEST, answer), dialects.rule_for(REQUEST, answer))


def test_a_body_without_embeddings_is_unreadable_at_its_data() -> None:
    """A sound file with an unknown body is unreadable at a place, never a crash."""
    with pytest.raises(UnreadableSnapshot) as error:
        dialects.read("embeddings", {"status": 200, "body": {"data": 7}})

    assert "/body/data" == error.value.pointer
