"""The command ``whichclock capture``: collects options, calls one function, prints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from capture.modes import Mode
from capture.options import CaptureOptions
from golden.model import Planned, Selection, Suite
from snapshots.console import Console, neutral
from snapshots.options import (
    CasesArgument,
    Color,
    ColorOption,
    ConfigOption,
    Format,
    FormatOption,
    QuietOption,
    SnapshotsOption,
    TagOption,
    TargetOption,
)

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def capture(
    cases: CasesArgument = None,
    target: TargetOption = None,
    tag: TagOption = None,
    mode: Annotated[
        Mode,
        typer.Option(
            help="Who answers: auto, the store and for misses the target; replay, the store; live and off, the target."
        ),
    ] = Mode.AUTO,
    trials: Annotated[
        int | None, typer.Option(min=1, max=10_000, metavar="N", help="Trials of each case. Default: the case's own.")
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Make at most N calls, retries counted; refuse the rest.")
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Open calls over all targets. Default: each target's own limit."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be asked and why, and ask nothing.")
    ] = False,
    resume: Annotated[
        Path | None, typer.Option(metavar="LOG", help="Skip what the run of this log was answered.")
    ] = None,
    config: ConfigOption = None,
    snapshots: SnapshotsOption = None,
    fmt: FormatOption = Format.TABLE,
    color: ColorOption = Color.AUTO,
    quiet: QuietOption = False,
) -> None:
    """Ask the targets and freeze their answers as snapshots.

    \b
    whichclock capture                         ask for what is not recorded yet
    whichclock capture --mode live             ask again; store what moved
    whichclock capture --dry-run               what would be asked, and which edit made it so
    """
    from golden.suite import find_config, load_suite, select

    console = Console(color.value, quiet=quiet)
    suite = load_suite(find_config(Path.cwd(), config), snapshots=snapshots)
    for warning in suite.warnings:
        console.warn(warning)
    planned = select(suite, Selection(tuple(cases or ()), tuple(target or ()), tuple(tag or ()), trials))
    options = CaptureOptions(mode=mode, max_calls=max_calls, concurrency=concurrency, resume=resume)
    if dry_run:
        _bill(suite, planned, options, console, fmt)
        return
    _capture(suite, planned, options, console, fmt)


def _bill(suite: Suite, planned: tuple[Planned, ...], options: CaptureOptions, console: Console, fmt: Format) -> None:
    from capture.bill import bill, bill_lines

    made = bill(suite, planned, options)
    if fmt is Format.JSON:
        console.json(made.as_dict())
        return
    for line in bill_lines(made):
        console.out(line)


def _capture(
    suite: Suite, planned: tuple[Planned, ...], options: CaptureOptions, console: Console, fmt: Format
) -> None:
    from capture.progress import progress
    from capture.report import remedies, summary_lines
    from capture.run import capture as run

    with progress(len(planned), quiet=console.quiet) as on_done:
        result = run(suite, planned, replace(options, on_done=on_done))
    for warning in result.warnings:
        console.warn(warning)
    if fmt is Format.JSON:
        console.json(result.as_dict())
    else:
        for line in summary_lines(result, console):
            console.out(line)
    for hint in remedies(result):
        console.say(f"hint: {neutral(hint)}")
    if result.exit_code:
        raise typer.Exit(result.exit_code)
