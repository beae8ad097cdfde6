"""The command ``whichclock snapshots show``.

It belongs to snapshots by name and stands here because a snapshot may be asked for by the case that it answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from snapshots.console import Console, neutral
from snapshots.options import ConfigOption, SnapshotsOption

if TYPE_CHECKING:
    from golden.model import Case, Suite
    from snapshots.store import Store

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(short_help="Show a snapshot as text: request, answer and origin.")
def show(
    what: Annotated[
        str,
        typer.Argument(
            metavar="FILE|HASH|CASE",
            help="A snapshot file, the beginning of a request hash, or the exact id of a case.",
        ),
    ],
    textconv: Annotated[
        bool, typer.Option("--textconv", help="For git: any file name, and damaged files are shown as they are.")
    ] = False,
    config: ConfigOption = None,
    snapshots: SnapshotsOption = None,
) -> None:
    """Show a snapshot as text: the request's messages, the answer, and how it was come by.

    \b
    whichclock snapshots show 3fa9
    whichclock snapshots show refuse_invented_order_id      its current answers, of every target
    git config diff.whichclock.textconv "whichclock snapshots show --textconv"
    """
    from snapshots import showing

    console = Console()
    if textconv or Path(what).is_file():
        shown = showing.file(Path(what), lenient=textconv)
    else:
        shown = _recorded(what, config, snapshots)
    for line in shown:
        console.out(line)


def _recorded(what: str, config: Path | None, snapshots: Path | None) -> Iterator[str]:
    """Return the text of the recordings that a hash or a case means.

    The suite is loaded only where no recorded request is meant: a broken one hides no snapshot.
    """
    from snapshots import showing
    from snapshots.errors import AuthorError, UsageError
    from snapshots.location import existing_store
    from snapshots.store import Store

    store = Store(existing_store(snapshots, config=config))
    try:
        return showing.recorded(store, showing.request_of(store, what))
    except UsageError as error:
        no_request = error
    try:
        suite = _suite(config, snapshots)
    except AuthorError:
        hint = f"{no_request.hint}; for the hash of a case: whichclock golden ls"
        raise UsageError(no_request.message, hint=hint) from None
    case = next((case for case in suite.cases if case.id == what), None)
    if case is None:
        hint = f"{no_request.hint}; {_near(what, suite)}"
        raise UsageError(f"{no_request.message}, and no case is called so", hint=hint)
    return _answers(suite, case, store)


def _suite(config: Path | None, snapshots: Path | None) -> Suite:
    from golden.suite import find_config, load_suite

    return load_suite(find_config(explicit=config), snapshots=snapshots)


def _near(what: str, suite: Suite) -> str:
    from golden import nearest

    return nearest.hint(what, (case.id for case in suite.cases)) or "whichclock golden ls lists the cases"


def _answers(suite: Suite, case: Case, store: Store) -> Iterator[str]:
    """Yield the current answers of a case, target by target, each under its name where there are several.

    Raises:
        OperatorError: nothing is recorded for it.
    """
    from golden.remedy import record_command
    from golden.render import render
    from snapshots import showing
    from snapshots.errors import OperatorError

    hashes = {name: render(suite, case, suite.targets[name]).request_hash for name in case.targets}
    missing = [name for name in hashes if next(store.walk(hashes[name]), None) is None]
    for i, name in enumerate(name for name in hashes if name not in missing):
        if i:
            yield ""
        if len(hashes) > 1:
            yield f"{neutral(case.id)} [{neutral(name)}]"
        yield from showing.recorded(store, hashes[name])
    if missing:
        command = record_command([case.id], missing if len(suite.targets) > 1 else ())
        raise OperatorError(
            f"no answer is recorded for case {case.id!r}, target {', '.join(missing)}",
            hint=f"record it with: {command}",
        )
