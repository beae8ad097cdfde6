"""The ``diff`` command."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any

import typer

from snapshots.options import Color, ColorOption, ConfigOption, QuietOption, SnapshotsOption

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


class ReportFormat(enum.StrEnum):
    """How to print a diff."""

    TABLE = "table"
    MD = "md"
    JSON = "json"


class Gate(enum.StrEnum):
    """What makes a diff fail."""

    REGRESSIONS = "regressions"
    ANY = "any"
    NONE = "none"


DiffFormat = Annotated[
    ReportFormat, typer.Option("--format", help="table for people, md for pull requests, json for machines.")
]


@app.command()
def diff(
    base: Annotated[
        str, typer.Argument(metavar="BASE", help="A label, label~n, a file that ends in .parquet, or git:REV.")
    ],
    head: Annotated[
        str | None, typer.Argument(metavar="HEAD", help="As BASE; default: the working tree, graded now.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.parquet", help="Write all rows of the diff to a Parquet file.")
    ] = None,
    format: DiffFormat = ReportFormat.TABLE,  # noqa: A002 - the option is called --format
    gate: Annotated[
        Gate, typer.Option("--gate", help="What exits 1: newly failing cases, any verdict change, or nothing.")
    ] = Gate.REGRESSIONS,
    config: ConfigOption = None,
    snapshots: SnapshotsOption = None,
    color: ColorOption = Color.AUTO,
    quiet: QuietOption = False,
) -> None:
    """Compare two runs and name the clock behind every change. Offline.

    \b
    whichclock diff main                  the working tree against the run saved as main
    whichclock diff git:origin/main       against that revision, graded with its own code, cases and answers
    whichclock diff main~1 main           two saved runs
    whichclock diff main --out d.parquet  every row, for pandas or DuckDB
    """
    from diff import cases, compare, markdown, report
    from diff import table as diff_table
    from diff.side import Sides
    from golden.suite import find_config, load_suite
    from snapshots.console import Console
    from snapshots.errors import UsageError

    console = Console(color.value, quiet=quiet)
    if out is not None and out.suffix != ".parquet":
        raise UsageError(f"--out {out} does not end in .parquet")
    suite = load_suite(find_config(explicit=config), snapshots=snapshots)
    with Sides(suite) as sides:
        comparison = compare.compare(sides.of(base), sides.of(head))
        cases.attribute_rows(comparison)
        if out is not None:
            diff_table.write(comparison, out)
        if format is ReportFormat.JSON:
            rows = list(diff_table.as_rows(comparison))
            console.json({"schema": diff_table.SCHEMA, "summary": report.summary(comparison), "rows": rows})
        elif format is ReportFormat.MD:
            console.out(markdown.markdown(comparison))
        else:
            for line in report.lines(comparison, console):
                console.out(line)
    raise typer.Exit(exit_code(comparison, gate))


def exit_code(comparison: Any, gate: Gate) -> int:
    """Return 3 where the head side holds rows that could not be judged, else 1 where the gate fails, else 0."""
    if comparison.head_unjudged:
        return 3
    changes = comparison.verdict_changes
    failed = {
        Gate.REGRESSIONS: bool(comparison.regressions),
        Gate.ANY: bool(changes["newly_failing"] or changes["newly_passing"]),
        Gate.NONE: False,
    }
    return int(failed[gate])
