"""The cube read aloud: which edit, taken back, makes how many regressions vanish. The smallest sets of edits first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from diff.attribution import TOGETHER
from diff.classify import CLOCKS
from diff.compare import Comparison
from diff.edits import Key, Names, rows_of

_SHOWN = 4
_TRIED = 200
Edits = frozenset[str]


@dataclass(frozen=True, slots=True)
class Cure:
    """A set of edits, how many regressions vanish when it is undone, and how many cases that pass would fail."""

    edits: tuple[str, ...]
    cured: int
    broken: int


def remedy(comparison: Comparison) -> str | None:
    """Return the sentence, or ``None`` where there is no regression or nothing is known to cure one."""
    cures = cures_of(comparison)
    regressions = len(comparison.regressions)
    if not regressions or not cures:
        return None
    told = [_told(cure, regressions if i == 0 else None) for i, cure in enumerate(cures[:_SHOWN])]
    more = len(cures) - _SHOWN
    return f"Undo {'; undo '.join(told)}{f'; and {more} more ways' if more > 0 else ''}."


def _told(cure: Cure, of: int | None) -> str:
    which, count = " together with ".join(cure.edits), cure.cured
    broken = f" (but {cure.broken} passing case{'' if cure.broken == 1 else 's'} would fail)" if cure.broken else ""
    if of is None:
        return f"{which} and {count} {'does' if count == 1 else 'do'}{broken}"
    if of == 1:
        return f"{which} and the regression vanishes{broken}"
    if count == of:
        return f"{which} and all {of} regressions vanish{broken}"
    return f"{which} and {count} of {of} regressions vanish{'es' if count == 1 else ''}{broken}"


def cures_of(comparison: Comparison) -> list[Cure]:
    """Return the smallest sets of edits that cure regressions: small sets first, then those that cure most.

    What undoing one comes to is read off the corners that were computed, for every case that it touches.
    """
    if comparison.attributed is None:
        return []
    book = _Book(comparison)
    wanted: Counter[Edits] = Counter()
    for key in comparison.regressions:
        one = comparison.attributed.cases.get(key)
        wanted.update({book.edits(key, cure) for cure in (() if one is None else one.cures)})
    likely = sorted(wanted, key=lambda edits: (len(edits), -wanted[edits], sorted(edits)))[:_TRIED]
    made = [book.undo(edits) for edits in likely]
    return sorted((one for one in made if one.cured), key=lambda one: (len(one.edits), -one.cured, one.edits))


class _Book:
    """Knows which edits moved which clock of which case."""

    def __init__(self, comparison: Comparison) -> None:
        names = Names(comparison)
        self._cases = {} if comparison.attributed is None else comparison.attributed.cases
        self._regressions = frozenset(comparison.regressions)
        self._comparison = comparison
        self._edits: dict[Key, dict[str, Edits]] = {}
        self._touched: dict[str, dict[Key, None]] = {}
        self._ranks: dict[str, tuple[int, str]] = {}
        for key, rows in rows_of(comparison).items():
            one = self._cases.get(key)
            players = () if one is None else {player for undone in one.undone for player in undone}
            # Asked again under the old request, the answer is the recorded one: that edit alone is undone.
            made = {p: frozenset(names.of(rows, "request" if p == TOGETHER else p)) for p in players}
            self._edits[key] = made
            for player, edits in made.items():
                rank = CLOCKS.index("request" if player == TOGETHER else player)
                self._ranks.update({edit: (rank, edit) for edit in edits if edit not in self._ranks})
            for edit in {edit for edits in made.values() for edit in edits}:
                self._touched.setdefault(edit, {})[key] = None

    def edits(self, key: Key, players: Iterable[str]) -> Edits:
        """Return the edits that must be undone to set clocks of a case back."""
        return frozenset(edit for player in players for edit in self._edits[key][player])

    def undo(self, edits: Edits) -> Cure:
        """Return what undoing a set of edits comes to."""
        cured = broken = 0
        for key in dict.fromkeys(key for edit in edits for key in self._touched[edit]):
            back = frozenset(player for player, needed in self._edits[key].items() if needed <= edits)
            passed = self._cases[key].undone.get(back)
            cured += key in self._regressions and passed is True
            change = self._comparison.verdicts.get(key, ("", False))[0]
            broken += passed is False and change in ("newly_passing", "still_passing")
        return Cure(tuple(sorted(edits, key=self._ranks.__getitem__)), cured, broken)
