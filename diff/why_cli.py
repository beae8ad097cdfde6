"""The ``why`` command."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import partial
from typing import Annotated, Any

import typer

from snapshots.options import Color, ColorOption, ConfigOption, Format, FormatOption, QuietOption, SnapshotsOption

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def why(
    case: Annotated[str, typer.Argument(metavar="CASE", help="The exact id of a case, or a glob with * ? [.")],
    base: Annotated[
        str | None,
        typer.Argument(
            metavar="BASE",
            help="As for diff. Default: git:HEAD with uncommitted changes, else git:HEAD~1, else the only label.",
        ),
    ] = None,
    trial: Annotated[
        int | None,
        typer.Option("--trial", min=0, metavar="N", help="Tell of this trial. Default: one that explains the verdict."),
    ] = None,
    config: ConfigOption = None,
    snapshots: SnapshotsOption = None,
    format: FormatOption = Format.TABLE,  # noqa: A002 - the option is called --format
    color: ColorOption = Color.AUTO,
    quiet: QuietOption = False,
) -> None:
    """Show the four clocks of one case: moved or not, what exactly moved, and the commit that moved it.

    \b
    whichclock why refuse_invented_order_id                 what the last change did to it
    whichclock why refuse_invented_order_id main            since the run saved as main
    whichclock why refuse_invented_order_id git:v1.2        since that revision
    """
    from diff import why as account
    from diff.compare import compare
    from diff.side import Sides
    from diff.why_lines import lines
    from golden.suite import find_config, load_suite
    from snapshots.console import Console, neutral
    from snapshots.errors import UsageError

    console = Console(color.value, quiet=quiet)
    suite = load_suite(find_config(explicit=config), snapshots=snapshots)
    ref = base or default_base(suite)
    with Sides(suite) as sides:
        old = sides.of(ref)
        comparison = compare(old, sides.of(None))
        rows = case_rows(comparison, case)
        if not rows:
            raise UsageError(
                f"no case is named {case!r}, here or at {ref}", hint="list them with: whichclock golden ls"
            )
        told = account.why(comparison, rows, suite, trial)
        if format is Format.JSON:
            names = {"base": comparison.base.name, "head": comparison.head.name}
            console.json({"schema": account.SCHEMA, **names, "cases": [one.as_dict() for one in told]})
        else:
            for one in told:
                for line in lines(one, console, comparison.base.name, comparison.head.name):
                    console.out(line)
            for note in dict.fromkeys(one.note for one in told if one.note is not None):
                console.out(neutral(note))


def case_rows(comparison: Any, case_id: str) -> list[Any]:
    """Return the rows of a case by its id, the old one too, or of all cases that a glob means; those that did not move included."""
    from diff.row import DiffRow
    from diff.table import as_rows

    # An exact id that holds a bracket is still an exact id.
    is_glob = any(c in case_id for c in "*?[")
    matches = partial(_means, case_id) if is_glob else case_id.__eq__
    found: list[Any] = []
    for number, plain in enumerate(as_rows(comparison)):
        row = comparison.rows.get(number)
        old_id = row.base["case_id"] if row is not None and row.base is not None else plain["case_id"]
        if not matches(plain["case_id"]) and not matches(old_id):
            continue
        if row is None:
            key = {"case_id": plain["case_id"], "target": plain["target"], "trial": plain["trial"]}
            base, head = ({**key, **plain[side]} for side in ("base", "head"))
            row = DiffRow(**key, move="none", clocks=[], request_changes=[], verdict_change=plain["verdict_change"],
                          reason=plain["reason"], evidence={}, base=base, head=head)  # fmt: skip
        found.append(row)
    return found


def _means(pattern: str, name: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)


def default_base(suite: Any) -> str:
    """Return what ``why`` compares with when nobody says: the last change.

    Raises:
        UsageError: there is neither a git history nor exactly one label.
    """
    from golden import labels
    from golden.revision import Repository
    from snapshots.errors import RefError, UsageError

    try:
        repository = Repository(suite.root)
        head = repository.commit("HEAD")
        return "git:HEAD" if repository.is_dirty(suite.results) or repository.parent(head) is None else "git:HEAD~1"
    except RefError:
        known = labels.labels(suite.results)
        if len(known) == 1:
            return known[0]
        raise UsageError(
            "nothing says what to compare with",
            hint=f"name a BASE: {', '.join(known) or 'git:REV, or save a run first'}",
        ) from None
