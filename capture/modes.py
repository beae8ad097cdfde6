"""The four modes, and what each makes of the store before anything is asked."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from capture.result import Ended, Outcome
from snapshots.errors import CorruptSnapshot, StoreError
from snapshots.lookup import reported_model
from snapshots.snapshot import Snapshot
from snapshots.store import Found, Store


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


@dataclass(frozen=True, slots=True)
class Asking:
    """The decision to ask. ``current`` is what the answer will be compared with."""

    current: Current | None


def decide(store: Store, request_hash: str, trial: int, mode: Mode, *, resumed: bool = False) -> Ended | Asking:
    """Return how the store alone ends an identity, or that it has to be asked.

    Args:
        store: where recorded answers are.
        request_hash: 64 hex digits.
        trial: 0 for the plain one.
        mode: who answers.
        resumed: an earlier run has asked this identity; then the store answers in every mode.
    """
    try:
        found = store.current(request_hash, trial)
        snapshot = None if found is None else store.read(found)
    except (CorruptSnapshot, StoreError) as error:
        # Never a live call in its place: that would hide the damage, and store a second truth beside it.
        return Ended(Outcome.FAILED, error=error.message)
    if snapshot is not None and found is not None:
        if resumed or mode in (Mode.AUTO, Mode.REPLAY):
            return Ended(Outcome.REPLAYED, snapshot.answer_hash)
        return Asking(_current(found, snapshot, mode))
    if mode is Mode.REPLAY:
        return Ended(Outcome.MISSED, error="nothing is recorded for this request")
    return Asking(None)


def _current(found: Found, snapshot: Snapshot, mode: Mode) -> Current:
    model = reported_model(snapshot) if mode is Mode.LIVE else None
    return Current(found, snapshot.answer_hash, snapshot.answer_rule, model)
