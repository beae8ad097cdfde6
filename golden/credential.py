"""What looks like a credential: by the name of a variable, or by the shape of a value."""

from __future__ import annotations

import re

_SECRET_NAME = re.compile("KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
KEY_SHAPES = re.compile(
    r"""
    (?<![A-Za-z0-9_-])                              # not within a longer word, as base64 for URLs may hold anything
    (?:
        (?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}          # model providers and payment services
      | (?:AKIA|ASIA)[0-9A-Z]{16}                   # AWS access key ids
      | AIza[0-9A-Za-z_-]{30,}                      # Google API keys
      | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,} | glpat-[A-Za-z0-9_-]{16,}
      | hf_[A-Za-z0-9]{20,} | gsk_[A-Za-z0-9]{20,} | xai-[A-Za-z0-9]{20,} | xox[abeoprs]-[A-Za-z0-9-]{10,}
      | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*  # JSON web tokens
      | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----
    )
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
    return KEY_SHAPES.search(value) is not None or _DENSE.fullmatch(word) is not None
