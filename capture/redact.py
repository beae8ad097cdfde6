"""Values that may never be written: found in answers, and struck out of messages.

A value is looked for as it is, as JSON text (also JSON within JSON), and each of these also percent-encoded, in hexadecimal and
in base64, at each of the three offsets that it can have inside a longer text; all of it in upper and lower case alike, and
letters with marks in either of their Unicode forms.
"""

from __future__ import annotations

import base64
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

import orjson

from golden.unescape import unescaped
from snapshots import dialects

MIN_LENGTH = 6
"""Shorter values stand in too many answers by chance; they are struck out of messages all the same."""


class Scrubber:
    """Knows the resolved values of a request, each with the name it came from.

    Texts are compared case-folded, character by character: to lower them is not enough, for some letters have more than one
    lower case, and bytes know the case of ASCII alone.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._names = {form.casefold(): name for name, value in secrets.items() if value for form in _forms(value)}
        long = {name for name, value in secrets.items() if len(value) >= MIN_LENGTH}
        self._needles = [(needle, name) for needle, name in self._names.items() if name in long]
        # As other encodings write it: a value that is no ASCII may stand in a body that is no UTF-8.
        self._bytes = [(data, name) for name, value in secrets.items() if name in long for data in _encoded(value)]
        # The longest first, so that no form is cut into by a shorter one.
        longest = sorted(self._names, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, longest))) if longest else None

    def __bool__(self) -> bool:
        """Tell whether there is a value that answers are searched for."""
        return bool(self._needles)

    def scrub(self, text: str) -> str:
        """Return a text in which each value is replaced by ``${env:NAME}``."""
        if self._pattern is None:
            return text
        folded, places = _folded(text)
        pieces: list[str] = []
        copied = 0
        for found in self._pattern.finditer(folded):
            start, end = places[found.start()], places[found.end() - 1] + 1
            pieces += (text[copied:start], f"${{env:{self._names[found[0]]}}}")
            copied = max(copied, end)
        return "".join((*pieces, text[copied:]))

    def find(self, data: bytes) -> str | None:
        """Return the name of a value of at least 6 characters that stands in some bytes, or ``None``."""
        if not self._needles:
            return None
        text = data.decode("utf-8", "surrogateescape").casefold()
        found = next((name for needle, name in self._needles if needle in text), None)
        return found or next((name for needle, name in self._bytes if needle in data), None)

    def find_in_response(self, document: Mapping[str, Any], response: Mapping[str, Any], data: bytes) -> str | None:
        """Return the name of a value that stands in a response: in its bytes, a kept header, the names of a
        program's files, or only once it is read.

        Args:
            document: the request document.
            response: the member as it would be stored.
            data: the body's bytes as received.
        """
        if not self._needles:
            return None
        found = self.find(data) or self.find(orjson.dumps([response["headers"], response.get("program")]))
        if found is None and b"\\" in data:
            # Within a text, a fence or a stream it may be escaped more than once.
            read = unescaped(data.decode("utf-8", "surrogateescape"))
            found = self.find(read.encode("utf-8", "surrogateescape")) or self._find_once_read(data)
        if found is None and "text" in response:
            found = self._find_in_stream(document, response)  # a stream can spell a value over several chunks
        return found

    def _find_once_read(self, data: bytes) -> str | None:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return None
        return self.find(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))

    def _find_in_stream(self, document: Mapping[str, Any], response: Mapping[str, Any]) -> str | None:
        try:
            whole = dialects.assembled(document, response)
            return None if whole is None else self.find(orjson.dumps(whole))
        except (ValueError, TypeError):
            return None  # what cannot be assembled is never stored


@lru_cache(maxsize=256)
def _scrubber(secrets: tuple[tuple[str, str], ...]) -> Scrubber:
    return Scrubber(dict(secrets))


def scrubber(secrets: Mapping[str, str]) -> Scrubber:
    """Return the scrubber of a request's values; equal values share one."""
    return _scrubber(tuple(secrets.items()))


def _forms(value: str) -> Iterator[str]:
    yield value
    if len(value) < MIN_LENGTH:
        return
    spelled = dict.fromkeys(_spelled(value))
    for _ in range(2):
        spelled.update(dict.fromkeys(_json(form, plain) for form in tuple(spelled) for plain in (True, False)))
    yield from spelled
    for form in spelled:
        data = form.encode("utf-8", "surrogatepass")
        once = {quote(data), quote(data, safe=""), quote_plus(data)} - {form}
        for quoted in once | {
            quote(text, safe=safe) for text in once for safe in ("/", "")
        }:  # a URL within a URL is quoted twice
            yield quoted
            yield re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), quoted)
        yield data.hex()
        for plain in {_base64(data, offset) for offset in range(3)}:
            yield plain
            yield plain.translate(_URL_SAFE)


def _folded(text: str) -> tuple[str, Sequence[int]]:
    """Return a text case-folded, and for each of its characters the place of the one that it came from."""
    if text.isascii():
        return text.lower(), range(len(text))
    parts = [character.casefold() for character in text]
    return "".join(parts), [place for place, part in enumerate(parts) for _ in part]


def _encoded(value: str) -> Iterator[bytes]:
    for encoding in ("utf-8", "latin-1", "utf-16-le", "utf-16-be"):
        with suppress(UnicodeEncodeError):
            yield value.encode(encoding)


def _spelled(value: str) -> Iterator[str]:
    """Yield how a value may be written once it has gone through another system."""
    yield value
    if value.isascii():
        return
    # A server that takes the bytes of a header for Latin-1 gives them back as other characters.
    yield value.encode("utf-8", "surrogatepass").decode("latin-1")
    for form in ("NFC", "NFD"):
        composed = unicodedata.normalize(form, value)
        # Escapes are made of the letter as it is: those of the other case are other digits.
        yield from (composed, composed.lower(), composed.upper())


def _json(text: str, ensure_ascii: bool) -> str:
    return json.dumps(text, ensure_ascii=ensure_ascii)[1:-1]


_URL_SAFE = str.maketrans("+/", "-_")


def _base64(data: bytes, offset: int) -> str:
    """Return the characters that the value alone decides when it stands ``offset`` bytes into a group of three."""
    text = base64.b64encode(b"\0" * offset + data).decode()
    start = (0, 2, 3)[offset]
    end = len(text) - (0, 3, 2)[(offset + len(data)) % 3]
    return text[start:end]
