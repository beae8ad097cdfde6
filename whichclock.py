"""The front door of whichclock: the command table, the version and the public names.

It imports no verb until one is asked for, so that ``whichclock --help`` stays quick.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, TextIO

import typer
from typer.core import TyperGroup

from snapshots.version import VERSION

if TYPE_CHECKING:
    from diff.api import Diff as Diff
    from diff.api import diff as diff
    from golden.grader import grader as grader
    from golden.model import Suite as Suite
    from grade.api import Results as Results
    from grade.api import envelope as envelope
    from grade.api import grade as grade
    from grade.api import load as load
    from snapshots.envelope import Envelope as Envelope
    from snapshots.errors import WhichclockError as WhichclockError

__version__ = VERSION
__all__ = [
    "Diff", "Envelope", "Results", "Suite", "WhichclockError", "__version__", "diff", "envelope", "grade", "grader", "load", "main",
]  # fmt: skip
# Public names, imported when one is first asked for.
_LATE = {
    "Diff": "diff.api",
    "Envelope": "snapshots.envelope",
    "Results": "grade.api",
    "Suite": "golden.model",
    "WhichclockError": "snapshots.errors",
    "diff": "diff.api",
    "envelope": "grade.api",
    "grade": "grade.api",
    "grader": "golden.grader",
    "load": "grade.api",
}

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
# name → those of its commands that a module above it holds, name → module: no noun imports a verb, so they meet here.
GROUPS = {
    "snapshots": {"show": "golden.show_cli", "import": "capture.import_cli"},
    "golden": {"adopt": "grade.adopt_cli"},
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
        for name, module in GROUPS.get(cmd_name, {}).items():
            group: Any = command
            inner = typer.main.get_command(import_module(module).app)
            inner.name = name
            group.add_command(inner, name)
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
    from snapshots import streams
    from snapshots.errors import ExitCode

    # A job that is cancelled still tidies up: temporary files and workers go with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if not streams.prepare():
        _report("cannot write the output: stdout is closed", "redirect it to a file, or to nowhere with >/dev/null")
        sys.exit(ExitCode.UNJUDGED)
    try:
        code = _run()
    except BrokenPipeError:
        code = _nobody_reads()
    except OSError as error:
        if error.filename is not None:
            raise  # about a file: no fault of the output, and a bug that nobody has met yet
        code = _cannot_write(error)
    # The last of the output is written now: a verdict that nobody could read must not end as a pass.
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = _nobody_reads()
    except OSError as error:
        code = _cannot_write(error)
    try:
        sys.stderr.flush()
    except OSError:
        _drop(sys.stderr)
    sys.exit(code)


def _run() -> int:
    """Run the command, report what went wrong in it, and return the exit code."""
    from snapshots.errors import ExitCode, WhichclockError

    before = sys.stdout, sys.stderr
    try:
        code = app(prog_name="whichclock", standalone_mode=False)
    except WhichclockError as error:
        _report(error.message, error.hint)
        return error.code
    except _UsageFault as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # its message is the help itself
        else:
            _report(error.format_message(), _usage_hint(error))
        return ExitCode.AUTHOR
    except (KeyboardInterrupt, typer.Abort):
        _report("interrupted", "")
        return 130
    except SystemExit as end:
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        # Typer ends with 1 where the reader left, which would say that a case fails; it has wrapped the streams, too.
        sys.stdout, sys.stderr = before
        raise end.__context__ from None
    return code if isinstance(code, int) else 0


def _nobody_reads() -> int:
    """Return the code for a reader of our output that left (head, less): nobody saw the verdict, so it is neither a pass nor a fail."""
    _drop(sys.stdout)
    return 141


def _cannot_write(error: OSError) -> int:
    from snapshots.errors import ExitCode

    _drop(sys.stdout)
    _report(f"cannot write the output: {error.strerror or error}", "check the space where stdout goes")
    return ExitCode.UNJUDGED


def _drop(stream: TextIO) -> None:
    """Lead what is left in a stream's buffer nowhere: Python would try to write it once more at the end, and exit with 120."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _usage_hint(error: Any) -> str:
    context = getattr(error, "ctx", None)
    return f"see: {context.command_path} --help" if context is not None else "see: whichclock --help"


def _report(message: str, hint: str) -> None:
    from snapshots.console import Console, neutral_block

    console = Console()
    console.complain(f"{console.paint('error:', 'red', stream=sys.stderr)} {neutral_block(message)}")
    if hint:
        console.complain(f"{console.paint('hint:', 'blue', stream=sys.stderr)} {neutral_block(hint)}")


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module 'whichclock' has no attribute {name!r}")


if __name__ == "__main__":
    main()
