"""A progress bar over files: on stderr, on terminals only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def progress(what: str, things: Callable[[], Iterable[T]], *, quiet: bool) -> Iterator[T]:
    """Yield the things, with a bar where stderr is a terminal and quiet is not wanted.

    Args:
        what: the word before the bar.
        things: makes them anew at each call: for a bar they are counted first, so that none has to be kept.
        quiet: draw nothing.
    """
    if quiet or not sys.stderr.isatty():
        yield from things()
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=sum(1 for _ in things()))
        for thing in things():
            yield thing
            bar.advance(task)
