"""``whichclock golden``: check a suite, and list what is in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from golden import nearest
from golden import suite as suites
from golden.alike import refuse_alike
from golden.closure import defined_names
from golden.model import Planned, Selection, Suite
from golden.render import Rendered, render
from golden.unmetered import unmetered
from snapshots.console import Console, neutral, table
from snapshots.errors import ConfigError, ExitCode
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

if TYPE_CHECKING:
    from golden.stable import Unstable

_SHORT_HASH = 12
_MEMBERS = ("case_id", "target", "trials", "request_hash", "tags")

app = typer.Typer(
    help="Check golden suites and list their cases.", no_args_is_help=True, rich_markup_mode=None, add_completion=False
)


@app.command(short_help="Load the suite and render every case.")
def check(
    stable: Annotated[
        bool,
        typer.Option("--stable", help="Also render it all in two processes that differ in clock, hash seed and place."),
    ] = False,
    config: ConfigOption = None,
    snapshots: SnapshotsOption = None,
    output: FormatOption = Format.TABLE,
    color: ColorOption = Color.AUTO,
    quiet: QuietOption = False,
) -> None:
    """Load the suite and render every case, so that every error of its author shows.

    \b
    Examples:
      whichclock golden check
      whichclock golden check --config evals/whichclock.toml
      whichclock golden check --stable        exit 1 if a request depends on where it is rendered
    """
    console = Console(color, quiet=quiet)
    suite = _load(config, snapshots, console)
    pairs = list(_pairs(suite, Selection()))
    refuse_alike((planned.case, request) for planned, request in pairs)
    silent = list(unmetered(suite, pairs))
    for warning in silent:
        console.warn(warning)
    rendered = [request for _, request in pairs]
    _check_graders(suite)
    summary: dict[str, Any] = {
        "suite": suite.name,
        "cases": len(suite.cases),
        "targets": len(suite.targets),
        "requests": len({request.request_hash for request in rendered}),
        "grader_files": len(suite.graders),
        "env": sorted({name for request in rendered for name in request.env}),
        "warnings": [*suite.warnings, *silent],
    }
    moved = _unstable(suite) if stable else []
    if stable:
        summary["unstable"] = [one.as_dict() for one in moved]
    if output is Format.JSON:
        console.json({"schema": "whichclock.golden-check/1", "summary": summary})
        if moved:
            raise typer.Exit(ExitCode.FAILED)
        return
    counted = ("cases", "case"), ("targets", "target"), ("requests", "request"), ("grader_files", "grader file")
    console.out(f"{neutral(suite.name)}: " + ", ".join(_count(summary[name], word) for name, word in counted))
    if summary["env"]:
        console.say(f"calls need {', '.join(summary['env'])}")
    if stable:
        _tell_stable(moved, console)


def _unstable(suite: Suite) -> list[Unstable]:
    from golden.stable import unstable

    return unstable(suite.config)


def _tell_stable(moved: list[Unstable], console: Console) -> None:
    for one in moved:
        where = ", ".join(neutral(pointer) or "the whole suite" for pointer in one.pointers)
        console.out(f"unstable  {neutral(one.case_id)}  {neutral(one.target)}  {where}")
    if not moved:
        console.out("stable: every request is the same under another clock, hash seed, directory, user and locale")
        return
    console.say("hint: what stands there comes from the place where it runs: write it out, or pin the variable")
    raise typer.Exit(ExitCode.FAILED)


@app.command(short_help="List cases with targets, hashes and tags.")
def ls(
    cases: CasesArgument = None,
    target: TargetOption = None,
    tag: TagOption = None,
    config: ConfigOption = None,
    snapshots: SnapshotsOption = None,
    output: FormatOption = Format.TABLE,
    color: ColorOption = Color.AUTO,
    quiet: QuietOption = False,
) -> None:
    """List cases by target, with the number of trials, the request hash and the tags.

    \b
    Examples:
      whichclock golden ls
      whichclock golden ls 'refuse_*' --tag orders
      whichclock golden ls --format json
    """
    console = Console(color, quiet=quiet)
    suite = _load(config, snapshots, console)
    selection = Selection(tuple(cases or ()), tuple(target or ()), tuple(tag or ()))
    rows = [_row(planned, request) for planned, request in _pairs(suite, selection)]
    if output is Format.JSON:
        summary = {"suite": suite.name, "rows": len(rows)}
        console.json({"schema": "whichclock.golden-ls/1", "summary": summary, "rows": rows})
        return
    for line in table(_MEMBERS, map(_cells, rows), right=(2,)):
        console.out(line)


def _load(config: Path | None, snapshots: Path | None, console: Console) -> Suite:
    suite = suites.load_suite(suites.find_config(explicit=config), snapshots=snapshots)
    for warning in suite.warnings:
        console.warn(warning)
    return suite


def _check_graders(suite: Suite) -> None:
    """Refuse a case that lists a grader which no grader file defines; the files are read and not run."""
    defined: set[str] = set()
    for file in suite.graders:
        names = defined_names(file, suite.root)
        if names is None:
            return
        defined |= names
    for case in suite.cases:
        for name in case.graders:
            if name not in defined:
                raise ConfigError(f"{case.place}: no grader is named {name!r}", hint=nearest.hint(name, defined))


def _pairs(suite: Suite, selection: Selection) -> Iterator[tuple[Planned, Rendered]]:
    """Yield each selected case × target once, rendered: its trials share one request."""
    for planned in suites.select(suite, selection):
        if planned.trial == 0:
            yield planned, render(suite, planned.case, planned.target)


def _row(planned: Planned, request: Rendered) -> dict[str, Any]:
    case = planned.case
    values = (case.id, planned.target.name, case.trials, request.request_hash, sorted(set(case.tags)))
    return dict(zip(_MEMBERS, values, strict=True))


def _cells(row: dict[str, Any]) -> list[str]:
    case_id, target, trials, request_hash, tags = row.values()
    return [neutral(case_id), neutral(target), str(trials), request_hash[:_SHORT_HASH], neutral(", ".join(tags))]


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")
