"""``whichclock demo``: move one clock at a time on a real model and see what diff says."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from diff.demo_project import Project
    from diff.demo_show import Show

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def demo(
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Work in this new folder and leave it there.")
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Ask no model, even if one is installed: use the recorded answers.")
    ] = False,
) -> None:
    """Move one clock at a time on a real model and see what diff says. About a minute; nothing leaves this machine.

    \b
    whichclock demo
    whichclock demo --replay          without a model, from recorded answers
    whichclock demo --keep tour       leave the project there to play with
    """
    from diff import model_server
    from diff.demo_project import make, require_example
    from diff.demo_show import Show
    from diff.model_process import running_model

    require_example()
    show = Show()
    started = time.monotonic()
    live = model_server.is_installed() and not replay
    show.welcome(live=live, installed=model_server.is_installed())
    with _folder(keep) as root:
        if live:
            with running_model(root / "model.log") as url:
                good = tour(make(root, url=url, recorded=False), show, live=True)
        else:
            good = tour(make(root, url=None, recorded=True), show, live=False)
    show.farewell(keep, seconds=round(time.monotonic() - started))
    if not good:
        raise typer.Exit(3)


def tour(project: Project, show: Show, *, live: bool) -> bool:
    """Walk through all steps and tell whether diff named the moved clocks in each."""
    from diff.demo_steps import STEPS
    from diff.demo_walk import prepare, walk

    prepare(project, show, live=live)
    named = [walk(project, show, number, step, live=live) for number, step in enumerate(STEPS, 1)]
    show.summary(STEPS, named)
    return all(step.clocks == clocks for step, clocks in zip(STEPS, named, strict=True))


@contextmanager
def _folder(keep: Path | None) -> Generator[Path]:
    """Yield the folder to work in: a temporary one, or the one to keep, which must not hold anything yet."""
    from snapshots.errors import UsageError

    if keep is None:
        with TemporaryDirectory(prefix="whichclock-demo-") as folder:
            yield Path(folder).resolve()
        return
    if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        raise UsageError(f"--keep {keep} is already there and not an empty folder", hint="name a new one")
    keep.mkdir(parents=True, exist_ok=True)
    yield keep.resolve()
