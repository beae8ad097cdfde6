"""Checks by pattern: Python's ``re``, whose time the worker limits as it limits a grader's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from grade.violation import EMPTY, Violation, clipped, is_blank
from snapshots.envelope import Envelope

_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}


def _search(envelope: Envelope, options: Mapping[str, Any]) -> re.Match[str] | None:
    flags = re.NOFLAG
    for letter in options.get("flags", ""):
        flags |= _FLAGS[letter]
    return re.search(options["pattern"], envelope["text"], flags)


def regex(envelope: Envelope, argument: Any) -> Violation:
    """``pattern_missing``: the pattern is found nowhere in the text."""
    options: Mapping[str, Any] = argument if isinstance(argument, Mapping) else {"pattern": argument}
    return None if _search(envelope, options) else {"pattern": options["pattern"]}


def not_regex(envelope: Envelope, argument: Any) -> Violation:
    """``pattern_forbidden``: the pattern is found in the text, or the answer has neither text nor a tool call."""
    if is_blank(envelope):
        return EMPTY
    options: Mapping[str, Any] = argument if isinstance(argument, Mapping) else {"pattern": argument}
    found = _search(envelope, options)
    return None if found is None else {"found": clipped(found[0])}
