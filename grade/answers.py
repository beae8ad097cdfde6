"""The recorded answers to the requests of one row's graders and checks, or why they are not there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from golden.asking import Answers, State, interview
from golden.loader import Grader
from snapshots.envelope import Envelope
from snapshots.errors import CorruptSnapshot, GraderFault, StoreError


class Asked(Answers, Protocol):
    """The answers to the requests of one row's graders, and what was looked up among them."""

    def observed(self) -> list[dict[str, Any]]: ...

    def type_of(self, target: str) -> str | None: ...


class NoAnswer(Exception):
    """What a grader asks for is not there. ``status`` is the row's."""

    def __init__(self, status: str, what: str) -> None:
        super().__init__(what)
        self.status = status


def answers_of(
    grader: Grader, pair: Callable[[], tuple[Any, Any]], closed: Callable[..., Any], asked: Asked | None
) -> dict[str, Envelope]:
    """Return the recorded answers to a grader's own requests, by its names.

    Raises:
        NoAnswer: one is not there, or cannot be read.
        GraderFault: the grader declares no sound requests, or cannot read an answer.
    """
    if asked is None:
        raise GraderFault("it asks for answers, and there is no store to find them in")
    held = interview(grader, pair, closed, asked)
    for put in held.put:
        if isinstance(put.error, CorruptSnapshot | StoreError):
            raise NoAnswer("corrupt_snapshot", put.error.message)
        if put.error is not None:
            raise NoAnswer("unreadable_snapshot", put.error.message)
    if lacking := held.lacking(State.UNANSWERED):
        lacks = ", ".join(f"{d.name!r} to target {d.target}" for d in lacking)
        raise NoAnswer("missing_snapshot", f"no answer is recorded for its request {lacks}")
    if lacking := held.lacking(State.UNUSABLE):
        lacks = ", ".join(repr(d.name) for d in lacking)
        raise GraderFault(
            f"the recorded answer to its request {lacks} cannot be read by the grader as it is now; "
            "a changed request needs a capture"
        )
    return held.answers
