"""What somebody may have meant: the known names that are nearest to one that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def hint(name: str, known: Iterable[str]) -> str:
    """Return ``did you mean …?`` with up to three near names, or a list of all names where there are few."""
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, 3, 0.6)
    if near:
        return f"did you mean {' or '.join(repr(n) for n in near)}?"
    return f"there are {', '.join(repr(n) for n in names)}" if 0 < len(names) <= 10 else ""
