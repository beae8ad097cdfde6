"""The command ``whichclock golden adopt``: golden cases out of recorded requests.

It belongs to golden by name and stands here because what graders find in the recorded answers today becomes what is expected of them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from snapshots.console import Console, neutral
from snapshots.errors import AuthorError, ConfigError, ExitCode, UsageError
from snapshots.options import Color, ColorOption, ConfigOption, Format, FormatOption, QuietOption, SnapshotsOption

if TYPE_CHECKING:
    from golden.adopt import Adoption
    from golden.model import Suite

_SHORT_HASH = 12

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(short_help="Write cases for recorded requests.")
def adopt(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The case file to write; it must not exist yet.")],
    hashes: Annotated[
        list[str] | None,
        typer.Option("--from", metavar="HASH", help="Only requests whose hash begins so (repeatable). Default: all."),
    ] = None,
    grader: Annotated[
        list[str] | None,
        typer.Option("--grader", metavar="NAME", help="Expect what this grader finds today (repeatable)."),
    ] = None,
    config: ConfigOption = None,
    snapshots: SnapshotsOption = None,
    fmt: FormatOption = Format.TABLE,
    color: ColorOption = Color.AUTO,
    quiet: QuietOption = False,
) -> None:
    """Write cases for recorded requests that no case has yet, and print the targets that they need.

    \b
    whichclock golden adopt golden/cases/imported.yaml
    whichclock golden adopt one.yaml --from 3fa9 --grader refused
    """
    from golden import adopt as adopting
    from snapshots.location import existing_store
    from snapshots.store import Store

    console = Console(color.value, quiet=quiet)
    adopting.refuse_existing(file)
    suite = _suite(config, snapshots, console)
    root = existing_store(snapshots, config=config)
    made = adopting.adopt(Store(root), hashes or (), suite, grader or ())
    if not made.rows() and not made.covered:
        raise UsageError("nothing to adopt: no such request is recorded", hint="whichclock snapshots ls shows what is")
    if grader and made.adopted:
        _expect(made, suite, root)
    if made.adopted:
        adopting.write_new(file, made.text())
    if fmt is Format.JSON:
        told = {"summary": made.summary(), "targets": made.targets, "rows": made.rows()}
        console.json({"schema": "whichclock.golden-adopt/1", **told})
    else:
        for line in adopting.toml(made.targets):
            console.out(neutral(line))
        for request_hash, reason in made.refused:
            console.complain(f"refused  {request_hash[:_SHORT_HASH]}: {neutral(reason)}")
        console.say(
            f"{len(made.adopted):,} adopted, {made.covered:,} have a case already, {len(made.refused):,} refused"
        )
    if made.refused:
        raise typer.Exit(ExitCode.UNJUDGED)


def _suite(config: Path | None, snapshots: Path | None, console: Console) -> Suite | None:
    """Return the suite, or nothing where there is none yet: recordings may be there before the first case."""
    from golden.suite import find_config, load_suite

    try:
        return load_suite(find_config(explicit=config), snapshots=snapshots)
    except AuthorError as error:
        if config is not None and isinstance(error, UsageError):
            raise
        console.say(f"no suite is known, so each request is new: {neutral(error.message)}")
        return None


def _expect(made: Adoption, suite: Suite | None, root: Path) -> None:
    """Expect of each case what its graders find in its first trial."""
    from grade.api import grade

    if suite is None:
        raise UsageError("--grader needs a suite, whose grader files define it", hint="name it with --config FILE")
    adopted = replace(suite, cases=made.cases(), targets=made.all_targets, snapshots=root)
    found: dict[str, list[str]] = {}
    for row in grade(adopted).rows():
        if row["status"] not in ("pass", "fail"):
            raise ConfigError(f"the answer of case {row['case_id']} is {row['status']}: {row['error']}")
        if row["trial"] == 0:
            found[row["case_id"]] = row["findings"]
    made.expect(found)
