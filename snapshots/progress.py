"""A progress bar over things that are counted beforehand: on stderr, on terminals only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress(what: str, total: int, *, quiet: bool) -> Generator[Callable[[Sequence[Any]], Iterable[Any]]]:
    """Yield what passes things on and moves the bar; nothing is drawn where stderr is no terminal or quiet is wanted."""
    if quiet or not sys.stderr.isatty():
        yield iter
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)

        def step(things: Sequence[Any]) -> Iterable[Any]:
            for thing in things:
                yield thing
                bar.advance(task)

        yield step
