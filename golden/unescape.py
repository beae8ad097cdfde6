r"""Escapes of JSON taken out of a text that is not read as JSON: within a fence, a sentence, or another text."""

from __future__ import annotations

import re

_PAIR = re.compile(r"\\+u([Dd][89ABab][0-9A-Fa-f]{2})\\+u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
_ESCAPE = re.compile(r"\\+u([0-9A-Fa-f]{4})")
_SLASH = re.compile(r"\\+/")


def unescaped(text: str) -> str:
    r"""Return a text in which ``\u0040`` is the character that it spells, however many backslashes stand before it.

    Quotes, backslashes and control characters stay escaped, and so does half of a surrogate pair: what was JSON still is.
    """
    if "\\" not in text:
        return text
    return _SLASH.sub("/", _ESCAPE.sub(_one, _PAIR.sub(_two, text)))


def _two(found: re.Match[str]) -> str:
    return chr(0x10000 + ((int(found[1], 16) - 0xD800) << 10) + int(found[2], 16) - 0xDC00)


def _one(found: re.Match[str]) -> str:
    number = int(found[1], 16)
    stays = number < 0x20 or number in (0x22, 0x5C) or 0xD800 <= number < 0xE000
    return found[0] if stays else chr(number)
