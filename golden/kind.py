"""The built-in kinds of what redaction takes out: their shapes, and what only looks like them."""

from __future__ import annotations

import re
from collections.abc import Callable

from golden.credential import KEY_SHAPES

_EMAIL = re.compile(
    r"""
    (?<![\w.%+-]) [\w%+-][\w.%+'-]{0,63}
    (?:@|%40)                                     # as it is, and within a URL
    (?:[\w-]{1,63}\.){1,8}
    (?:xn--[A-Za-z0-9-]{1,59} | [^\W\d_]{2,63})   # the last label has letters only: pkg@1.2.3 is a version
    """,
    re.VERBOSE,
)
_PHONE = re.compile(
    r"""
      # International, E.164: 8 to 15 digits, the first no zero; a signed decimal number is none.
      (?<![\w+]) \+ (?!\d+\.\d+(?![.\d])) [1-9] (?:[ ().-]{0,2}\d){7,14} (?!\w)
    | (?<![\w.+-]) (?:\(\d{2,5}\)[ -]?|\d{3}[-. ]) \d{3}[-. ]\d{4} (?![\w-])   # (555) 010-0199, 555-010-0199
      # National ones with a leading zero: 0171 5550199, 020 7946 0018, 01 99 00 12 34; not within longer rows of digits.
    | (?<![\w.+-]) (?<!\d[ ]) (?:0\d{2,4}[ /-]\d{6,8} | 0\d{2,4}[ ]\d{3,4}[ ]\d{3,4} | 0[1-9](?:[ ]\d{2}){4}) (?![\w-]|[ ]\d)
    """,
    re.VERBOSE,
)
_CARD = re.compile(
    r"""
    (?<![\w.+-]) (?<![A-Z]{2}\d{2}[ ]) (?<![A-Z]{2}\d{2}[ ][A-Z]{4}[ ])        # nor the rest of an IBAN
    (?: [2-6]\d{3} (?P<gap>[ -]?) \d{4} (?P=gap) \d{4} (?P=gap) \d{1,4} (?:(?P=gap)\d{1,3})?
      | 3\d{3} (?P<space>[ -]) \d{6} (?P=space) \d{4,5} )                      # American Express, Diners Club
    (?![\w-]|\.\d)
    """,
    re.VERBOSE,
)


def _has_check_digit(found: str) -> bool:
    """Tell whether digits carry a sound check digit (ISO/IEC 7812-1, annex B)."""
    digits = [int(c) for c in found if c.isdigit()]
    doubled = [d if i % 2 == 0 else (2 * d - 9 if d > 4 else 2 * d) for i, d in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and sum(doubled) % 10 == 0


def always(_found: str) -> bool:
    """Take whatever a pattern finds."""
    return True


KINDS: dict[str, tuple[re.Pattern[str], Callable[[str], bool]]] = {
    "api_key": (KEY_SHAPES, always),
    "card": (_CARD, _has_check_digit),
    "email": (_EMAIL, always),
    "phone": (_PHONE, always),
}
