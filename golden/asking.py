"""What a grader asks for: its ``asks`` is called round by round until it wants nothing more that is not answered.

Pure, and ignorant of stores and networks: both capture, which asks, and grade, which only reads, run the same rounds here.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from golden.loader import Grader
from snapshots import strict_json
from snapshots.envelope import Envelope
from snapshots.errors import CorruptSnapshot, GraderFault, JsonError, OperatorError, StoreError, UnreadableSnapshot
from snapshots.frozen import thaw

ROUNDS = 3
_MOST = 64
_SHAPE = '{"target": NAME, "request": {…}}'


@dataclass(frozen=True, slots=True)
class Declared:
    """One request that a grader declares. ``name`` is its own name for it; ``salt`` is the grader's."""

    grader: str
    name: str
    target: str
    request: Mapping[str, Any]
    salt: str | None

    @property
    def label(self) -> str:
        """Return the name that tells it from the requests of other graders."""
        return f"{self.grader}/{self.name}"


class Answers(Protocol):
    """Where the answers to declared requests are."""

    def envelope(self, declared: Declared) -> Envelope | None:
        """Return the answer, or ``None`` where there is none."""
        ...


class State(enum.StrEnum):
    """What there is for a request."""

    ANSWERED = "answered"
    UNANSWERED = "unanswered"
    UNUSABLE = "unusable"
    """An answer is recorded, and the grader as it is today cannot read it."""


@dataclass(frozen=True, slots=True)
class Put:
    """A request in its round, from 0, and what there is for it. ``error`` says why a recorded answer cannot be read."""

    declared: Declared
    round: int
    state: State
    error: OperatorError | None = None


@dataclass(slots=True)
class Interview:
    """What became of a grader's requests: the answers by its own names, and all that was put, up to the first round with a gap."""

    answers: dict[str, Envelope] = field(default_factory=dict[str, Envelope])
    put: list[Put] = field(default_factory=list[Put])

    @property
    def is_complete(self) -> bool:
        """Tell whether everything is answered."""
        return all(one.state is State.ANSWERED for one in self.put)

    def lacking(self, state: State) -> list[Declared]:
        """Return the requests of one state."""
        return [one.declared for one in self.put if one.state is state]


Call = Callable[[Callable[[], Any]], Any]
"""Runs foreign code with the world closed. Raises ``GraderFault`` for whatever it does wrong."""


def interview(grader: Grader, arguments: Callable[[], tuple[Any, Any]], call: Call, answers: Answers) -> Interview:
    """Run the rounds of a grader's ``asks`` over the answers that there are.

    Args:
        grader: a grader that asks.
        arguments: makes the envelope and the case view of one call.
        call: runs foreign code.
        answers: where answers are looked up.

    Raises:
        GraderFault: ``asks`` raised, touched the world, or returned something else than requests.
    """
    held = Interview()
    for number in range(ROUNDS + 1):
        new = [d for d in _declared(grader, arguments, call, held.answers) if d.name not in held.answers]
        if new and number == ROUNDS:
            raise GraderFault(f"asks wants more than {ROUNDS} rounds of requests")
        held.put += [_put(grader, declared, number, call, answers, held) for declared in new]
        if not new or not held.is_complete:
            break
    return held


def _put(grader: Grader, declared: Declared, number: int, call: Call, answers: Answers, held: Interview) -> Put:
    try:
        envelope = answers.envelope(declared)
    except (CorruptSnapshot, StoreError, UnreadableSnapshot) as error:
        return Put(declared, number, State.UNUSABLE, error)
    if envelope is None:
        return Put(declared, number, State.UNANSWERED)
    if not _is_usable(grader, envelope, call):
        return Put(declared, number, State.UNUSABLE)
    held.answers[declared.name] = envelope
    return Put(declared, number, State.ANSWERED)


def _is_usable(grader: Grader, envelope: Envelope, call: Call) -> bool:
    usable = None if grader.asks is None else grader.asks.usable
    if usable is None:
        return True
    try:
        return call(lambda: bool(usable(envelope)))
    except GraderFault:
        return False  # a parser that raises cannot read it


def _declared(
    grader: Grader, arguments: Callable[[], tuple[Any, Any]], call: Call, answers: dict[str, Envelope]
) -> list[Declared]:
    asks = grader.asks
    if asks is None:
        return []
    given = (*arguments(), dict(answers))[: grader.asks_takes]
    returned = call(lambda: _plain(asks.function(*given)))
    return [_one(grader, name, value, asks.salt) for name, value in sorted(returned.items())]


def _plain(returned: Any) -> dict[str, Any]:
    """Return what ``asks`` gave as plain JSON values; objects of foreign classes are asked for their parts in here."""
    if not isinstance(returned, dict):
        what = "None" if returned is None else type(returned).__name__
        raise GraderFault(f"asks returned {what}, not a mapping of names to {_SHAPE}; {{}} asks for nothing")
    if len(returned) > _MOST:
        raise GraderFault(f"asks returned {len(returned)} requests, more than {_MOST}")
    try:
        plain = thaw(returned)
        strict_json.check(plain)
    except (JsonError, RecursionError) as error:
        raise GraderFault(f"what asks returned has no JSON form: {error}") from None
    return plain


def _one(grader: Grader, name: str, value: Any, salt: str | None) -> Declared:
    sound = (
        isinstance(value, dict)
        and value.keys() == {"target", "request"}
        and isinstance(value["target"], str)
        and isinstance(value["request"], dict)
    )
    if not sound or not name:
        raise GraderFault(f"asks returned {str(value)[:80]!r} for {name[:60]!r}, not {_SHAPE}")
    return Declared(grader.name, name, value["target"], value["request"], salt)
