"""What each clock did to a case in which several moved: one reading of its cube, which every report puts into its own words."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from diff.attribution import REQUEST, Attribution


class Kind(enum.Enum):
    """What the clocks of a case did."""

    UNDETERMINED = "what they did cannot be computed"
    NOTHING = "nothing: the case passes as often as before, and no clock has a share"
    CANCELLED = "they cancel each other out"
    ALONE = "one clock has the whole change, and undoing it brings the pass back where one was lost"
    TOGETHER = "undoing any one of several brings the pass back: only together do they break the case"
    ONE = "undoing one brings the pass back, though others have shares too"
    EACH = "both must be undone: each alone is enough to break the case"
    ALL = "several must be undone, and what each does alone is not known"
    SETS = "one of several sets must be undone"
    PARTS = "each had its part in a change that turned no pass into a fail"


@dataclass(frozen=True, slots=True)
class Deed:
    """A kind with the clocks that it is said of, set by set."""

    kind: Kind
    clocks: tuple[tuple[str, ...], ...] = ()

    @property
    def names(self) -> list[str]:
        """Return the clocks of all sets."""
        return [name for one in self.clocks for name in one]


def deed(made: Attribution) -> Deed:
    """Return what each clock did to a case."""
    if made.shares is None:
        return Deed(Kind.UNDETERMINED)
    doers = [clock for clock, share in made.shares.items() if share]
    cures = made.cures
    if not made.change and not cures:
        return Deed(Kind.CANCELLED if doers else Kind.NOTHING, (tuple(doers),))
    # A share of zero may hide two effects that cancel each other out: the cures know better where there are some.
    if len(doers) == 1 and cures in ([], [(doers[0],)]):
        return Deed(Kind.ALONE, ((doers[0],),))
    if not cures:
        return Deed(Kind.PARTS, (tuple(doers),))
    if len(cures[0]) == 1:
        return Deed(Kind.ONE if len(cures) == 1 else Kind.TOGETHER, tuple(cures))
    if len(cures) > 1:
        return Deed(Kind.SETS, tuple(cures))
    # With a control capture the request was never asked of the old model: what it does alone is not known.
    known = len(made.shares) == len(cures[0]) == 2 and REQUEST not in made.shares
    return Deed(Kind.EACH if known else Kind.ALL, tuple(cures))
