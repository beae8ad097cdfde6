"""What the rules of a redaction find in texts, and the texts without it.

JSON within a text (the arguments of a tool call, each event of a stream) is taken apart first: rules see what it says and not
how it is spelled, and it stays JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from golden.unescape import unescaped
from snapshots import sse
from snapshots.errors import JsonError
from snapshots.pointer import escape

Rule = tuple[str, re.Pattern[str], Callable[[str], bool]]
_TAKEN = re.compile(r"\[redacted(?::[A-Za-z0-9._-]+)?\]")
_EVENT_LINE = re.compile(r"(data: ?)?([^\r\n]*)(\r\n|\r|\n|\Z)")
_SHORT = 10**6
"""Smaller numbers are counts, and no rule may break an answer's count of tokens."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One place where a rule took something out."""

    pointer: str
    rule: str


@dataclass(slots=True)
class Texts:
    """Takes matches out of all texts, member names and whole numbers of a value."""

    rules: tuple[Rule, ...]
    hits: list[Hit]

    def of(self, value: Any, at: str) -> Any:
        """Return a JSON value without what the rules find in it.

        Raises:
            JsonError: two members of an object would get one name.
        """
        if isinstance(value, str):
            return self._text(value, at)
        if isinstance(value, list):
            return [self.of(item, f"{at}/{i}") for i, item in enumerate(value)]
        if isinstance(value, int):
            return self._number(value, at)
        return self._members(value, at) if isinstance(value, dict) else value

    def stream(self, text: str, at: str) -> str:
        """Return the text of an event stream without what the rules find in each of its lines."""

        def line(found: re.Match[str]) -> str:
            return f"{found[1] or ''}{self._text(found[2], at)}{found[3]}"

        return _EVENT_LINE.sub(line, text)

    def _members(self, value: dict[str, Any], at: str) -> dict[str, Any]:
        changed: dict[str, Any] = {}
        for name, item in value.items():
            kept = self.plain(name, at)
            if kept in changed:
                raise JsonError("redaction gives two members one name", pointer=at)
            changed[kept] = self.of(item, f"{at}/{escape(kept)}")
        return changed

    def _number(self, value: int, at: str) -> Any:
        if abs(value) < _SHORT or value.bit_length() > 128:
            return value
        text = str(value)
        for name, pattern, is_one in self.rules:
            if pattern.fullmatch(text) and is_one(text):
                self.hits.append(Hit(at, name))
                return f"[redacted:{name}]"
        return value

    def _text(self, text: str, at: str) -> str:
        if not text.lstrip().startswith(("{", "[")):
            return self.plain(text, at)
        before = len(self.hits)
        try:
            inner = json.loads(text, object_pairs_hook=_once)
            changed = self.of(inner, at)
        except (ValueError, RecursionError):
            del self.hits[before:]
            return self.plain(text, at)
        return text if len(self.hits) == before else _json(changed)

    def plain(self, text: str, at: str) -> str:
        """Return a text without what the rules find in it, as it stands and with its escapes read."""
        kept = self._as_it_stands(text, at)
        read = unescaped(kept)
        if read == kept:
            return kept
        changed = self._as_it_stands(read, at)
        return kept if changed == read else changed

    def _as_it_stands(self, text: str, at: str) -> str:
        before = None
        while text != before:  # what stood behind something that is gone may begin a word now
            before = text
            for rule in self.rules:
                text = self._without(rule, text, at)
        return text

    def _without(self, rule: Rule, text: str, at: str) -> str:
        """Return a text without what one rule finds, outside of what was taken out already."""
        name, pattern, is_one = rule
        found = pattern.search(text)
        if found is None:
            return text
        pieces: list[str] = []
        copied = start = 0
        taken = _TAKEN.search(text)
        while found is not None:
            while taken is not None and taken.end() <= found.start():
                taken = _TAKEN.search(text, taken.end())
            if taken is not None and taken.start() <= found.start():
                start = taken.end()
            elif found[0] and is_one(found[0]):
                self.hits.append(Hit(at, name))
                pieces += (text[copied : found.start()], f"[redacted:{name}]")
                copied = start = found.end()
            else:
                start = max(found.end(), found.start() + 1)
            found = pattern.search(text, start) if start <= len(text) else None
        return "".join((*pieces, text[copied:]))


def looks_like_stream(text: Any) -> bool:
    """Tell whether a value is the text of an event stream."""
    return isinstance(text, str) and sse.looks_like_stream(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member stands twice, and writing it again would lose one")
    return members


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)  # half a surrogate pair stays the escape that it was
    return text
