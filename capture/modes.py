"""The four modes, and what each makes of the store before anything is asked."""

from __future__ import annotations

import enum
import os
import shlex
from dataclasses import dataclass

from capture.result import Ended, Outcome
from snapshots.console import neutral
from snapshots.errors import CorruptSnapshot, StoreError
from snapshots.lookup import reported_model
from snapshots.snapshot import Snapshot
from snapshots.store import Found, Store

NOT_RECORDED = "nothing is recorded for this request"


class Mode(enum.StrEnum):
    """Who answers."""

    AUTO = "auto"
    """The store; the target where nothing is stored."""
    REPLAY = "replay"
    """The store alone: offline, no client is ever made."""
    LIVE = "live"
    """The target, always; an answer that differs from the current one is stored beside it."""
    OFF = "off"
    """The target, always; nothing is stored."""


@dataclass(frozen=True, slots=True)
class Current:
    """What the store holds for an identity before the run asks: enough to tell whether an answer moved."""

    found: Found
    answer_hash: str
    answer_rule: str
    model: str | None
    volatile: list[str] | None = None
    program: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Asking:
    """The decision to ask. ``current`` is what the answer will be compared with."""

    current: Current | None


def decide(
    store: Store, request_hash: str, trial: int, mode: Mode, *, resumed: bool = False, unusable: bool = False
) -> Ended | Asking:
    """Return how the store alone ends an identity, or that it has to be asked.

    Args:
        store: where recorded answers are.
        request_hash: 64 hex digits.
        trial: 0 for the plain one.
        mode: who answers.
        resumed: an earlier run has asked this identity; then the store answers in every mode.
        unusable: the grader that asks cannot read the recorded answer as it is now; ``auto`` asks again.
    """
    found = None
    try:
        found = store.current(request_hash, trial)
        snapshot = None if found is None else store.read(found)
    except (CorruptSnapshot, StoreError) as error:
        # Never a live call in its place: that would hide the damage, and store a second truth beside it.
        return damaged(error, found)
    if snapshot is not None and found is not None:
        if unusable and mode in (Mode.AUTO, Mode.REPLAY):
            return Asking(_current(found, snapshot, mode)) if mode is Mode.AUTO else _not_readable()
        if resumed or mode in (Mode.AUTO, Mode.REPLAY):
            return Ended(Outcome.REPLAYED, snapshot.answer_hash, program=snapshot.response.get("program"))
        return Asking(_current(found, snapshot, mode))
    if mode is Mode.REPLAY:
        return Ended(Outcome.MISSED, error=NOT_RECORDED)
    return Asking(None)


def _not_readable() -> Ended:
    return Ended(
        Outcome.FAILED,
        error="the recorded answer cannot be read by the grader as it is now",
        hint="a changed judge prompt needs a capture: run it without --judges replay",
    )


def _current(found: Found, snapshot: Snapshot, mode: Mode) -> Current:
    model = reported_model(snapshot) if mode is not Mode.OFF else None
    response = snapshot.response
    beside = response.get("volatile"), response.get("program")
    return Current(found, snapshot.answer_hash, snapshot.answer_rule, model, *beside)


def damaged(error: CorruptSnapshot | StoreError, found: Found | None) -> Ended:
    """Return how an identity ends whose file cannot be read: failed, and with what brings it back, for it is never asked."""
    hint = error.hint
    if isinstance(error, CorruptSnapshot) and found is not None and hint.startswith("restore"):
        hint = f"restore it from git or a copy, e.g. git checkout -- {neutral(shlex.quote(_from_here(found.path)))}"
    return Ended(Outcome.FAILED, error=error.message, hint=hint)


def _from_here(path: str) -> str:
    """Return a path as it is typed in the working directory, where it lies below."""
    here = os.path.join(os.getcwd(), "")
    return path.removeprefix(here)
