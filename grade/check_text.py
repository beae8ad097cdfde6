"""Checks of the text: what it holds, what it is, where it begins and ends, and how long it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grade.violation import EMPTY, Violation, is_blank
from snapshots.envelope import Envelope


def _folded(text: str, argument: Any) -> str:
    return text.casefold() if isinstance(argument, Mapping) and argument.get("ignore_case") else text


def _wanted(argument: Any) -> tuple[str, list[str]]:
    """Return the quantifier and the texts of a contains argument."""
    if isinstance(argument, str):
        return "all", [argument]
    if isinstance(argument, list):
        return "all", [str(t) for t in argument]
    for name in ("any", "all"):
        if name in argument:
            return name, list(argument[name])
    return "all", [argument["text"]]


def contains(envelope: Envelope, argument: Any) -> Violation:
    """``text_missing``: the text does not contain the wanted text (all of them, or any of them)."""
    quantifier, wanted = _wanted(argument)
    text = _folded(envelope["text"], argument)
    missing = [w for w in wanted if _folded(w, argument) not in text]
    holds = not missing if quantifier == "all" else len(missing) < len(wanted)
    return None if holds else {"missing": missing}


def not_contains(envelope: Envelope, argument: Any) -> Violation:
    """``text_forbidden``: the text contains a forbidden text, or the answer has neither text nor a tool call."""
    if is_blank(envelope):
        return EMPTY
    quantifier, forbidden = _wanted(argument)
    text = _folded(envelope["text"], argument)
    found = [w for w in forbidden if _folded(w, argument) in text]
    violated = (
        len(found) == len(forbidden)
        if quantifier == "all" and isinstance(argument, Mapping) and "all" in argument
        else found
    )
    return {"found": found} if violated else None


def equals(envelope: Envelope, argument: Any) -> Violation:
    """``text_differs``: the text is not the wanted one."""
    options: Mapping[str, Any] = argument if isinstance(argument, Mapping) else {"text": argument}
    text, wanted = envelope["text"], options["text"]
    if options.get("strip"):
        text, wanted = text.strip(), wanted.strip()
    return None if _folded(text, options) == _folded(wanted, options) else {"expected": wanted}


def starts_with(envelope: Envelope, argument: Any) -> Violation:
    """``text_start_differs``: the text begins with none of the wanted texts."""
    text, wanted = _edge(envelope, argument)
    return None if text.startswith(wanted) else {"start": envelope["text"][:80]}


def ends_with(envelope: Envelope, argument: Any) -> Violation:
    """``text_end_differs``: the text ends with none of the wanted texts."""
    text, wanted = _edge(envelope, argument)
    return None if text.endswith(wanted) else {"end": envelope["text"][-80:]}


def _edge(envelope: Envelope, argument: Any) -> tuple[str, tuple[str, ...]]:
    options: Mapping[str, Any] = argument if isinstance(argument, Mapping) else {"text": argument}
    text = envelope["text"].strip() if options.get("strip") else envelope["text"]
    return _folded(text, options), tuple(_folded(w, options) for w in options.get("any") or [options["text"]])


def length(envelope: Envelope, argument: Any) -> Violation:
    """``length_out_of_range``: the text has fewer or more code points."""
    found = len(envelope["text"])
    holds = argument.get("min", 0) <= found <= argument.get("max", found)
    return None if holds else {"length": found}
