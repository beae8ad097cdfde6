"""Rows of a saved run that no clock has touched since: taken over as they stand, for pure functions of equal inputs give equal results.

A row is taken over if the very observation it judged is the current one and its file is sound, under the same expectation, and everything
that judged it has the same digest, on the same Python and packages and by the same version of this tool. Rows whose graders asked for
answers of their own are judged again: what they ask may depend on the configuration too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from golden.worker_process import Loaded
from grade.columns import column
from grade.loop import own_digest
from grade.plan import PlanRow, digests
from grade.worker import FACTS, FOR_PRICE
from snapshots import canonical, dialects, generic, instant, strict_json
from snapshots import snapshot as snapshot_file
from snapshots.errors import CorruptSnapshot, StoreError
from snapshots.store import Found, read_bytes

_JUDGED = frozenset({"pass", "fail"})
_COMPARED = (
    "request_hash",
    "answer_hash",
    "integrity",
    "expectation_digest",
    "status",
    "asked",
    "graders",
    "recorded_at",
)
Facts = dict[str, Any]


@dataclass(slots=True)
class Reuse:
    """A saved run to take rows from. ``taken`` counts those that were."""

    table: pa.Table
    taken: int = 0
    _places: dict[tuple[str, str, int], int] = field(default_factory=dict[tuple[str, str, int], int])
    _same_code: dict[tuple[int, str], bool] = field(default_factory=dict[tuple[int, str], bool])

    def __post_init__(self) -> None:
        seconds = self.table.column("recorded_at").cast(pa.int64())
        self.table = self.table.set_column(self.table.column_names.index("recorded_at"), "recorded_at", seconds)
        keys = zip(*(self.table.column(name).to_pylist() for name in ("case_id", "target", "trial")), strict=True)
        self._places = {key: place for place, key in enumerate(keys)}

    def facts(self, rows: list[PlanRow], loaded: Loaded) -> list[Facts | None]:
        """Return for each row of a plan what the saved run found, or ``None`` where it has to be judged."""
        places = [self._places.get((row.case_id, row.target, row.trial)) for row in rows]
        known = [place for place in places if place is not None]
        taken = self.table.select([*_COMPARED, *(n for n in _KEPT if n not in _COMPARED)]).take(
            column(pa.int64(), known)
        )
        old = iter(taken.to_pylist())
        return [
            None if place is None else self._of(row, next(old), loaded) for row, place in zip(rows, places, strict=True)
        ]

    def _of(self, row: PlanRow, old: Facts, loaded: Loaded) -> Facts | None:
        found = row.found
        if found is None or old["status"] not in _JUDGED or old["asked"] != "[]" or old["recorded_at"] is None:
            return None
        if old["expectation_digest"] != row.side.expectation_digest or old["request_hash"] != row.request_hash:
            return None
        second = old["recorded_at"]
        tail = f".{row.trial}.{instant.compact(second)}.{old['answer_hash'][:16]}.{old['integrity'][:8]}.json"
        if found.name != f"{old['request_hash'][2:]}{tail}" or not self._is_same_code(row, old["graders"], loaded):
            return None
        if not _is_sound(found, old["integrity"]):
            return None  # the worker reads it, and says what is wrong with it
        self.taken += 1
        facts = {name: old[name] for name in _KEPT}
        return {**facts, "status": None, "recorded_at": instant.extended(second)}

    def _is_same_code(self, row: PlanRow, graders: str, loaded: Loaded) -> bool:
        key = id(row.side), graders
        if key not in self._same_code:
            wanted = digests(row.side, loaded.digests)
            readers = [name for name in strict_json.loads(graders) if name.startswith("reader:")]
            wanted.update((name, own_digest(name, _READERS.get(name, -1))) for name in readers)
            self._same_code[key] = canonical.encode(wanted).decode() == graders
        return self._same_code[key]


def _is_sound(found: Found, integrity: str) -> bool:
    """Tell whether a file still is the one that was judged: its bytes are looked at, as by every reader."""
    try:
        return snapshot_file.integrity_of(read_bytes(found.path)) == integrity
    except (CorruptSnapshot, StoreError):
        return False


_KEPT = tuple(name for name in FACTS if name not in ("status", "error", *FOR_PRICE))
"""What a row's facts are in the table; a row that was judged has no error."""


_READERS = {
    **{f"reader:{name}": dialect.READER_NUMBER for name, dialect in dialects.DIALECTS.items()},
    f"reader:{generic.READER}": generic.READER_NUMBER,
    f"reader:{dialects.RAW_READER}": dialects.RAW_READER_NUMBER,
}


def may_reuse(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Tell whether rows of a run with metadata ``old`` may stand in a run with metadata ``new``."""
    return all(old.get(name) == new.get(name) for name in ("suite", "runtime", "tool", "prices"))
