"""What exactly moved where a judge or a program is behind it: the request that a grader put, the answer it got, the program's own files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from diff.compare import Comparison
from diff.row import DiffRow
from diff.side import Side
from snapshots.errors import CorruptSnapshot, StoreError
from snapshots.pointer import differing, escape, look_up
from snapshots.response import payload
from snapshots.snapshot import Snapshot

Change = dict[str, Any]


_SETS = ("expected", "allowed_tools", "graders")


def changes(old: Any, new: Any, pointers: Iterable[str]) -> list[Change]:
    """Return the parts that pointers name, ``before`` and ``after``; a part that a side does not have is left out."""
    return [_change(pointer, look_up(old, pointer), look_up(new, pointer)) for pointer in pointers]


def _change(pointer: str, before: tuple[bool, Any], after: tuple[bool, Any]) -> Change:
    return {
        "pointer": pointer,
        **({"before": before[1]} if before[0] else {}),
        **({"after": after[1]} if after[0] else {}),
    }


def expectation_changes(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> list[Change]:
    """Return in what two expectations differ; of a set, which has no order, also what was ``removed`` and ``added``."""
    before, after = old or {}, new or {}
    pointers = dict.fromkeys(_whole_set(pointer) for pointer in differing(before, after))
    return [_with_members(change) for change in changes(before, after, pointers)]


def _whole_set(pointer: str) -> str:
    """Return the pointer of the set that a place belongs to: sets are stored sorted, and their places say nothing."""
    name = pointer.split("/")[1]
    return f"/{name}" if name in _SETS else pointer


def _with_members(change: Change) -> Change:
    if change["pointer"].removeprefix("/") not in _SETS or "before" not in change or "after" not in change:
        return change
    before, after = change["before"], change["after"]
    removed, added = [one for one in before if one not in after], [one for one in after if one not in before]
    return {**change, "removed": removed, "added": added}


def answer_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Return in what two responses differ: the files of the program that gave them first, then the answers themselves."""
    before, after = payload(old), payload(new)
    told = changes(before, after, [p for p in differing(before, after) if not _per_call(p)])
    return [*_program_changes(old, new), *told]


def changed_files(told: Iterable[Change]) -> list[str]:
    """Return the names of the programs' files among changes."""
    return [change["file"] for change in told if "file" in change]


def judge_requests(row: DiffRow, comparison: Comparison) -> list[Change]:
    """Return in what the requests differ that graders and checks put on both sides, each under its name and target."""
    told: list[Change] = []
    for name, old, new in _asked(row, row.evidence.get("judge_requests", ())):
        before, after = (side.document(entry["request_hash"]) for side, entry in _sides(comparison, old, new))
        if before is not None and after is not None:
            part = _part(name, target_of(comparison.head, new))
            told += [{**change, "part": part} for change in changes(before, after, differing(before, after))]
    return told


def judge_answers(row: DiffRow, comparison: Comparison) -> list[Change]:
    """Return in what the answers differ that judges gave to the same requests."""
    told: list[Change] = []
    for name, old, new in _asked(row, row.evidence.get("judges", ())):
        before, after = (_observed(side, entry) for side, entry in _sides(comparison, old, new))
        if before is not None and after is not None:
            part = _part(name, after.meta.get("target"))
            told += [{**change, "part": part} for change in answer_changes(before.response, after.response)]
    return told


def judge_targets(row: DiffRow, comparison: Comparison) -> list[str]:
    """Return the names of the targets whose requests differ."""
    found = (target_of(comparison.head, new) for _, _, new in _asked(row, row.evidence.get("judge_requests", ())))
    return sorted({name for name in found if name is not None})


def target_of(side: Side, entry: Mapping[str, Any]) -> str | None:
    """Return the target that an answer was recorded for, as its file tells people."""
    found = _observed(side, entry)
    name = None if found is None else found.meta.get("target")
    return name if isinstance(name, str) else None


def _part(name: str, target: Any) -> str:
    return f"{name} to {target}" if target else name


def _asked(row: DiffRow, names: Iterable[str]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    old, new = ({one["name"]: one for one in (side or {}).get("asked") or ()} for side in (row.base, row.head))
    yield from ((name, old[name], new[name]) for name in names if name in old and name in new)


def _sides(comparison: Comparison, old: Any, new: Any) -> tuple[tuple[Side, Any], tuple[Side, Any]]:
    return (comparison.base, old), (comparison.head, new)


def _observed(side: Side, entry: Mapping[str, Any]) -> Snapshot | None:
    for store in side.stores:
        found = store.find(entry["request_hash"], entry["trial"], entry["integrity"])
        if found is not None:
            try:
                return store.read(found)
            except (CorruptSnapshot, StoreError):
                continue  # grade reports the damage
    return None


def _program_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    before, after = (side.get("program") or {} for side in (old, new))
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    sides = {"program": before}, {"program": after}
    return [{**change, "file": name} for name in names for change in changes(*sides, [f"/program/{escape(name)}"])]


def _per_call(pointer: str) -> bool:
    return pointer.startswith(("/id", "/created", "/usage", "/timings", "/system_fingerprint", "/service_tier"))
