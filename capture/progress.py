"""The progress of a capture: how many of the rows that are asked for have ended, and how all did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

from capture.result import Outcome
from snapshots.progress import Advance, bar

_SHOWN = (
    Outcome.RECORDED,
    Outcome.REPLAYED,
    Outcome.UNCHANGED,
    Outcome.MOVED,
    Outcome.RELABELLED,
    Outcome.ASKED,
    Outcome.FAILED,
    Outcome.REFUSED,
)


class Progress:
    """Counts the rows that are asked for; what the store answers takes no time, and would spoil the estimate."""

    def __init__(self, advance: Advance | None) -> None:
        self._advance = advance
        self._counts: Counter[Outcome] = Counter()
        self._asked = 0
        self._left = 0

    def asking(self, rows: int) -> None:
        """Take in how many more rows are asked for."""
        self._asked += rows
        self._left += rows
        self._show(0)

    def done(self, outcome: Outcome) -> None:
        """Count one row as done."""
        self._counts[outcome] += 1
        # Before anything is asked rows end by the store alone.
        is_asked = self._left > 0
        self._left -= is_asked
        self._show(int(is_asked))

    def _show(self, done: int) -> None:
        if self._advance is not None:
            text = "  ".join(f"{self._counts[one]} {one.value}" for one in _SHOWN if self._counts[one])
            self._advance(done, text, total=self._asked)


@contextmanager
def progress(*, quiet: bool) -> Generator[Progress]:
    """Yield what watches a capture; it draws a bar where stderr is a terminal and nobody asked for quiet."""
    with bar("capture", 0, quiet=quiet) as advance:
        yield Progress(advance)
