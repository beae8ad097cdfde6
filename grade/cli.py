"""The ``grade`` command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

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
def grade(
    cases: CasesArgument = None,
    target: TargetOption = None,
    tag: TagOption = None,
    save: Annotated[
        str | None, typer.Option("--save", metavar="LABEL", help="Keep the results under a label (whole suite only).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.parquet", help="Write the results to a file.")
    ] = None,
    frozen: Annotated[
        str | None,
        typer.Option(
            "--frozen", metavar="REF", help="Judge the very answers that a saved run lists (label, label~n or file)."
        ),
    ] = None,
    reuse: Annotated[
        str | None,
        typer.Option("--reuse", metavar="REF", help="Take over the rows of a saved run that no clock has touched."),
    ] = None,
    shard: Annotated[
        str | None, typer.Option("--shard", metavar="I/N", help="Grade part I of N of the cases; needs --out.")
    ] = None,
    merge: Annotated[
        list[Path] | None,
        typer.Option(
            "--merge", metavar="FILE", help="Put the files of all shards together (repeatable); grades nothing."
        ),
    ] = None,
    check_purity: Annotated[
        bool,
        typer.Option("--check-purity", help="Grade twice under other circumstances and report every difference."),
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=0, help="Worker processes; 0 chooses by size.")] = 0,
    config: ConfigOption = None,
    snapshots: SnapshotsOption = None,
    format: FormatOption = Format.TABLE,  # noqa: A002 - the option is called --format
    color: ColorOption = Color.AUTO,
    quiet: QuietOption = False,
) -> None:
    """Judge the frozen snapshots. Offline and pure: asks nobody, needs no credentials.

    \b
    whichclock grade                          every case; exit 1 if one fails, 3 if one could not be judged
    whichclock grade 'refund_*' --tag orders  some of them
    whichclock grade --save main              keep the results, so that diff can compare with them
    whichclock grade --frozen main            today's graders on the answers of the run saved as main
    whichclock grade --reuse main             judge only what a clock has touched since
    whichclock grade --shard 1/4 --out 1.parquet   and on the last machine: --merge 1.parquet --merge 2.parquet …
    """
    from golden.model import Selection
    from golden.suite import find_config, load_suite, select
    from grade import command, report
    from grade import shard as shards
    from snapshots.console import Console, neutral
    from snapshots.errors import UsageError

    console = Console(color.value, quiet=quiet)
    selection = Selection(tuple(cases or ()), tuple(target or ()), tuple(tag or ()))
    _check_options(save, out, selection, shard is not None)
    part = None if shard is None else shards.parse(shard)
    suite = load_suite(find_config(explicit=config), snapshots=snapshots)
    for warning in suite.warnings:
        console.warn(warning)
    if merge:
        _merge(suite, merge, selection, save, out, console, format)
    planned = select(suite, selection)
    if check_purity:
        _check_purity(suite, planned, jobs, console, format)
    base = _saved_table(frozen, suite) if frozen else None
    plan = command.make_plan(suite, planned, base)
    if part is not None:
        planned = tuple(row for row in planned if part.holds(row.case.id, row.target.name))
    if not plan.rows and frozen:
        raise UsageError(f"nothing to grade: {frozen} lists none of the selected cases", hint="grade without --frozen")
    write_to = out if out is not None else suite.results / save / "run.parquet" if save else None
    with command.progress(len(plan.rows), quiet=quiet) as tick:
        graded = command.grade(
            suite,
            plan,
            selection,
            jobs=jobs,
            keep_table=format is Format.JSON,
            write_to=write_to,
            tick=tick,
            reuse=_saved_table(reuse, suite) if reuse else None,
            shard=part,
        )
    written = command.keep(graded, suite, label=save, out=out)
    is_empty = part is not None and not planned  # nothing can fail in it, whatever the gate; --merge judges the run
    code = 0 if is_empty else graded.outcome.tally.exit_code(suite.pass_rate)
    extra: dict[str, Any] = {"not_in_base": plan.not_in_base, "request_moved": plan.request_moved} if frozen else {}
    if reuse:
        extra["reused"] = graded.outcome.reused
    if format is Format.JSON:
        from grade import table

        rows = table.as_rows(graded.table) if graded.table is not None else []
        console.json({"schema": table.SCHEMA, "summary": report.summary(graded.outcome, **extra), "rows": rows})
    elif is_empty:
        console.out(f"shard {part} holds none of the selected cases: nothing to judge")
    else:
        for line in report.lines(graded.outcome, planned, console, code, suite.pass_rate):
            console.out(line)
        if frozen:
            left_out = report.counted(plan.not_in_base, "row")
            console.out(
                f"frozen at {neutral(frozen)}: {left_out} not in it, {plan.request_moved} with another request since"
            )
        if reuse:
            rows_told = report.counted(graded.outcome.tally.rows, "row")
            console.out(f"reused from {neutral(reuse)}: {graded.outcome.reused} of {rows_told}")
    _say_remedies(graded, suite, planned, console, frozen)
    if written is not None:
        console.say(f"saved {neutral(_shown(written, suite.root))}")
    raise typer.Exit(code)


def _merge(
    suite: Any,
    files: list[Path],
    selection: Any,
    save: str | None,
    out: Path | None,
    console: Any,
    format: Format,  # noqa: A002
) -> NoReturn:
    """Put shards together, keep the whole run, and tell what it came to."""
    from golden import labels
    from golden.model import Selection
    from golden.suite import select
    from grade import command, merge, report, table
    from snapshots.console import neutral

    merge.require_alone(selection)
    merged = merge.merge(files, suite.name)
    outcome = merged.outcome
    for folder in merged.sources:
        outcome.loaded.sources.update(labels.read_sources(folder))
    path = out if out is not None else suite.results / save / "run.parquet" if save else None
    written = None
    if path is not None:
        graded = command.Graded(outcome, None, None, merge.write(merged, path))
        written = command.keep(graded, suite, label=save, out=out)
    code = outcome.tally.exit_code(suite.pass_rate)
    if format is Format.JSON:
        rows = table.as_rows(merged.rows)
        console.json({"schema": table.SCHEMA, "summary": report.summary(outcome), "rows": rows})
    else:
        for line in report.lines(outcome, select(suite, Selection()), console, code, suite.pass_rate):
            console.out(line)
    if written is not None:
        console.say(f"saved {neutral(_shown(written, suite.root))}")
    raise typer.Exit(code)


def _check_purity(suite: Any, planned: Any, jobs: int, console: Any, format: Format) -> NoReturn:  # noqa: A002
    """Grade twice and tell what differs."""
    from grade import check_purity, command

    found = check_purity.check(suite, command.make_plan(suite, planned, None), jobs)
    if format is Format.JSON:
        console.json(found.as_dict())
    else:
        for line in found.lines():
            console.out(line)
    raise typer.Exit(found.exit_code)


def _check_options(save: str | None, out: Path | None, selection: Any, is_shard: bool) -> None:
    from golden import labels
    from snapshots.errors import UsageError

    if is_shard and (out is None or save is not None):
        raise UsageError(
            "--shard writes a part of a run, which has no label", hint="use --out FILE.parquet, then --merge"
        )
    if save is not None:
        labels.check_label(save)
        if selection:
            raise UsageError("--save keeps whole suites only, and a selection is given", hint="use --out FILE.parquet")
    if save is not None and out is not None:
        raise UsageError("--save and --out are two places for one table", hint="give one of them")
    if out is not None and out.suffix != ".parquet":
        raise UsageError(
            f"--out {out} does not end in .parquet", hint="REFs that end in .parquet are files; name it so"
        )


def _saved_table(ref: str, suite: Any) -> Any:
    from golden import labels
    from grade import table
    from snapshots.errors import RefError

    run = labels.resolve(ref, suite.results)
    base = table.read(run.path)
    other = table.metadata(base, run.path)["suite"]
    if other != suite.name:
        raise RefError(
            f"{ref} is a run of the suite {other!r}, this is {suite.name!r}", hint="two suites are never compared"
        )
    return base


def _say_remedies(graded: Any, suite: Any, planned: Any, console: Any, frozen: str | None) -> None:
    """Tell how to record what is missing, with the nearest recorded request of the first few."""
    from grade.remedy import remedies

    for line in remedies(graded.outcome, suite, planned, frozen):
        console.say(line)


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
