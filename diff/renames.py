"""Renamed cases: a removed and an added case × target whose trials agree in every hash."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

Row = Mapping[str, Any]
Case = tuple[str, str]


def renames(removed: Iterable[Row], added: Iterable[Row]) -> dict[Case, Case]:
    """Return new (case_id, target) → old (case_id, target) for the cases that only changed their id.

    Two are one case when target, trials, request hashes and answers are equal, and the expectations too. Several candidates are paired in
    the order of their ids.
    """
    old, new = _by_identity(removed), _by_identity(added)
    pairs: dict[Case, Case] = {}
    for identity in sorted(new.keys() & old.keys()):
        pairs.update(zip(sorted(new[identity]), sorted(old[identity]), strict=False))
    return pairs


def _by_identity(rows: Iterable[Row]) -> dict[Any, list[Case]]:
    trials: dict[Case, list[Any]] = defaultdict(list)
    for row in rows:
        trials[row["case_id"], row["target"]].append(
            (row["trial"], row["request_hash"], row["answer_hash"] or "", row["expectation_digest"])
        )
    found: dict[Any, list[Case]] = defaultdict(list)
    for (case_id, target), identity in trials.items():
        found[target, tuple(sorted(identity))].append((case_id, target))
    return found
