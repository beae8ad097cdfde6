"""The progress of a capture: how many rows have ended, and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager

from capture.result import Outcome
from snapshots.progress import bar

_SHOWN = (
    Outcome.RECORDED,
    Outcome.REPLAYED,
    Outcome.UNCHANGED,
    Outcome.MOVED,
    Outcome.ASKED,
    Outcome.FAILED,
    Outcome.REFUSED,
)


@contextmanager
def progress(total: int, *, quiet: bool) -> Generator[Callable[[Outcome], None]]:
    """Yield what counts one row as done; it draws a bar where stderr is a terminal and nobody asked for quiet."""
    counts: Counter[Outcome] = Counter()
    with bar("capture", total, quiet=quiet) as advance:

        def done(outcome: Outcome) -> None:
            if advance is not None:
                counts[outcome] += 1
                advance(1, "  ".join(f"{counts[one]} {one.value}" for one in _SHOWN if counts[one]))

        yield done
