"""The one table of dialects: which answer rule and which reader a response belongs to.

A published rule keeps its number and its code for ever; a fix is a new line here and the old one stays.
``whole/1`` leaves out nothing and fits every response.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from snapshots import canonical, openai_chat
from snapshots.reading import Choice, Reading

WHOLE = "whole/1"
RAW_READER = "raw"
RAW_READER_NUMBER = 1

Response = Mapping[str, Any]


def _whole(response: Response) -> dict[str, Any]:
    return {name: response[name] for name in ("status", "body", "text", "base64") if name in response}


_RULES: dict[str, Callable[[Response], dict[str, Any]]] = {
    openai_chat.RULE: openai_chat.answer,
    WHOLE: _whole,
}


def known_rules() -> tuple[str, ...]:
    """Return the names of all answer rules, published ones included, newest number last for each dialect."""
    return tuple(_RULES)


def rule_for(request: Mapping[str, Any], response: Response) -> str:
    """Return the newest answer rule of the dialect that a response speaks."""
    return openai_chat.RULE if openai_chat.recognises(request, response) else WHOLE


def answer_hash(rule: str, response: Response) -> str:
    """Return the answer hash: SHA-256 of the canonical answer under a numbered rule.

    Raises:
        KeyError: this version does not know the rule.
        JsonError: the answer has no canonical form.
    """
    return canonical.digest(_RULES[rule](response), wrapped=1)


def reader_for(request: Mapping[str, Any], response: Response) -> tuple[str, int]:
    """Return the name and the number of the reader for a response."""
    if openai_chat.reads(request, response):
        return openai_chat.READER, openai_chat.READER_NUMBER
    return RAW_READER, RAW_READER_NUMBER


def read(reader: str, response: Response) -> Reading:
    """Read a response with a named reader.

    Raises:
        UnreadableSnapshot: the reader does not understand the body; reader and pointer are named.
    """
    return openai_chat.read(response) if reader == openai_chat.READER else _read_raw(response)


def _read_raw(response: Response) -> Reading:
    """Read a response that no reader recognises: its text where it is text, else only ``raw`` says anything."""
    text = response.get("text")
    choice = Choice(text if isinstance(text, str) else "", (), False, "", None, "")
    return Reading(choices=(choice,), model=None, input_tokens=None, output_tokens=None, recognised=False)
