"""``{{ env.VAR }}`` in the fields of a target: read at call time, keyed by name.

A lookup gives the text for a name: ``${env:VAR}`` for the key, the variable's value for the wire. Everything that is
sent goes through one lookup, so the two forms cannot drift apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from golden.place import Place
from snapshots.errors import CallError
from snapshots.pointer import escape

Lookup = Callable[[str], str]

# How Python shows bytes of the environment that are no text.
_SURROGATE = re.compile("[\ud800-\udfff]")
_ANY = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_ENV = re.compile(r"\{\{-?\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*-?\}\}")


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
