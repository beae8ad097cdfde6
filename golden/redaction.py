"""Redaction: personal data and the like, taken out of requests and answers before anything of them is written or keyed.

Rules are JSON pointers (``/request/body/user``, ``/response/body/choices/*/message/content``), named regular expressions,
and built-in kinds. A match becomes ``[redacted:NAME]``. What a rule takes out of a request is not in the key either: the
stored request must hash to its own name. So two requests that differ only there would share one answer; capture and
``golden check`` refuse them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from golden.credential import KEY_SHAPES
from snapshots import canonical
from snapshots.errors import JsonError
from snapshots.pointer import escape

NUMBER = 1
"""Stands in the digest of every rule set: a built-in kind that is changed is another rule set."""
_KEYED = ("url", "body", "body_text", "command", "stdin")
_ANSWERED = ("body", "text")

_EMAIL = re.compile(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+")
_PHONE = re.compile(
    r"""
      (?<![\w+]) \+ \d (?:[ ().-]{0,2}\d){7,14} (?!\w)          # international, E.164: 8 to 15 digits
    | (?<![\w.+-]) (?:\(\d{2,5}\)[ -]?|\d{3}[-. ]) \d{3}[-. ]\d{4} (?![\w-])   # (555) 010-0199, 555-010-0199
    | (?<![\w.+-]) 0\d{2,4}[ /-]\d{5,8} (?![\w-])               # 0171 5550199
    """,
    re.VERBOSE,
)
_CARD = re.compile(r"(?<![\w.+-])[2-6]\d{3}(?:[ -]?\d){9,15}(?![\w-])")


def _luhn(found: str) -> bool:
    """Tell whether digits carry a sound check digit (ISO/IEC 7812-1, annex B)."""
    digits = [int(c) for c in found if c.isdigit()]
    doubled = [d if i % 2 == 0 else (2 * d - 9 if d > 4 else 2 * d) for i, d in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and sum(doubled) % 10 == 0


_KINDS: dict[str, tuple[re.Pattern[str], Callable[[str], bool]]] = {
    "api_key": (KEY_SHAPES, lambda _: True),
    "card": (_CARD, _luhn),
    "email": (_EMAIL, lambda _: True),
    "phone": (_PHONE, lambda _: True),
}
KINDS = tuple(_KINDS)


@dataclass(frozen=True, slots=True)
class Hit:
    """One place where a rule took something out."""

    pointer: str
    rule: str


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
        """Return ``sha256:`` of the canonical form of the rules."""
        rules = {
            "number": NUMBER,
            "pointers": sorted(self.pointers),
            "patterns": dict(self.patterns),
            "kinds": sorted(self.kinds),
        }
        return f"sha256:{canonical.digest(rules)}"

    def request(self, document: dict[str, Any]) -> tuple[dict[str, Any], list[Hit]]:
        """Return a request document without what the rules take out, and where that was."""
        return self._apply(document, "/request", _KEYED, names=False)

    def response(self, response: dict[str, Any]) -> tuple[dict[str, Any], list[Hit]]:
        """Return a response member without what the rules take out, and where that was; kept headers are searched too.

        Raises:
            JsonError: two members of an object would get one name.
        """
        return self._apply(response, "/response", (*_ANSWERED, "headers"), names=True)

    def finds(self, value: Any) -> bool:
        """Tell whether a rule that reads texts finds anything in a JSON value."""
        hits: list[Hit] = []
        _Texts(self._rules(), hits, names=True).of(value, "")
        return bool(hits)

    def _apply(
        self, whole: dict[str, Any], at: str, parts: tuple[str, ...], *, names: bool
    ) -> tuple[dict[str, Any], list[Hit]]:
        if not self:
            return whole, []
        hits: list[Hit] = []
        changed = dict(whole)
        for pointer in self.pointers:
            if pointer.startswith(f"{at}/"):
                path = pointer.removeprefix(f"{at}/").split("/")
                changed = _without(changed, path, at, hits, pointer)
        texts = _Texts(self._rules(), hits, names=names)
        for part in parts:
            if part in changed:
                changed[part] = texts.of(changed[part], f"{at}/{part}")
        return changed, hits

    def _rules(self) -> list[tuple[str, re.Pattern[str], Callable[[str], bool]]]:
        own = [(name, re.compile(pattern), _always) for name, pattern in self.patterns]
        return [*own, *((kind, *_KINDS[kind]) for kind in KINDS if kind in self.kinds)]


def _always(_found: str) -> bool:
    return True


def _without(value: Any, path: list[str], at: str, hits: list[Hit], rule: str) -> Any:
    """Return a value in which what a path leads to is taken out; ``*`` is any item or member."""
    if not path:
        if value is None:
            return None
        hits.append(Hit(at, rule))
        return "[redacted]"
    step, rest = path[0], path[1:]
    if isinstance(value, dict):
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


@dataclass(slots=True)
class _Texts:
    """Takes matches out of all texts of a value."""

    rules: list[tuple[str, re.Pattern[str], Callable[[str], bool]]]
    hits: list[Hit]
    names: bool

    def of(self, value: Any, at: str) -> Any:
        if isinstance(value, str):
            return self._text(value, at)
        if isinstance(value, list):
            return [self.of(item, f"{at}/{i}") for i, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        changed: dict[str, Any] = {}
        for name, item in value.items():
            kept = self._text(name, at) if self.names else name
            if kept in changed:
                raise JsonError("redaction gives two members one name", pointer=at)
            changed[kept] = self.of(item, f"{at}/{escape(name)}")
        return changed

    def _text(self, text: str, at: str) -> str:
        for name, pattern, is_one in self.rules:

            def taken(found: re.Match[str], name: str = name, is_one: Callable[[str], bool] = is_one) -> str:
                if not found[0] or not is_one(found[0]):
                    return found[0]
                self.hits.append(Hit(at, name))
                return f"[redacted:{name}]"

            text = pattern.sub(taken, text)
        return self._inner_json(text, at) if "\\" in text else text

    def _inner_json(self, text: str, at: str) -> str:
        """Return JSON within a text (the arguments of a tool call) without what its escapes hid."""
        if not text.lstrip().startswith(("{", "[")):
            return text
        try:
            inner = json.loads(text)
        except (ValueError, RecursionError):
            return text
        before = len(self.hits)
        changed = self.of(inner, at)
        return text if len(self.hits) == before else json.dumps(changed, ensure_ascii=False)


def credentials(value: Any, allow: tuple[str, ...] = (), at: str = "") -> Iterator[str]:
    """Yield the pointers of texts and member names in a JSON value that hold what looks like a credential."""
    if isinstance(value, str):
        if any(not any(re.fullmatch(p, found[0]) for p in allow) for found in KEY_SHAPES.finditer(value)):
            yield at
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from credentials(item, allow, f"{at}/{i}")
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from credentials(name, allow, at)
            yield from credentials(item, allow, f"{at}/{escape(name)}")
