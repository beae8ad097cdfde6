"""``whichclock schema``: print the JSON Schemas that are shipped."""

from __future__ import annotations

from typing import Annotated

import typer

from golden import schema
from snapshots.console import write_utf8

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command(name="schema")
def print_schema(
    name: Annotated[str, typer.Argument(metavar="|".join(schema.SHIPPED), help="Which schema to print.")],
) -> None:
    """Print the JSON Schema of a format, for editors and other tools.

    \b
    Examples:
      whichclock schema case > case.schema.json
    """
    write_utf8(schema.shipped_text(name))
