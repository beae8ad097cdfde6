"""What each clock did to a case, in words: its share of the change, and what would bring the pass back."""

from __future__ import annotations

from diff.attribution import REQUEST, Attribution
from diff.report import signed


def share_words(made: Attribution) -> str | None:
    """Return the shares of a case in which several clocks moved; ``None`` where one player has it all."""
    if made.shares is None:
        return f"share of the change: undetermined, {made.reason}"
    if len(made.shares) < 2:
        return None
    told = ", ".join(f"{clock} {signed(share)}" for clock, share in made.shares.items())
    return f"share of the change: {told}; {_deed(made)}"


def _deed(made: Attribution) -> str:
    shares = made.shares or {}
    doers = [clock for clock, share in shares.items() if share]
    if not made.change and not made.cures:
        return "they cancel each other out" if doers else "the case passes as often as before"
    # A share of zero may hide two effects that cancel out: the cures know better where there are some.
    if len(doers) == 1 and made.cures in ([], [(doers[0],)]):
        return f"{doers[0]} alone did it"
    return _cure(made.cures, list(shares)) if made.cures else "each had its part"


def _cure(cures: list[tuple[str, ...]], players: list[str]) -> str:
    """Return what the smallest sets say whose undoing brings the pass back."""
    names = [name for cure in cures for name in cure]
    if len(cures[0]) == 1:
        if len(names) == 1:
            return f"undoing {names[0]} brings the pass back"
        who = "" if len(names) == len(players) else f"{_and(names)} "
        return f"only {who}together: undoing {'either' if len(names) == 2 else 'any one'} brings the pass back"
    # With a control capture the request was never asked of the old model: what it does alone is not known.
    if len(cures) == 1 and len(players) == 2 and REQUEST not in players:
        return "each alone is enough: both must be undone"
    if len(cures) == 1:
        return f"{_and(names)} must {'both' if len(names) == 2 else 'all'} be undone"
    return f"to be undone together: {', or '.join(map(_and, cures))}"


def _and(names: list[str] | tuple[str, ...]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
