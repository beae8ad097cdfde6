"""Redaction: personal data and the like, taken out of requests and answers before anything of them is written or keyed.

Rules are JSON pointers (``/request/body/user``, ``/response/body/choices/*/message/content``), named regular expressions,
and built-in kinds. A match becomes ``[redacted:NAME]``. What a rule takes out of a request is not in the key either: the
stored request must hash to its own name. So two requests that differ only there would share one answer; capture and
``golden check`` refuse them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from golden.credential import KEY_SHAPES, is_allowed
from golden.kind import KINDS, always
from golden.redacted_text import Hit, Rule, Texts, looks_like_stream
from snapshots import canonical
from snapshots.errors import JsonError
from snapshots.pointer import escape

__all__ = ["Hit", "Redaction"]

NUMBER = 1
"""Stands in the digest of every rule set: a built-in kind that is changed is another rule set."""
_KEYED = ("url", "body", "body_text", "command", "stdin", "order", "variables")
_ANSWERED = ("body", "text", "headers")
_GONE = "[redacted]"


@dataclass(frozen=True, slots=True)
class Redaction:
    """A rule set. ``allow`` are patterns of texts that look like credentials and are none."""

    pointers: tuple[str, ...] = ()
    patterns: tuple[tuple[str, str], ...] = ()
    kinds: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Tell whether anything is ever taken out."""
        return bool(self.pointers or self.patterns or self.kinds)

    @property
    def digest(self) -> str:
        """Return ``sha256:`` of the canonical form of the rules; patterns count in their order, for they apply in it."""
        rules = {
            "number": NUMBER,
            "pointers": sorted(self.pointers),
            "patterns": [list(pattern) for pattern in self.patterns],
            "kinds": sorted(self.kinds),
            "allow": sorted(self.allow),
        }
        return f"sha256:{canonical.digest(rules)}"

    def joined(self, other: Redaction) -> Redaction:
        """Return the rule set that takes out whatever one of two takes out."""
        if self == other:
            return self
        return Redaction(
            pointers=tuple(dict.fromkeys((*self.pointers, *other.pointers))),
            patterns=tuple(dict.fromkeys((*self.patterns, *other.patterns))),
            kinds=tuple(dict.fromkeys((*self.kinds, *other.kinds))),
            allow=tuple(pattern for pattern in self.allow if pattern in other.allow),
        )

    def request(self, document: dict[str, Any]) -> tuple[dict[str, Any], list[Hit]]:
        """Return a request document without what the rules take out, and where that was.

        Raises:
            JsonError: two members of an object would get one name.
        """
        return self._apply(document, "/request", _KEYED)

    def response(self, response: dict[str, Any]) -> tuple[dict[str, Any], list[Hit]]:
        """Return a response member without what the rules take out, and where that was; kept headers are searched too.

        Raises:
            JsonError: two members of an object would get one name.
        """
        return self._apply(response, "/response", _ANSWERED)

    def message(self, text: str) -> str:
        """Return somebody's words as they may be shown and logged: without what the rules find, and without credentials."""
        kept = Texts(self._rules, []).plain(text, "")
        return KEY_SHAPES.sub(
            lambda found: found[0] if is_allowed(found[0], self.allow) else "[redacted:api_key]", kept
        )

    def finds(self, value: Any) -> bool:
        """Tell whether a rule that reads texts finds anything in a JSON value."""
        hits: list[Hit] = []
        try:
            Texts(self._rules, hits).of(value, "")
        except JsonError:
            return True  # two names became one, so both held something
        return bool(hits)

    def points_into(self, body: Any) -> str | None:
        """Return the pointer of a rule that leads into a body which is not kept as one, or ``None``."""
        for pointer in self.pointers:
            hits: list[Hit] = []
            if pointer.startswith("/response/body/"):
                _without(body, pointer.split("/")[3:], "", hits, pointer)
            if hits:
                return pointer
        return None

    def _apply(self, whole: dict[str, Any], at: str, parts: tuple[str, ...]) -> tuple[dict[str, Any], list[Hit]]:
        if not self:
            return whole, []
        hits: list[Hit] = []
        changed = dict(whole)
        for pointer in self.pointers:
            if pointer.startswith(f"{at}/"):
                step, *rest = pointer.removeprefix(f"{at}/").split("/")
                # What else a document has (its transport, its status) says what it is; without it nobody could read the file.
                if step in parts and step in changed:
                    changed[step] = _without(changed[step], rest, f"{at}/{step}", hits, pointer)
        texts = Texts(self._rules, hits)
        for part in parts if texts.rules else ():
            if part in changed:
                is_stream = part == "text" and looks_like_stream(changed[part])
                changed[part] = (texts.stream if is_stream else texts.of)(changed[part], f"{at}/{part}")
        return changed, hits

    @property
    def _rules(self) -> tuple[Rule, ...]:
        return _compiled(self.patterns, self.kinds, self.allow)


@lru_cache(maxsize=16)
def _compiled(
    patterns: tuple[tuple[str, str], ...], kinds: tuple[str, ...], allow: tuple[str, ...]
) -> tuple[Rule, ...]:
    own: list[Rule] = [(name, re.compile(pattern), always) for name, pattern in patterns]
    for kind, (pattern, is_one) in KINDS.items():
        if kind in kinds:
            own.append((kind, pattern, is_one if kind != "api_key" else lambda found: not is_allowed(found, allow)))
    return tuple(own)


def _without(value: Any, path: list[str], at: str, hits: list[Hit], rule: str) -> Any:
    """Return a value in which what a path leads to is taken out; ``*`` is any item or member."""
    if not path:
        if value is None or value == _GONE:
            return value
        hits.append(Hit(at, rule))
        return _GONE
    step, rest = path[0], path[1:]
    if isinstance(value, Mapping):
        return {
            name: _without(item, rest, f"{at}/{escape(name)}", hits, rule) if step in ("*", escape(name)) else item
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [
            _without(item, rest, f"{at}/{i}", hits, rule) if step in ("*", str(i)) else item
            for i, item in enumerate(value)
        ]
    return value
