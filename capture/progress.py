"""The progress bar: on stderr, on terminals only."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager

from capture.result import Outcome

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
    if quiet or not sys.stderr.isatty():
        yield lambda outcome: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    counts: Counter[Outcome] = Counter()
    text = TextColumn("{task.fields[counts]}", markup=False)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), text)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("capture", total=total, counts="")

        def done(outcome: Outcome) -> None:
            counts[outcome] += 1
            shown = "  ".join(f"{counts[one]} {one.value}" for one in _SHOWN if counts[one])
            bar.update(task, advance=1, counts=shown)

        yield done
