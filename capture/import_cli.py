"""The command ``whichclock snapshots import``: cassettes of other recorders as snapshots."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from snapshots.console import Console, neutral
from snapshots.errors import ExitCode, UsageError
from snapshots.options import Color, ColorOption, ConfigOption, Format, FormatOption, QuietOption, SnapshotsOption

if TYPE_CHECKING:
    from capture.import_vcr import FileResult, ImportResult
    from golden.redaction import Redaction

_ENDPOINT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

app = typer.Typer(
    help="Turn what others have recorded into snapshots.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _root() -> None:  # pyright: ignore[reportUnusedFunction] - with it, vcr stays a command of its own
    """Turn what others have recorded into snapshots."""


@app.command()
def vcr(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Cassettes, or folders that hold some.")],
    endpoint: Annotated[
        str | None,
        typer.Option("--endpoint", metavar="NAME", help="Key scheme, host and port as endpoint:NAME, as targets do."),
    ] = None,
    accept_status: Annotated[
        list[int] | None,
        typer.Option("--accept-status", metavar="CODE", help="Also take answers with this status (repeatable)."),
    ] = None,
    config: ConfigOption = None,
    snapshots: SnapshotsOption = None,
    fmt: FormatOption = Format.TABLE,
    color: ColorOption = Color.AUTO,
    quiet: QuietOption = False,
) -> None:
    """Import cassettes of VCR.py and its kin. Exit 3 if any interaction was refused; the rest is imported.

    \b
    whichclock snapshots import vcr tests/cassettes
    whichclock snapshots import vcr chat.yaml --endpoint openai --format json
    """
    from capture.import_vcr import import_vcr, rules
    from snapshots.location import store_folder

    if endpoint is not None and not _ENDPOINT.fullmatch(endpoint):
        raise UsageError(f"--endpoint {endpoint}: a name has letters, digits, '.', '_' and '-', and no other sign")
    console = Console(color.value, quiet=quiet)
    root = store_folder(snapshots, config=config)
    by = rules(_redaction(config, snapshots), endpoint=endpoint, accepted=accept_status or ())
    result = import_vcr(paths, root, by, quiet=quiet)
    if fmt is Format.JSON:
        console.json({"schema": "whichclock.import/1", "summary": result.summary(), "rows": result.rows()})
    else:
        for line in _lines(result, console):
            console.out(line)
    if not result.is_clean:
        raise typer.Exit(ExitCode.UNJUDGED)


def _redaction(config: Path | None, snapshots: Path | None) -> Redaction:
    """Return the redaction of the suite, where there is a configuration that has one: it holds for all that is written."""
    from golden.redaction import Redaction
    from golden.suite import find_config, load_suite
    from snapshots import config_file

    try:
        file = find_config(explicit=config)
    except UsageError:
        if config is not None:
            raise
        return Redaction()
    table, _ = config_file.read(file)
    return load_suite(file, snapshots=snapshots).redaction if "redact" in table else Redaction()


def _lines(result: ImportResult, console: Console) -> Iterator[str]:
    for file in result.files:
        yield from _file_lines(file, console)
    told = result.summary()
    yield (
        f"{_count(told['files'] - told['no_cassettes'], 'cassette')}, {_count(told['interactions'], 'interaction')}: "
        f"{told['imported']:,} imported, {told['duplicates']:,} duplicates, {told['refused']:,} refused"
    )
    yield (
        f"{_count(told['requests'], 'request')}, {told['requests_of_several_trials']:,} of several trials; "
        f"{_count(told['trials_of_several_observations'], 'trial')} of several observations"
    )
    if told["readers"]:
        yield "read as " + ", ".join(f"{name} ({count:,})" for name, count in told["readers"].items())
    if told["no_cassettes"]:
        yield f"{_count(told['no_cassettes'], 'file')} no cassette"


def _file_lines(file: FileResult, console: Console) -> Iterator[str]:
    name = neutral(file.file)
    if file.reason is not None:
        yield f"{console.paint('no cassette', 'yellow')}  {name}: {neutral(file.reason)}"
        return
    if file.tagged:
        yield f"{console.paint('caveat', 'yellow')}  {name}: its tags are read as plain data, and nothing they name is built"
    for reason, same in groupby(file.refused, key=lambda refusal: refusal.reason):
        indexes = [refusal.index for refusal in same]
        yield f"{console.paint('refused', 'red')}  {name} {_range(indexes)}: {neutral(reason)}"


def _range(indexes: list[int]) -> str:
    """Return indexes in their order; those that follow each other without a gap as a range."""
    if len(indexes) > 1 and indexes[-1] - indexes[0] == len(indexes) - 1:
        return f"#{indexes[0]}-{indexes[-1]}"
    return ", ".join(f"#{index}" for index in indexes)


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")
