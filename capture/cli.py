"""The command ``whichclock capture``: collects options, calls one function, prints."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from capture.modes import Mode
from capture.options import CaptureOptions
from golden.model import Selection, Suite
from snapshots.console import Console, neutral
from snapshots.errors import ExitCode, UsageError
from snapshots.options import (
    CasesArgument,
    Color,
    ColorOption,
    ConfigOption,
    QuietOption,
    SnapshotsOption,
    TagOption,
    TargetOption,
)

if TYPE_CHECKING:
    from capture.result import CaptureResult

_LIMITS = ("--max-calls", "--max-cost", "--concurrency")
_NO_BATCH = ("--resume", "--judges", "--mode replay", "--mode off", *_LIMITS)
# What goes with neither of them: each asks nothing, or something else than a capture.
_ALONE = {
    "--dry-run": ("--control", "--batch-out", "--batch-in"),
    "--control": ("--batch-out", "--batch-in", "--mode replay", "--mode off"),
    "--batch-out": ("--batch-in", *_NO_BATCH),
    "--batch-in": _NO_BATCH,
}

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


class CaptureFormat(enum.StrEnum):
    """How to print the answer."""

    TABLE = "table"
    JSON = "json"
    LINE = "line"


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
    judges: Annotated[
        Mode | None,
        typer.Option(
            help="The same for what graders ask; off leaves it alone. Default: auto, but replay and off as --mode."
        ),
    ] = None,
    trials: Annotated[
        int | None, typer.Option(min=1, max=10_000, metavar="N", help="Trials of each case. Default: the case's own.")
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Make at most N calls, retries counted; refuse the rest.")
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(min=0, metavar="USD", help="Spend at most so much by the suite's [prices]; refuse the rest."),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Open calls over all targets. Default: each target's own limit."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be asked and why, and ask nothing.")
    ] = False,
    audit: Annotated[
        bool, typer.Option("--audit", help="With --dry-run: what would be written, and what redaction takes out.")
    ] = False,
    resume: Annotated[
        Path | None, typer.Option(metavar="LOG", help="Skip what the run of this log was answered.")
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(metavar="REF", help="Ask the old requests of a label, a results file or git:REV again today."),
    ] = None,
    batch_out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write batch files for what is not recorded, and ask nothing.")
    ] = None,
    batch_in: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File the results of a batch; ask nothing.")
    ] = None,
    config: ConfigOption = None,
    snapshots: SnapshotsOption = None,
    fmt: Annotated[
        CaptureFormat,
        typer.Option("--format", help="table for people, json for machines, line for one line of JSON without rows."),
    ] = CaptureFormat.TABLE,
    color: ColorOption = Color.AUTO,
    quiet: QuietOption = False,
) -> None:
    """Ask the targets and freeze their answers as snapshots.

    \b
    whichclock capture                         ask for what is not recorded yet
    whichclock capture --mode live             ask again; store what moved
    whichclock capture --dry-run               what would be asked, and which edit made it so
    whichclock capture --control git:HEAD~1    ask the requests of the last commit again today
    whichclock capture --batch-out night       files for the provider's batch interface
    whichclock capture --batch-in night/output.jsonl
    """
    from golden.suite import find_config, load_suite

    console = Console(color.value, quiet=quiet)
    _refuse_together(
        {
            "--dry-run": dry_run,
            "--audit": audit,
            "--control": control is not None,
            "--batch-out": batch_out is not None,
            "--batch-in": batch_in is not None,
            "--resume": resume is not None,
            "--judges": judges is not None,
            "--mode replay": mode is Mode.REPLAY,
            "--mode off": mode is Mode.OFF,
            "--max-calls": max_calls is not None,
            "--max-cost": max_cost is not None,
            "--concurrency": concurrency is not None,
        }
    )
    suite = load_suite(find_config(Path.cwd(), config), snapshots=snapshots)
    for warning in suite.warnings:
        console.warn(warning)
    selection = Selection(tuple(cases or ()), tuple(target or ()), tuple(tag or ()), trials)
    options = CaptureOptions(
        mode=mode, judges=judges, max_calls=max_calls, max_cost=max_cost, concurrency=concurrency, resume=resume
    )
    if control is not None:
        _control(suite, control, selection, options, console, fmt)
    elif dry_run:
        _bill(suite, selection, options, console, fmt, audit=audit)
    elif batch_out is not None:
        _batch_out(suite, selection, options, batch_out, console, fmt)
    else:
        _capture(suite, selection, options, batch_in, console, fmt)


def _refuse_together(given: dict[str, bool]) -> None:
    """Refuse options of which one would be passed over in silence."""
    if given["--audit"] and not given["--dry-run"]:
        raise UsageError("--audit goes with --dry-run", hint="whichclock capture --dry-run --audit")
    verb = next((name for name in _ALONE if given[name]), None)
    others = [name for name in _ALONE.get(verb or "", ()) if given[name]]
    if verb is not None and others:
        raise UsageError(f"{verb} and {others[0]} do not go together", hint=f"leave {others[0]} out")


def _bill(
    suite: Suite,
    selection: Selection,
    options: CaptureOptions,
    console: Console,
    fmt: CaptureFormat,
    *,
    audit: bool,
) -> None:
    from golden.suite import select

    planned = select(suite, selection)
    if audit:
        from capture.audit import audit as look
        from capture.audit import audit_lines

        looked = look(suite, planned, options)
        _print(looked.as_dict(), audit_lines(looked), console, fmt)
        return
    from capture.bill import bill, bill_lines

    made = bill(suite, planned, options)
    _print(made.as_dict(), bill_lines(made), console, fmt)


def _batch_out(
    suite: Suite,
    selection: Selection,
    options: CaptureOptions,
    folder: Path,
    console: Console,
    fmt: CaptureFormat,
) -> None:
    from capture.batch_out import batch_out
    from golden.suite import select

    written = batch_out(suite, select(suite, selection), options, folder)
    _print(written.as_dict(), written.lines(), console, fmt)
    if written.files:
        console.say(f"hint: when the results are there, put them into {neutral(str(folder))} and run --batch-in FILE")
    if written.refused:
        raise typer.Exit(ExitCode.UNJUDGED)


def _control(
    suite: Suite, ref: str, selection: Selection, options: CaptureOptions, console: Console, fmt: CaptureFormat
) -> None:
    from capture.control import control
    from capture.progress import progress
    from capture.run import capture_rows

    with control(suite, ref, selection) as old, progress(quiet=console.quiet) as watch:
        # Asked again in any case: what is recorded already is what today's answer is compared with.
        asked = replace(options, mode=Mode.LIVE, judges=options.judges or Mode.OFF, control=ref)
        asked = replace(asked, on_asking=watch.asking, on_done=watch.done)
        result = capture_rows(suite, old.wanted, asked, old.lost)
    _tell(result, asked, console, fmt)


def _capture(
    suite: Suite,
    selection: Selection,
    options: CaptureOptions,
    batch: Path | None,
    console: Console,
    fmt: CaptureFormat,
) -> None:
    from capture.batch_in import batch_in
    from capture.progress import progress
    from capture.run import capture as run
    from golden.suite import select

    planned = select(suite, selection)
    if batch is not None:
        result = batch_in(suite, planned, options, batch)
    else:
        with progress(quiet=console.quiet) as watch:
            result = run(suite, planned, replace(options, on_asking=watch.asking, on_done=watch.done))
    _tell(result, options, console, fmt)


def _tell(result: CaptureResult, options: CaptureOptions, console: Console, fmt: CaptureFormat) -> None:
    from capture.report import remedies, summary_lines

    for warning in result.warnings:
        console.warn(warning)
    if fmt is CaptureFormat.LINE:
        console.json(result.as_line(options.mode.value))
    else:
        _print(result.as_dict(), summary_lines(result, console), console, fmt)
    is_live = Mode.LIVE in (options.mode, options.judges)
    for hint in remedies(result, Mode.LIVE if is_live else options.mode):
        console.say(f"hint: {neutral(hint)}")
    if result.exit_code:
        raise typer.Exit(result.exit_code)


def _print(value: dict[str, Any], lines: Iterable[str], console: Console, fmt: CaptureFormat) -> None:
    if fmt is CaptureFormat.TABLE:
        for line in lines:
            console.out(line)
    elif fmt is CaptureFormat.LINE:
        console.json({name: part for name, part in value.items() if name != "rows"})
    else:
        console.json(value)
