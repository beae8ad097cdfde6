"""``${env:VAR}`` and ``${env:VAR:-default}`` in a text of the configuration: what they are and what stands for them."""

from __future__ import annotations

import re
from collections.abc import Mapping

OPENING = "${env:"
REFERENCE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
"""A whole reference: the name, and the default or ``None``."""
SPELLING_HINT = "write ${env:NAME} or ${env:NAME:-default}"


def references(text: str) -> list[tuple[str, str | None]]:
    """Return name and default of each reference in a text.

    Raises:
        ValueError: one is begun and is none; the message says so.
    """
    found = [(match[1], match[2]) for match in REFERENCE.finditer(text)]
    if len(found) != text.count(OPENING):
        raise ValueError(f"{text[:80]!r} is no ${{env:NAME}}")
    return found


def is_missing(name: str, default: str | None, environ: Mapping[str, str]) -> bool:
    """Tell whether nothing stands for a reference."""
    return default is None and name not in environ


def missing_hint(name: str) -> str:
    """Return the remedy for a variable that is missing."""
    return f"set it, or give a default: ${{env:{name}:-…}}"


def value(name: str, default: str | None, environ: Mapping[str, str]) -> str:
    """Return what stands for a reference that is not missing: a default stands in for an unset or empty variable, as in a shell."""
    if default is not None:
        return environ.get(name) or default
    return environ[name]


def resolve(text: str, environ: Mapping[str, str]) -> str:
    """Return a text with its references, none of which is missing, replaced."""
    return REFERENCE.sub(lambda found: value(found[1], found[2], environ), text) if OPENING in text else text
