"""When a failed call is tried again: which failures pass, and how long to wait."""

from __future__ import annotations

import email.utils
from datetime import UTC

FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 10.0
RETRY_AFTER_CEILING_S = 120
_TRANSIENT = frozenset({408, 409, 429})
# The server cannot do it at all: another attempt is told the same.
_LASTING = frozenset({501, 505})


def is_transient(status: int) -> bool:
    """Tell whether a status speaks of the server's state and not of the request; such an answer is never stored."""
    return status in _TRANSIENT or status >= 500


def passes(status: int) -> bool:
    """Tell whether a status is worth another attempt."""
    return is_transient(status) and status not in _LASTING


def backoff(failures: int) -> float:
    """Return the seconds to wait after so many failures in a row: 500 ms doubling to 10 s, without jitter."""
    return min(FIRST_DELAY_S * 2.0 ** min(failures - 1, 30), LONGEST_DELAY_S)


def retry_after(value: str | None, now: int) -> float | None:
    """Return the seconds that a ``Retry-After`` header asks for (RFC 9110 section 10.2.3), or ``None`` if for nothing.

    Args:
        value: the header's value, seconds or an HTTP date; what is neither asks for nothing.
        now: the current UTC second since 1970.
    """
    text = (value or "").strip()
    if text.isascii() and text.replace(".", "", 1).isdigit():
        seconds = float(text)
    else:
        try:
            date = email.utils.parsedate_to_datetime(text)
        except ValueError:
            return None
        # A date of unknown zone is UTC, as RFC 9110 has every HTTP date.
        seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now
    return seconds if seconds > 0 else None
