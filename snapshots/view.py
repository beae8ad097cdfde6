"""A snapshot as text for people and for ``git diff``: neutral, one fact a line, everything foreign indented.

Indented, so that no text of a model can be taken for a heading of ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from snapshots import dialects, strict_json
from snapshots.console import neutral, neutral_block
from snapshots.errors import JsonError, UnreadableSnapshot
from snapshots.reading import Choice, Reading
from snapshots.response import payload
from snapshots.snapshot import Snapshot


def lines(snapshot: Snapshot) -> Iterator[str]:
    """Yield the lines of the text."""
    yield f"request  {snapshot.request_hash}  trial {snapshot.trial}"
    yield f"answer   {snapshot.answer_hash}  {neutral(snapshot.answer_rule)}"
    yield f"recorded {snapshot.recorded_at}"
    yield from _meta(snapshot.meta)
    yield ""
    yield from _request(snapshot.request)
    yield ""
    yield from _answer(snapshot)


def raw_lines(data: bytes, reason: str) -> Iterator[str]:
    """Yield what a damaged file holds, under the reason why it cannot be shown as a snapshot."""
    yield neutral(reason)
    yield from _indented(data.decode("utf-8", "replace"))


def _meta(meta: Mapping[str, Any]) -> Iterator[str]:
    for name, value in meta.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield f"{neutral(name)}: {neutral(shown)}"


def _request(request: Mapping[str, Any]) -> Iterator[str]:
    head = [str(request[name]) for name in ("method", "url") if name in request]
    yield neutral(" ".join(["REQUEST", *head]))
    for name, value in request.items():
        if name not in ("transport", "method", "url", "body", "body_text"):
            yield from _member(name, value)
    body = request.get("body", request.get("body_text"))
    if not isinstance(body, dict):
        yield from () if body is None else _indented(_text(body))
        return
    for name, value in body.items():
        if name != "messages":
            yield from _member(name, value)
    messages = body.get("messages")
    for message in messages if isinstance(messages, list) else []:
        yield from _message(message)


def _member(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        yield f"  {neutral(name)}:"
        yield from _indented(_pretty(value), "    ")
    else:
        yield f"  {neutral(name)}: {neutral(_pretty(value))}"


def _message(message: Any) -> Iterator[str]:
    if not isinstance(message, dict):
        yield from _indented(_pretty(message))
        return
    yield f"  [{neutral(str(message.get('role')))}]"
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    for part in parts:
        text = part.get("text") if isinstance(part, dict) else part
        if part is not None:
            yield from _indented(text if isinstance(text, str) else _pretty(part), "    ")
    for name, value in message.items():
        if name not in ("role", "content"):
            yield from (f"  {line}" for line in _member(name, value))


def _answer(snapshot: Snapshot) -> Iterator[str]:
    response = snapshot.response
    reader, _ = dialects.reader_for(snapshot.request, response)
    try:
        reading = dialects.read(reader, response)
    except UnreadableSnapshot as error:
        yield f"ANSWER status {response['status']}, {neutral(error.message)}"
        yield from _indented(_text(payload(response)))
        return
    yield f"ANSWER {', '.join(_facts(reading, response['status']))}"
    for name in ("program", "volatile"):
        if name in response:
            yield from _member(name, response[name])
    if not reading.recognised or (reading.explained and all(choice.is_empty for choice in reading.choices)):
        yield from _indented(_text(payload(response)))  # what has no text is there as it came
        return
    for i, choice in enumerate(reading.choices):
        yield from _choice(choice, f" {i}" if len(reading.choices) > 1 else "")


def _facts(reading: Reading, status: int) -> Iterator[str]:
    yield f"status {status}"
    if reading.model:
        yield f"model {neutral(reading.model)}"
    if reading.input_tokens is not None:
        yield f"{reading.input_tokens} tokens in"
    if reading.cached_tokens:
        yield f"{reading.cached_tokens} of them cached"
    if reading.output_tokens is not None:
        yield f"{reading.output_tokens} out"
    if reading.cost_usd is not None:
        yield f"{_money(reading.cost_usd)} USD"


def _money(dollars: float) -> str:
    """Return an amount for people, to a millionth of a dollar: sums of prices end in noise."""
    return f"{dollars:.6f}".rstrip("0").rstrip(".") if dollars >= 1e-6 or not dollars else f"{dollars:.1e}"


def _choice(choice: Choice, number: str) -> Iterator[str]:
    if number:
        yield f"  choice{number}"
    if choice.reasoning:
        yield "  [reasoning]"
        yield from _indented(choice.reasoning, "    ")
    if choice.text:
        yield "  [text]"
        yield from _indented(choice.text, "    ")
    for call in choice.tool_calls:
        yield f"  [tool call] {neutral(call.name)}"
        yield from _indented(
            call.arguments_text if call.arguments_text is not None else _pretty(call.arguments), "    "
        )
    if choice.refusal:
        yield "  [refusal]"
        yield from _indented(choice.refusal_text, "    ")
    yield f"  finish: {neutral(choice.finish_reason) if choice.finish_reason else 'not told'}"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        return _pretty(value)
    try:
        return _pretty(strict_json.loads(value))
    except JsonError:
        return value


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _indented(text: str, by: str = "  ") -> Iterator[str]:
    for line in neutral_block(text).split("\n"):
        yield f"{by}{line}".rstrip()
