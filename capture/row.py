"""From how an identity ended to the rows that tell it."""

from __future__ import annotations

from capture.plan import Wanted
from capture.result import Ended, Row


def row_of(wanted: Wanted, ended: Ended, *, shared: bool) -> Row:
    """Return the row of a planned call.

    Args:
        wanted: what was to be answered.
        ended: how its identity ended.
        shared: whether an earlier row has the same identity.
    """
    planned = wanted.planned
    return Row(
        case_id=planned.case.id,
        target=planned.target.name,
        trial=planned.trial,
        request_hash=wanted.rendered.request_hash,
        answer_hash=ended.answer_hash,
        outcome=ended.outcome,
        shared=shared,
        error=ended.error,
        hint=ended.hint,
        is_left=ended.is_left,
        asked=wanted.asked,
        is_unasked=ended.is_unasked,
        is_final=ended.is_final,
        unreadable=ended.unreadable,
        label=ended.label,
    )
