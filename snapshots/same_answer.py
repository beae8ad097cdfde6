"""Whether two answers are the same: under one rule, the newest one, for both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snapshots import dialects
from snapshots.errors import JsonError

Body = tuple[Mapping[str, Any], Mapping[str, Any]]
"""A request document and the response to it."""


def same_answer(old: Body, new: Body) -> bool | None:
    """Return whether two answers are equal, or ``None`` where one has no form under the rule: an unknown is no move.

    What the newer answer calls volatile is left out of both. For answers that were hashed by one rule, under equal ``volatile``,
    comparing the hashes is enough; this is for those that were not.
    """
    old = old[0], _as_volatile_as(new[1], old[1])
    rules = {dialects.rule_for(*old), dialects.rule_for(*new)}
    if len(rules) > 1:
        return False  # two dialects, two answers
    rule = rules.pop()
    try:
        return dialects.answer_hash(rule, old[1]) == dialects.answer_hash(rule, new[1])
    except JsonError:
        return None


def _as_volatile_as(newer: Mapping[str, Any], older: Mapping[str, Any]) -> Mapping[str, Any]:
    kept = {name: value for name, value in older.items() if name != "volatile"}
    return {**kept, "volatile": newer["volatile"]} if "volatile" in newer else kept
