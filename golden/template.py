"""Prompt templates: Jinja, sandboxed, strict about undefined names, and bounded in steps and in size.

Jinja is imported when the first text with a tag in it is rendered; text without tags is only given LF line ends, as
Jinja would give it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from golden.opaque import Opaque, OpaqueUseError
from golden.place import Place
from golden.placeholder import Lookup
from snapshots.errors import ConfigError, WhichclockError

_TAGS = ("{{", "{%", "{#")
_ENV_USE = re.compile(r"\benv\s*\.\s*([A-Za-z_][A-Za-z0-9_]*)")
_BLOCKS = re.compile(r"\{[{%](.*?)[%}]\}", re.DOTALL)
_ADDRESS = re.compile(r"<[^<>]{1,200} at 0x[0-9a-fA-F]{4,}>")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class _Variables:
    """``env`` in a template: each name goes through the lookup; there is nothing to list."""

    __slots__ = ("_lookup",)
    __iter__ = None

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    def __getitem__(self, name: Any) -> Opaque:
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            raise KeyError(name)
        return Opaque(name, self._lookup(name))

    def __str__(self) -> str:
        raise TypeError("env is no text: write env.NAME")


def render(text: str, variables: Mapping[str, Any], lookup: Lookup | None, place: Place, pointer: str) -> str:
    """Return the text that a template gives.

    Args:
        text: the template.
        variables: the names it may use.
        lookup: gives the text for ``env.NAME``; without one there is no ``env``.
        place: where the template stands, for messages.
        pointer: where below that place.

    Raises:
        ConfigError: syntax errors, undefined names, or more steps or text than the bounds allow.
        CallError: from the lookup.
    """
    return _render(text, variables, lookup, place, pointer, address=False)


def render_address(text: str, variables: Mapping[str, Any], lookup: Lookup, place: Place, pointer: str) -> str:
    """Return the part of a URL that a template gives: what it writes is percent-encoded, ``/``, ``?`` and ``&`` too.

    Raises:
        ConfigError: as for ``render``.
        CallError: from the lookup.
    """
    return _render(text, variables, lookup, place, pointer, address=True)


def check(text: str, place: Place, pointer: str) -> None:
    """Refuse a text that is no template.

    Raises:
        ConfigError: with the line of the error.
    """
    if any(tag in text for tag in _TAGS):
        try:
            _compiled(text, address=False)
        except Exception as error:
            _refuse(error, place, pointer)


def _render(
    text: str, variables: Mapping[str, Any], lookup: Lookup | None, place: Place, pointer: str, *, address: bool
) -> str:
    if not any(tag in text for tag in _TAGS):
        return text.replace("\r\n", "\n").replace("\r", "\n")
    from golden import sandbox

    names = dict(variables) if lookup is None else {**variables, "env": _Variables(lookup)}
    try:
        return _without_addresses(sandbox.run(_compiled(text, address=address), names), text, variables)
    except OpaqueUseError as error:
        _refuse(error, place, pointer)
    except WhichclockError:
        raise
    except UnicodeEncodeError as error:
        if lookup is None:
            _refuse(error, place, pointer)
        _refuse(ValueError("a text that holds env.NAME cannot be encoded here"), place, pointer)
    except Exception as error:
        _refuse(error, place, pointer)


def _without_addresses(rendered: str, text: str, variables: Mapping[str, Any]) -> str:
    """Return the text; refuse one that shows an object by its address in memory: it would be another request in every process."""
    found = _ADDRESS.search(rendered)
    if found is not None and found[0] not in text and found[0] not in str(dict(variables)):
        raise ValueError(f"{found[0][:80]} is an object and no text: call it, or turn it into a list")
    return rendered


def variables_used(text: str) -> list[str]:
    """Return the variables of the environment that a template names, sorted."""
    if "env" not in text:
        return []
    return sorted({name for block in _BLOCKS.findall(text) for name in _ENV_USE.findall(block)})


@functools.lru_cache(maxsize=512)
def _compiled(text: str, *, address: bool) -> Any:
    from golden import sandbox

    return sandbox.environment(address=address).from_string(text)


def _refuse(error: Exception, place: Place, pointer: str) -> NoReturn:
    """Raise the template's error at its line: the line in a file, or the line within the text of a case."""
    line = getattr(error, "lineno", None) or _line_of(error)
    what = "it never ends" if isinstance(error, RecursionError) else str(error) or type(error).__name__
    hint = error.hint if isinstance(error, WhichclockError) else ""
    if line is not None and place.line is None and not pointer:
        raise ConfigError(f"{place.file}:{line}: template: {what}", hint=hint) from error
    within = "" if line is None else f" (line {line} of the text)"
    raise place.fault(pointer, f"template{within}: {what}", hint=hint) from error


def _line_of(error: Exception) -> int | None:
    """Return the line of the template that was running, which Jinja writes into the traceback."""
    line, at = None, error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == "<template>":
            line = at.tb_lineno
        at = at.tb_next
    return line
