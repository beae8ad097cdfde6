"""The one tree of errors. Each says whose problem it is and what to do.

    WhichclockError                 anything this tool reports; ``hint`` holds the remedy
    |
    +-- AuthorError        code 2   the suite's author: ends before any row exists
    |   +-- UsageError              the command line asks for what cannot be
    |   +-- ConfigError             whichclock.toml, a case file or a schema is wrong at a place
    |   +-- JsonError               a JSON text or value outside the rules, at a JSON pointer
    |   +-- RefError                a REF names no run
    |
    +-- OperatorError      code 3   the harness, the operator or a grader: something could not be judged or asked
        +-- StoreError              the disk or the store's folder failed
        +-- CorruptSnapshot         a file is not what its name or its digest says
        +-- UnreadableSnapshot      a sound file that today's reader cannot read
        +-- CallError               a call got no answer that may be stored
        +-- GraderFault             a grader raised, touched the world, or ran too long

The core raises these and never prints. The front door turns them into ``error:`` and ``hint:`` lines and
the exit code of the class.
"""

from __future__ import annotations

import enum


class ExitCode(enum.IntEnum):
    """Exit codes of every command."""

    OK = 0
    """Nobody's problem: everything passes, nothing regressed, every planned call has an answer."""
    FAILED = 1
    """The change under test: a case or a gate fails, or a case regressed."""
    AUTHOR = 2
    """The suite's author: configuration, usage, zero cases or an unresolvable REF."""
    UNJUDGED = 3
    """Harness, operator or grader: something could not be judged or asked."""


class WhichclockError(Exception):
    """Base of all errors that are reported to people. ``hint`` is the remedy, ``code`` the exit code."""

    code: ExitCode = ExitCode.UNJUDGED

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class AuthorError(WhichclockError):
    """The suite's author has to change something; no row was made."""

    code = ExitCode.AUTHOR


class UsageError(AuthorError):
    """The command line asks for something that cannot be done."""


class ConfigError(AuthorError):
    """A configuration, case or schema file is wrong. The message names file, line and JSON pointer."""


class JsonError(AuthorError):
    """A JSON text or value is outside the rules. ``pointer`` is the JSON pointer of the offender, or ``None``."""

    def __init__(self, message: str, *, pointer: str | None = None, hint: str = "") -> None:
        super().__init__(message if pointer is None else f"{message} at {pointer or 'the top'}", hint=hint)
        self.reason = message
        self.pointer = pointer


class RefError(AuthorError):
    """A REF names no saved run, no file and no revision."""


class OperatorError(WhichclockError):
    """Something could not be judged or asked; the suite itself may be fine."""

    code = ExitCode.UNJUDGED


class StoreError(OperatorError):
    """The disk, or the folder of the store, failed."""


class CorruptSnapshot(OperatorError):
    """A snapshot file is not what its name, its digest or its shape says. Nothing repairs or deletes it."""


class UnreadableSnapshot(OperatorError):
    """A sound snapshot holds an answer that today's reader cannot read. ``reader`` and ``pointer`` say where."""

    def __init__(self, message: str, *, reader: str, pointer: str, hint: str = "") -> None:
        super().__init__(f"{reader}: {message} at {pointer or 'the top'}", hint=hint)
        self.reader = reader
        self.pointer = pointer


class CallError(OperatorError):
    """A call ended without an answer that may be stored."""


class GraderFault(OperatorError):
    """A grader raised, returned the wrong thing, touched the world, or needed too much."""
