"""An answer as the page shows it: labelled texts, so that before and after can be laid side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from diff.html_text import Texts, short
from diff.side import Side
from snapshots import dialects
from snapshots.errors import UnreadableSnapshot
from snapshots.reading import Choice
from snapshots.response import payload

Blocks = list[list[str]]


def answer(side: Side, row: Mapping[str, Any], texts: Texts) -> Blocks | None:
    """Return ``[label, text]`` for each part of the answer that a row judged, or ``None`` where it is not at hand."""
    found = side.response(row)
    if found is None:
        return None
    request, response = found
    select = (row["expectation"] or {}).get("select")
    try:
        reader, _ = dialects.reader_for(request, response, select)
        reading = dialects.read(reader, response, select)
    except UnreadableSnapshot as error:
        return [["cannot be read", short(error.message)], ["as it came", texts.of(payload(response))]]
    if not reading.recognised or all(choice.is_empty for choice in reading.choices):
        return [["as it came", texts.of(payload(response))]]
    several = len(reading.choices) > 1
    return [
        [f"choice {number}: {label}" if several else label, text]
        for number, choice in enumerate(reading.choices)
        for label, text in _choice(choice, texts)
    ]


def _choice(choice: Choice, texts: Texts) -> Iterator[tuple[str, str]]:
    if choice.reasoning:
        yield "reasoning", texts.of(choice.reasoning)
    if choice.text:
        yield "text", texts.of(choice.text)
    for number, call in enumerate(choice.tool_calls):
        given = call.arguments_text if call.arguments_text is not None else dict(call.arguments)
        yield f"tool call {number + 1}", f"{short(call.name)} {texts.of(given)}"
    if choice.refusal:
        yield "refusal", texts.of(choice.refusal_text)
    yield "finish reason", short(choice.finish_reason) if choice.finish_reason else "not told"
