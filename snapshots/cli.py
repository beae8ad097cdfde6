"""The command ``whichclock snapshots``: list, verify and address what is recorded.

``show``, which knows cases too, and ``import`` come from modules above this one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from snapshots.console import Console
from snapshots.errors import ExitCode, UsageError
from snapshots.options import (
    Color,
    ColorOption,
    ConfigOption,
    Format,
    FormatOption,
    QuietOption,
    SnapshotsOption,
)

app = typer.Typer(
    help="List, show, verify and address snapshots.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command(short_help="List what is recorded.")
def ls(
    prefix: Annotated[str, typer.Argument(metavar="[HASH]", help="Beginning of a request hash. Default: all.")] = "",
    config: ConfigOption = None,
    snapshots: SnapshotsOption = None,
    fmt: FormatOption = Format.TABLE,
) -> None:
    """List what is recorded, one line for each request and trial.

    \b
    whichclock snapshots ls
    whichclock snapshots ls 3fa9
    """
    from snapshots.listing import as_dict, as_line, head, rows
    from snapshots.location import existing_store
    from snapshots.store import Store

    console = Console()
    listed = rows(Store(existing_store(snapshots, config=config)), prefix)
    if fmt is Format.JSON:
        console.json({"schema": "whichclock.snapshots/1", "rows": [as_dict(row) for row in listed]})
        return
    console.out(head())
    for row in listed:
        console.out(as_line(row))


@app.command(short_help="Check every file and both its hashes.")
def verify(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="[PATH]...", help="Files or folders. Default: the whole store.")
    ] = None,
    config: ConfigOption = None,
    snapshots: SnapshotsOption = None,
    fmt: FormatOption = Format.TABLE,
    color: ColorOption = Color.AUTO,
    quiet: QuietOption = False,
) -> None:
    """Check every file: integrity, name, shape, and both hashes by the file's own rule.

    \b
    whichclock snapshots verify
    whichclock snapshots verify snapshots/sha256/3f
    """
    from snapshots import verify as verifying
    from snapshots.console import neutral
    from snapshots.location import existing_store
    from snapshots.progress import progress

    console = Console(color.value, quiet=quiet)
    root = None if paths else existing_store(snapshots, config=config)

    def files() -> Iterator[Path]:
        return verifying.files_of(paths or ()) if root is None else verifying.files(root)

    total = 0
    bad: list[verifying.Checked] = []
    for file in progress("verify", files, quiet=quiet):
        total += 1
        checked = verifying.check(file)
        if checked.reason is not None:
            bad.append(checked)
    if not total:
        where = ", ".join(map(str, paths or ())) or str(root)
        raise UsageError(
            f"nothing to verify: no file is recorded under {where}", hint="whichclock capture records some"
        )
    summary = {"files": total, "sound": total - len(bad), "corrupt": len(bad)}
    if fmt is Format.JSON:
        rows = [{"path": one.path, "reason": one.reason} for one in bad]
        console.json({"schema": "whichclock.verify/1", "summary": summary, "rows": rows})
    else:
        for one in bad:
            console.out(f"{console.paint('corrupt', 'red')}  {neutral(one.path)}: {neutral(one.reason or '')}")
        console.out(
            f"{summary['files']} file{'' if total == 1 else 's'}, {summary['sound']} sound, {summary['corrupt']} corrupt"
        )
    if bad:
        raise typer.Exit(ExitCode.UNJUDGED)


@app.command(short_help="Print the request hash of a document.")
def address(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="A request document, any JSON value; - is stdin.")],
    canonical: Annotated[bool, typer.Option("--canonical", help="Print its canonical bytes instead.")] = False,
    fmt: FormatOption = Format.TABLE,
) -> None:
    """Print the request hash of a document and the beginning of the path under which it is recorded.

    \b
    jq .request FILE | whichclock snapshots address -
    whichclock snapshots address --canonical request.json | sha256sum
    """
    import hashlib

    from snapshots import canonical as canonical_form
    from snapshots import strict_json
    from snapshots.showing import given

    data = canonical_form.encode(strict_json.loads(given(file)))
    if canonical:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return
    digest = hashlib.sha256(data).hexdigest()
    path = f"sha256/{digest[:2]}/{digest[2:]}."
    console = Console()
    if fmt is Format.JSON:
        console.json({"request_hash": digest, "path": path})
    else:
        console.out(f"{digest}\n{path}")


@app.command()
def stats(
    config: ConfigOption = None,
    snapshots: SnapshotsOption = None,
    fmt: FormatOption = Format.TABLE,
    quiet: QuietOption = False,
) -> None:
    """Count what the store holds."""
    from snapshots.console import neutral
    from snapshots.listing import stats as count
    from snapshots.location import existing_store
    from snapshots.store import Store

    console = Console(quiet=quiet)
    counted = count(Store(existing_store(snapshots, config=config)), quiet=quiet)
    if fmt is Format.JSON:
        console.json({"schema": "whichclock.store-stats/1", **counted})
        return
    for name, value in counted.items():
        shown = "-" if value is None else str(value)
        if isinstance(value, dict):
            shown = ", ".join(f"{key} ({count})" for key, count in value.items())
        console.out(f"{name.replace('_', ' '):<14}{neutral(shown)}")


@app.command()
def path(config: ConfigOption = None, snapshots: SnapshotsOption = None) -> None:
    """Print the store's folder."""
    from snapshots.console import neutral
    from snapshots.location import store_folder

    Console().out(neutral(str(store_folder(snapshots, config=config))))
