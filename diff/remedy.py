"""The cube read aloud: which edit, taken back, makes how many regressions vanish. The smallest sets of edits first."""

from __future__ import annotations

from collections import Counter

from diff.attribution import TOGETHER
from diff.compare import Comparison
from diff.edits import Names, rows_of

Edits = tuple[str, ...]
_SHOWN = 4


def remedy(comparison: Comparison) -> str | None:
    """Return the sentence, or ``None`` where there is no regression or nothing is known to cure one."""
    cures = cures_of(comparison)
    regressions = len(comparison.regressions)
    if not regressions or not cures:
        return None
    lost = _losses(comparison)
    told = [
        _told(edits, count, regressions if i == 0 else None) + _lost(lost[edits])
        for i, (edits, count) in enumerate(cures[:_SHOWN])
    ]
    more = len(cures) - _SHOWN
    return f"Undo {'; undo '.join(told)}{f'; and {more} more ways' if more > 0 else ''}."


def _told(edits: Edits, count: int, of: int | None) -> str:
    which = " together with ".join(edits)
    if of is None:
        return f"{which} and {count} {'does' if count == 1 else 'do'}"
    if of == 1:
        return f"{which} and the regression vanishes"
    if count == of:
        return f"{which} and all {of} regressions vanish"
    return f"{which} and {count} of {of} regressions vanish{'es' if count == 1 else ''}"


def _lost(count: int) -> str:
    return f" (with {count} improvement{'' if count == 1 else 's'})" if count else ""


def _losses(comparison: Comparison) -> Counter[Edits]:
    """Return edit → how many cases that newly pass would fail again without it."""
    found: Counter[Edits] = Counter()
    if comparison.attributed is None:
        return found
    rows, names = rows_of(comparison), Names(comparison)
    for key, one in comparison.attributed.cases.items():
        for clock in one.losses:
            found[(names.of(rows[key], "request" if clock == TOGETHER else clock),)] += 1
    return found


def cures_of(comparison: Comparison) -> list[tuple[Edits, int]]:
    """Return each smallest set of edits with the number of regressions that it cures alone: small sets first, then the most cured."""
    if comparison.attributed is None:
        return []
    rows, names = rows_of(comparison), Names(comparison)
    found: Counter[Edits] = Counter()
    for key in comparison.regressions:
        one = comparison.attributed.cases.get(key)
        for undone in () if one is None else one.cures:
            # Asked again under the old request, the answer is the recorded one: that edit alone is undone.
            clocks = ("request" if clock == TOGETHER else clock for clock in undone)
            found[tuple(names.of(rows[key], clock) for clock in clocks)] += 1
    return sorted(found.items(), key=lambda item: (len(item[0]), -item[1], item[0]))
