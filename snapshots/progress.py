"""The progress bar: on stderr, on terminals only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

T = TypeVar("T")


class Advance(Protocol):
    """Counts a bar up."""

    def __call__(self, done: int = 1, text: str = "", total: int | None = None) -> None:
        """Count so many things as done; ``text`` stands behind the bar, ``total`` is how many there are by now."""
        ...


@contextmanager
def bar(what: str, total: int, *, quiet: bool) -> Generator[Advance | None]:
    """Show a bar where stderr is a terminal and quiet is not wanted, and yield what counts it up; else yield ``None``.

    Args:
        what: the word before the bar.
        total: how many things there are.
        quiet: draw nothing.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[text]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task(what, total=total, text="")

        def advance(done: int = 1, text: str = "", total: int | None = None) -> None:
            drawn.update(task, advance=done, text=text, total=total)

        yield advance


def progress(what: str, things: Callable[[], Iterable[T]], *, quiet: bool) -> Iterator[T]:
    """Yield the things under a bar.

    Args:
        what: the word before the bar.
        things: makes them anew at each call: for a bar they are counted first, so that none has to be kept.
        quiet: draw nothing.
    """
    counts = not quiet and sys.stderr.isatty()
    with bar(what, sum(1 for _ in things()) if counts else 0, quiet=quiet) as advance:
        for thing in things():
            yield thing
            if advance is not None:
                advance()
