"""Options that every command shares, defined once so that they read and behave the same everywhere."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer


class Color(enum.StrEnum):
    """When to colour the output."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Format(enum.StrEnum):
    """How to print the answer."""

    TABLE = "table"
    JSON = "json"


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Configuration file. Default: whichclock.toml or pyproject.toml, found upwards.",
    ),
]
SnapshotsOption = Annotated[
    Path | None,
    typer.Option(
        "--snapshots", metavar="DIR", help="Snapshot store. Default: the configuration's, or WHICHCLOCK_SNAPSHOTS."
    ),
]
FormatOption = Annotated[Format, typer.Option("--format", help="table for people, json for machines.")]
ColorOption = Annotated[Color, typer.Option("--color", help="When to colour; auto honours NO_COLOR.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Only data, warnings and errors.")]
CasesArgument = Annotated[
    list[str] | None, typer.Argument(metavar="CASE", help="Exact case ids, or globs with * ? [. Default: all.")
]
TargetOption = Annotated[list[str] | None, typer.Option("--target", metavar="T", help="Only this target (repeatable).")]
TagOption = Annotated[
    list[str] | None, typer.Option("--tag", metavar="X", help="Only cases with any of these tags (repeatable).")
]
