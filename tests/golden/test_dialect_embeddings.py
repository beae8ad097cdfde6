"""Requests for embeddings: the input is the case's own, or the one text that it asks about."""

from __future__ import annotations

from typing import Any

import pytest

from snapshots.errors import ConfigError
from tests.golden.rendering import HI, asked, made, refused

KIND = "embeddings"


def test_a_prompt_is_the_input() -> None:
    """Rendered, beside model and params."""
    rendered = made(
        KIND,
        {"prompt": "Hi {{ who }}", "vars": {"who": "you"}},
        base_url="https://api.example.com/v1",
        model="m1",
        params={"dimensions": 8, "truncate": "END"},
    )

    assert {
        "transport": "http",
        "method": "POST",
        "url": "https://api.example.com/v1/embeddings",
        "body": {"model": "m1", "dimensions": 8, "truncate": "END", "input": "Hi you"},
    } == rendered.document


@pytest.mark.parametrize("given", ["hi", ["hi", "ho"], [1, 2]])
def test_an_input_goes_as_it_is(given: Any) -> None:
    """With whatever stands beside it; the case's members replace those of params."""
    request = {"input": given, "dimensions": 4, "frobnicate": True}

    assert {"model": "m1", "dimensions": 4, "input": given, "frobnicate": True} == made(
        KIND, {"request": request}, model="m1", params={"dimensions": 8}
    ).document["body"]


def test_one_message_of_text_is_the_input() -> None:
    """A case that chat targets share asks for the embedding of its text."""
    assert {"model": "m1", "user": "u", "input": "hi"} == asked(KIND, HI, user="u")


@pytest.mark.parametrize(
    ("request_", "pointer"),
    [
        ({"messages": [*HI, *HI]}, "/request/messages"),
        ({"messages": []}, "/request/messages"),
        ({"messages": [{"role": "system", "content": "x"}]}, "/request/messages/0"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}, "/request/messages/0"),
        ({"messages": HI, "temperature": 0}, "/request/temperature"),
    ],
)
def test_what_has_no_embedding_is_named(request_: dict[str, Any], pointer: str) -> None:
    """A conversation has no one text."""
    error = refused(KIND, request_)

    assert error.message.startswith("a.yaml:1: ")
    assert error.message.endswith(f" cannot be expressed in a request of type embeddings at {pointer}")


def test_a_request_without_a_text_is_an_error() -> None:
    """Neither input nor messages."""
    with pytest.raises(ConfigError, match="no member 'messages' at /request"):
        made(KIND, {"request": {"dimensions": 8}})
