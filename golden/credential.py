"""What looks like a credential: by the name of a variable, or by the shape of a value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from golden.unescape import unescaped
from snapshots.pointer import escape

_SECRET_NAME = re.compile("KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
KEY_SHAPES = re.compile(
    r"""
    # Not within a longer word, as base64 for URLs may hold anything; an escape before it is no part of the word.
    (?: (?<![A-Za-z0-9_-]) | (?<=\\[bfnrt]) | (?<=\\u[0-9A-Fa-f]{4}) | (?<=%[0-9A-Fa-f]{2}) )
    (?:
        # Model providers and payment services. Words with hyphens begin so too (names of classes in style sheets): a key has a
        # run of 16 letters and digits, or one of 8 that has both.
        (?:sk|pk|rk)[-_]
        (?=[A-Za-z0-9_-]*(?:[A-Za-z0-9]{16}|(?=[A-Za-z]{0,7}[0-9])(?=[0-9]{0,7}[A-Za-z])[A-Za-z0-9]{8}))
        [A-Za-z0-9_-]{16,}
      | (?:AKIA|ASIA)[0-9A-Z]{16}                   # AWS access key ids
      | AIza[0-9A-Za-z_-]{30,}                      # Google API keys
      | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,} | glpat-[A-Za-z0-9_-]{16,}
      | hf_[A-Za-z0-9]{20,} | gsk_[A-Za-z0-9]{20,} | xai-[A-Za-z0-9]{20,}
      | xox[abeoprs]-(?=[A-Za-z0-9-]*[0-9])[A-Za-z0-9-]{10,}
      | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*  # JSON web tokens
    )
    # The whole key, not its first line alone; a first line that somebody only talks about is followed by none.
  | -----BEGIN\ [A-Z0-9 ]*PRIVATE\ KEY(?:\ BLOCK)?-----(?=[\s\S]{0,300}?[A-Za-z0-9+/]{20})
    [\s\S]*?(?:-----END\ [A-Z0-9 ]*PRIVATE\ KEY(?:\ BLOCK)?-----|\Z)
    """,
    re.VERBOSE,
)
# Long, one word, and mixed as no model name, path or digest is.
_DENSE = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9_+/=-]{32,}")


def named_like_a_secret(name: str) -> bool:
    """Tell whether a variable's name holds KEY, TOKEN, SECRET, PASSWORD or CREDENTIAL, in any case."""
    return _SECRET_NAME.search(name) is not None


def looks_like_a_key(value: str) -> bool:
    """Tell whether a value holds a known form of credential, or is one long word of mixed letters and digits."""
    word = value.strip().removeprefix("Bearer ").strip()
    return KEY_SHAPES.search(value) is not None or "PRIVATE KEY-----" in value or _DENSE.fullmatch(word) is not None


def is_allowed(text: str, allow: tuple[str, ...]) -> bool:
    """Tell whether a text that looks like a credential is, by the suite's own patterns, none."""
    return any(re.fullmatch(pattern, text) for pattern in allow)


def credentials(value: Any, allow: tuple[str, ...] = (), at: str = "") -> Iterator[str]:
    """Yield the pointers of texts and member names in a JSON value that hold what looks like a credential."""
    if isinstance(value, str):
        # \u0073k- is the beginning of a key only once it is read.
        for text in (value, unescaped(value)) if "\\u" in value else (value,):
            if any(not is_allowed(found[0], allow) for found in KEY_SHAPES.finditer(text)):
                yield at
                break
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from credentials(item, allow, f"{at}/{i}")
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from credentials(name, allow, at)
            yield from credentials(item, allow, f"{at}/{escape(name)}")
