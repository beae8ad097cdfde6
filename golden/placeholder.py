"""``{{ env.VAR }}`` in targets and templates: read at call time, keyed by name.

While a request is made a mark stands for each variable, one character that no text of a suite can hold. In the whole request
it is replaced by ``${env:VAR}`` for the key and by the variable's value for the wire, so that the two forms cannot drift apart,
whatever a template does with the text around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from golden.place import Place
from snapshots.errors import CallError, ConfigError
from snapshots.pointer import escape

Lookup = Callable[[str], str]

# How Python shows bytes of the environment that are no text.
_SURROGATE = re.compile("[\ud800-\udfff]")
_ANY = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_ENV = re.compile(r"\{\{-?\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*-?\}\}")


_MARK = re.compile("[\ud800-\udbff]")
_FIRST = 0xD800
_MOST = 1024
_KEYED = re.compile(r"\$\{env:[A-Za-z_][A-Za-z0-9_]*\}")


class Marks:
    """The lookup of a request that is being made: it gives each variable a mark of its own."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def __call__(self, name: str) -> str:
        """Return the mark of a variable.

        Raises:
            ConfigError: there are more than 1,024.
        """
        if name not in self._marks and len(self._marks) == _MOST:
            raise ConfigError(f"a request names more than {_MOST:,} variables of the environment")
        return self._marks.setdefault(name, chr(_FIRST + len(self._marks)))

    @property
    def names(self) -> tuple[str, ...]:
        """Return the variables that were asked for, in their order."""
        return tuple(self._marks)

    def give(self, text: str, lookup: Lookup) -> str:
        """Return a text with each mark replaced by what a lookup gives for its variable."""
        if text.isascii():
            return text
        names = self.names

        def given(found: re.Match[str]) -> str:
            number = ord(found[0]) - _FIRST
            return lookup(names[number]) if number < len(names) else found[0]

        return _MARK.sub(given, text)

    def give_all(self, value: Any, lookup: Lookup) -> Any:
        """Return a JSON value with each mark in its texts replaced; member names hold none."""
        if isinstance(value, str):
            return self.give(value, lookup)
        if isinstance(value, dict):
            return {name: self.give_all(item, lookup) for name, item in value.items()}
        return [self.give_all(item, lookup) for item in value] if isinstance(value, list) else value

    def places(self, value: Any, at: str) -> Iterator[tuple[str, list[int]]]:
        """Yield where in a JSON value marks stand: the pointer of a text, and which of its ``${env:…}`` will have been marks."""
        if isinstance(value, str) and not value.isascii():
            parts = re.split(f"({_MARK.pattern}|{_KEYED.pattern})", value)[1::2]
            if numbers := [i for i, part in enumerate(parts) if _MARK.fullmatch(part)]:
                yield at, numbers
        elif isinstance(value, dict):
            for name, item in value.items():
                yield from self.places(item, f"{at}/{escape(name)}")
        elif isinstance(value, list):
            for i, item in enumerate(value):
                yield from self.places(item, f"{at}/{i}")


def spells_key(text: str) -> bool:
    """Tell whether a text holds what a variable is keyed as."""
    return "${env:" in text and _KEYED.search(text) is not None


def quoted(text: str, safe: str = "") -> str:
    """Return a text percent-encoded, but for the marks in it."""
    if text.isascii():
        return quote(text, safe=safe)
    parts = re.split(f"({_MARK.pattern})", text)
    return "".join(part if i % 2 else quote(part, safe=safe) for i, part in enumerate(parts))


def keyed(name: str) -> str:
    """Return what stands for a variable in a request document."""
    return f"${{env:{name}}}"


def from_environment(environ: Mapping[str, str]) -> Lookup:
    """Return the lookup of the wire.

    The lookup raises ``CallError`` for a variable that is not set or is no text.
    """

    def look_up(name: str) -> str:
        if name not in environ:
            raise CallError(f"variable {name} is not set", hint=f"set {name} where capture runs")
        value = environ[name]
        if not value.isascii() and _SURROGATE.search(value):
            raise CallError(f"the value of variable {name} is not UTF-8")
        return value

    return look_up


def fill(text: str, lookup: Lookup) -> str:
    """Return a text with every ``{{ env.VAR }}`` replaced."""
    return _ENV.sub(lambda found: lookup(found[1]), text) if "{{" in text else text


def fill_all(value: Any, lookup: Lookup) -> Any:
    """Return a JSON value with every ``{{ env.VAR }}`` in its texts replaced; member names stay."""
    if isinstance(value, str):
        return fill(value, lookup)
    if isinstance(value, dict):
        return {name: fill_all(item, lookup) for name, item in value.items()}
    return [fill_all(item, lookup) for item in value] if isinstance(value, list) else value


def names(value: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Yield the pointer and the variable of every ``{{ env.VAR }}`` in a JSON value."""
    if isinstance(value, str):
        yield from ((at, found[1]) for found in _ENV.finditer(value))
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from names(item, f"{at}/{escape(name)}")
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from names(item, f"{at}/{i}")


def refuse_others(value: Any, place: Place, at: str) -> None:
    """Refuse ``{{ … }}`` in a target's field that is not ``{{ env.VAR }}``.

    Raises:
        ConfigError: with the pointer of the field.
    """
    if isinstance(value, str):
        for found in _ANY.finditer(value):
            if _ENV.fullmatch(found[0]) is None:
                raise place.fault(at, f"{found[0][:80]!r} is not read here", hint="targets know {{ env.NAME }} only")
    elif isinstance(value, dict):
        for name, item in value.items():
            refuse_others(item, place, f"{at}/{escape(name)}")
    elif isinstance(value, list):
        for i, item in enumerate(value):
            refuse_others(item, place, f"{at}/{i}")
