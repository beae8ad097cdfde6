"""The ``diff`` command."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from snapshots.options import Color, ColorOption, ConfigOption, QuietOption, SnapshotsOption

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


class ReportFormat(enum.StrEnum):
    """How to print a diff."""

    TABLE = "table"
    MD = "md"
    JSON = "json"
    JUNIT = "junit"
    GITHUB = "github"


class Gate(enum.StrEnum):
    """What makes a diff fail."""

    REGRESSIONS = "regressions"
    ANY = "any"
    NONE = "none"


class GateClock(enum.StrEnum):
    """A clock to gate by."""

    REQUEST = "request"
    MODEL = "model"
    GRADER = "grader"
    EXPECTATION = "expectation"


DiffFormat = Annotated[
    ReportFormat,
    typer.Option("--format", help="table for people, md for pull requests, json, junit or github for machines."),
]


@app.command()
def diff(
    base: Annotated[
        str | None, typer.Argument(metavar="BASE", help="A label, label~n, a file that ends in .parquet, or git:REV.")
    ] = None,
    head: Annotated[
        str | None, typer.Argument(metavar="HEAD", help="As BASE; default: the working tree, graded now.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.parquet", help="Write all rows of the diff to a Parquet file.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE.html", help="Write the diff as one page that needs nothing else."),
    ] = None,
    history: Annotated[
        str | None, typer.Option("--history", metavar="LABEL", help="Walk the runs of a label: which clock moved when.")
    ] = None,
    bisect: Annotated[
        str | None,
        typer.Option("--bisect", metavar="CASE", help="Where a case flipped: since BASE, a label's runs or git:REV."),
    ] = None,
    format: DiffFormat = ReportFormat.TABLE,  # noqa: A002 - the option is called --format
    gate: Annotated[
        Gate, typer.Option("--gate", help="What exits 1: newly failing cases, any verdict change, or nothing.")
    ] = Gate.REGRESSIONS,
    gate_clock: Annotated[
        list[GateClock] | None,
        typer.Option("--gate-clock", help="Fail only on what this clock has a share in (repeatable)."),
    ] = None,
    target_map: Annotated[
        list[str] | None,
        typer.Option(
            "--target-map", metavar="BASE=HEAD", help="Compare a target of the base with another of the head."
        ),
    ] = None,
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
    from diff import annotations, cases, compare, junit, markdown, measures, report, terminal
    from diff import table as diff_table
    from diff.side import Sides
    from diff.target_map import mapped, parse
    from golden.suite import find_config, load_suite
    from snapshots.console import Console, write_utf8
    from snapshots.errors import UsageError

    console = Console(color.value, quiet=quiet)
    if out is not None and out.suffix != ".parquet":
        raise UsageError(f"--out {out} does not end in .parquet")
    if html is not None and html.suffix != ".html":
        raise UsageError(f"--html {html} does not end in .html")
    suite = load_suite(find_config(explicit=config), snapshots=snapshots)
    if history is not None or bisect is not None:
        if out is not None or html is not None or format not in (ReportFormat.TABLE, ReportFormat.JSON):
            raise UsageError(
                "--history and --bisect print a table or JSON", hint="leave out --out, --html and --format"
            )
        _walk(suite, base, history, bisect, console, format)
    if base is None:
        raise UsageError("diff needs a BASE", hint="a label, a results file or git:REV; see: whichclock diff --help")
    targets = parse(target_map or ())
    with Sides(suite) as sides:
        comparison = compare.compare(*mapped(sides.of(base), sides.of(head), targets))
        cases.attribute_rows(comparison)
        measures.measure(comparison, suite, [clock.value for clock in gate_clock or ()])
        if out is not None:
            diff_table.write(comparison, out)
        if html is not None:
            from diff.html import write as write_page

            write_page(comparison, html)
        if format is ReportFormat.JSON:
            rows = list(diff_table.as_rows(comparison))
            console.json({"schema": diff_table.SCHEMA, "summary": report.summary(comparison), "rows": rows})
        elif format is ReportFormat.MD:
            console.out(markdown.markdown(comparison))
        elif format is ReportFormat.JUNIT:
            write_utf8(f"{junit.junit(comparison)}\n")
        elif format is ReportFormat.GITHUB:
            write_utf8("".join(f"{line}\n" for line in annotations.workflow_commands(comparison, places(suite))))
        else:
            for line in terminal.lines(comparison, console, console.width):
                console.out(line)
    raise typer.Exit(exit_code(comparison, gate))


def _walk(
    suite: Any,
    base: str | None,
    label: str | None,
    case_id: str | None,
    console: Any,
    format: ReportFormat,  # noqa: A002
) -> NoReturn:
    """Print the history of a label, or where a case flipped."""
    from diff import history
    from diff.side import Sides
    from snapshots.errors import UsageError

    since = base or label
    if since is None:
        raise UsageError("--bisect needs a BASE", hint="a label, or git:REV at which the case had the other verdict")
    with Sides(suite, cases=() if case_id is None else (case_id,)) as sides:
        if case_id is not None:
            told: list[Any] = history.bisect(suite, case_id, since, sides)
        else:
            told = list(history.history(suite, since, sides))
        if format is ReportFormat.JSON:
            console.json({"schema": history.SCHEMA, "rows": [one.as_dict() for one in told]})
        else:
            for one in told:
                for line in one.lines():
                    console.out(line)
    raise typer.Exit(0)


def exit_code(comparison: Any, gate: Gate) -> int:
    """Return 3 where the head side holds rows that could not be judged, else 1 where the gate fails, else 0."""
    if comparison.head_unjudged:
        return 3
    changes = comparison.verdict_changes
    gates = None if comparison.measures is None else comparison.measures.gates
    if gates is not None and gates.gates:
        failed = {Gate.REGRESSIONS: bool(gates.regressions), Gate.ANY: bool(gates.regressions or gates.better)}
    else:
        failed = {
            Gate.REGRESSIONS: bool(comparison.regressions),
            Gate.ANY: bool(changes["newly_failing"] or changes["newly_passing"]),
        }
    return int(gate is not Gate.NONE and failed[gate])


def places(suite: Any) -> dict[str, str]:
    """Return case id → ``file:line`` seen from the root of the repository, or of the project where there is none."""
    from golden.revision import Repository
    from snapshots.errors import RefError

    try:
        prefix = Repository(suite.root).prefix
    except RefError:
        return {case.id: case.place for case in suite.cases}
    return {case.id: str(prefix / case.place) for case in suite.cases}
