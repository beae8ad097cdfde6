"""The front door of whichclock: the command table, the version and the public names.

It imports no verb until one is asked for, so that ``whichclock --help`` stays quick.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from snapshots.version import VERSION

if TYPE_CHECKING:
    from golden.grader import grader as grader

__version__ = VERSION
__all__ = ["__version__", "grader", "main"]

# name → (module, one-line help). The help stands here so that listing the commands imports none of them.
COMMANDS = {
    "capture": ("capture.cli", "Ask the targets and freeze their answers as snapshots."),
    "grade": ("grade.cli", "Grade the frozen snapshots; offline and pure."),
    "diff": ("diff.cli", "Compare two runs and name the clock behind every change."),
    "why": ("diff.why_cli", "The four clocks of one case, and the commit that moved each."),
    "snapshots": ("snapshots.cli", "List, show, verify and address snapshots."),
    "golden": ("golden.cli", "Check and list the golden cases."),
    "schema": ("golden.schema_cli", "Print the JSON Schema of a format."),
    "demo": ("diff.demo", "Move one clock at a time on a real model and see what diff says."),
}


class _Door(TyperGroup):
    """A group that imports a command's module only when that command is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        command = typer.main.get_command(import_module(COMMANDS[cmd_name][0]).app)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


app = typer.Typer(
    cls=_Door, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False
)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"whichclock {__version__}")
        raise typer.Exit


@app.callback()
def _root(  # pyright: ignore[reportUnusedFunction]
    _version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Print the version."),
) -> None:
    """Which clock moved: the request, the model, the grader or the expectation?

    \b
    capture   freezes what the model says        whichclock capture
    grade     judges what is frozen, offline     whichclock grade --save main
    diff      names the clock that moved         whichclock diff main
    """


# The base of all usage errors: typer 0.20 takes it from click, later ones bring their own copy; both have it among these.
_UsageFault: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


def main() -> None:
    """Run the command line; the console script's entry point."""
    from snapshots.errors import ExitCode, WhichclockError

    try:
        code = app(prog_name="whichclock", standalone_mode=False)
        sys.stdout.flush()
    except WhichclockError as error:
        _report(error.message, error.hint)
        code = error.code
    except _UsageFault as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # its message is the help itself
        else:
            _report(error.format_message(), _usage_hint(error))
        code = ExitCode.AUTHOR
    except BrokenPipeError:
        # The reader of our output left (head, less). Nobody saw the verdict, so this is neither a pass nor a fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    except (KeyboardInterrupt, typer.Abort):
        _report("interrupted", "")
        code = 130
    sys.exit(code if isinstance(code, int) else 0)


def _usage_hint(error: Any) -> str:
    context = getattr(error, "ctx", None)
    return f"see: {context.command_path} --help" if context is not None else "see: whichclock --help"


def _report(message: str, hint: str) -> None:
    from snapshots.console import Console, neutral_block

    console = Console()
    sys.stderr.write(f"{console.paint('error:', 'red', stream=sys.stderr)} {neutral_block(message)}\n")
    if hint:
        sys.stderr.write(f"{console.paint('hint:', 'blue', stream=sys.stderr)} {neutral_block(hint)}\n")


def __getattr__(name: str) -> Any:
    if name == "grader":
        from golden.grader import grader

        return grader
    raise AttributeError(f"module 'whichclock' has no attribute {name!r}")


if __name__ == "__main__":
    main()
