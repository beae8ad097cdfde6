"""Control captures: what the model of today says to the old request, so that an edited prompt is told from a model that moved.

The capture log of a control names each old request that was asked again; its answer is the current one in the store.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from snapshots.errors import CorruptSnapshot, StoreError
from snapshots.snapshot import Snapshot
from snapshots.store import Store

_ANSWERED = frozenset({"recorded", "replayed", "unchanged", "moved", "relabelled"})


class Controls:
    """The control captures of some stores."""

    def __init__(self, stores: list[Store]) -> None:
        self._stores = stores
        self._asked: dict[tuple[str, int], tuple[Store, str]] | None = None

    def __bool__(self) -> bool:
        """Tell whether anything was asked again."""
        return bool(self._known())

    def _known(self) -> dict[tuple[str, int], tuple[Store, str]]:
        if self._asked is None:
            self._asked = {}
            for store in self._stores:
                self._asked.update(_asked_again(store))
        return self._asked

    def observation(self, row: dict[str, Any]) -> Snapshot | None:
        """Return today's answer to the request that a row judged, or ``None`` where no control asked it after that answer."""
        found = self._known().get((row["request_hash"], row["trial"]))
        if found is None or row["recorded_at"] is None or found[1] < row["recorded_at"]:
            return None
        try:
            current = found[0].current(row["request_hash"], row["trial"])
            return None if current is None else found[0].read(current)
        except (CorruptSnapshot, StoreError):
            return None  # grade reports the damage; without a sound answer there is no control


def _asked_again(store: Store) -> dict[tuple[str, int], tuple[Store, str]]:
    found: dict[tuple[str, int], tuple[Store, str]] = {}
    folder = store.root / "log"
    for path in sorted(folder.glob("*.jsonl")) if folder.is_dir() else ():
        lines = _lines(path)
        if not lines or "control" not in lines[0]:
            continue
        started = str(lines[0].get("started_at", ""))
        for line in lines[1:]:
            if line.get("outcome") in _ANSWERED:
                found[line.get("request_hash", ""), line.get("trial", 0)] = store, started
    return found


def _lines(path: Path) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    try:
        for line in path.read_bytes().split(b"\n")[:-1]:
            value = orjson.loads(line)
            if isinstance(value, dict):
                lines.append(value)
    except (OSError, orjson.JSONDecodeError):
        return lines  # a log that was cut short tells what it tells
    return lines
