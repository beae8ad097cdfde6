"""The response that the chunks of a Gemini stream add up to. Part of the answer rule ``gemini/1``: nothing is dropped but empty texts."""

from __future__ import annotations

import json
from typing import Any

from snapshots.events import events

# A part with nothing but these is a piece of text; the signature of a thought may come with a piece or on its own.
_TEXTUAL = frozenset({"text", "thought", "thoughtSignature"})
_RATINGS = "safetyRatings"


def assemble(text: str) -> dict[str, Any]:
    """Return the response that a stream of server-sent events adds up to.

    Raises:
        ValueError: an event is no JSON object, or no chunk of a response.
    """
    return joined(list(events(text)))


def joined(chunks: list[Any]) -> dict[str, Any]:
    """Return the response that chunks add up to; an error among them stands in it as ``error``.

    Raises:
        ValueError: one is no chunk of a response.
    """
    whole: dict[str, Any] = {}
    candidates: dict[int, dict[str, Any]] = {}
    for chunk in chunks:
        if not isinstance(chunk, dict):
            raise ValueError("a chunk is no object")
        for candidate in _list(chunk, "candidates"):
            _add(candidates, candidate)
        _merge(whole, {name: value for name, value in chunk.items() if name != "candidates"})
    if candidates:
        whole["candidates"] = [candidates[i] for i in sorted(candidates)]
    return whole


def _list(members: dict[str, Any], name: str) -> list[Any]:
    value = members.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"{name} are no list")
    return value


def _add(candidates: dict[int, dict[str, Any]], part: Any) -> None:
    if not isinstance(part, dict):
        raise ValueError("a candidate is no object")
    index = part.get("index", 0)
    if not isinstance(index, int):
        raise ValueError("a candidate has no whole index")
    candidate = candidates.setdefault(index, {})
    content = part.get("content")
    _merge(candidate, {name: value for name, value in part.items() if name != "content"})
    if content is None:
        return
    if not isinstance(content, dict):
        raise ValueError("a content is no object")
    into = candidate.setdefault("content", {})
    parts = into.setdefault("parts", [])
    for piece in _list(content, "parts"):
        _append(parts, piece)
    into.update((name, value) for name, value in content.items() if name != "parts")


def _append(parts: list[Any], piece: Any) -> None:
    """Add a part; a piece of text goes on with the text before it, be it thought or said, for chunks are cut anywhere."""
    if not isinstance(piece, dict):
        raise ValueError("a part is no object")
    last = parts[-1] if parts else None
    if not _is_text(piece):
        parts.append(dict(piece))
    elif (
        last is not None
        and _is_text(last)
        and (not piece["text"] or bool(last.get("thought")) == bool(piece.get("thought")))
    ):
        kind = {name: value for name, value in last.items() if name == "thought"}
        last.update({**piece, **kind, "text": last["text"] + piece["text"]})
    elif piece["text"] or last is None:
        parts.append(dict(piece))


def _is_text(part: dict[str, Any]) -> bool:
    return isinstance(part.get("text"), str) and part.keys() <= _TEXTUAL


def _merge(into: dict[str, Any], newer: dict[str, Any]) -> None:
    """Take what a later chunk says: objects merge, lists gain what they do not hold yet, anything else is replaced.

    A rating replaces the one of its category: each chunk rates what was said so far.
    """
    for name, value in newer.items():
        old = into.get(name)
        if isinstance(old, dict) and isinstance(value, dict):
            merged = dict(old)
            _merge(merged, value)
            into[name] = merged
        elif isinstance(old, list) and isinstance(value, list):
            into[name] = (
                _rated(old, value) if name == _RATINGS else [*old, *(item for item in value if item not in old)]
            )
        else:
            into[name] = value


def _rated(old: list[Any], newer: list[Any]) -> list[Any]:
    rated = {_category(rating): rating for rating in old}
    return [*{**rated, **{_category(rating): rating for rating in newer}}.values()]


def _category(rating: Any) -> str:
    category = rating.get("category") if isinstance(rating, dict) else None
    return json.dumps(rating if category is None else category)
