"""What each clock did to a case, in words: its share of the change, and what would bring the pass back."""

from __future__ import annotations

from diff.attribution import Attribution
from diff.deed import Kind, deed
from diff.edits import signed

_PLAIN = {
    Kind.NOTHING: "the case passes as often as before",
    Kind.CANCELLED: "they cancel each other out",
    Kind.EACH: "each alone is enough: both must be undone",
    Kind.PARTS: "each had its part",
    Kind.UNDETERMINED: "undetermined",
}


def share_words(made: Attribution) -> str | None:
    """Return the shares of a case in which several clocks moved; ``None`` where one player has it all."""
    if made.shares is None:
        return f"share of the change: undetermined, {made.reason}"
    if len(made.shares) < 2:
        return None
    told = ", ".join(f"{clock} {signed(share)}" for clock, share in made.shares.items())
    return f"share of the change: {told}; {_words(made)}"


def _words(made: Attribution) -> str:
    found = deed(made)
    names, players = found.names, made.shares or {}
    if found.kind is Kind.ALONE:
        return f"{names[0]} alone did it"
    if found.kind is Kind.ONE:
        return f"undoing {names[0]} brings the pass back"
    if found.kind is Kind.TOGETHER:
        who = "" if len(names) == len(players) else f"{_and(names)} "
        return f"only {who}together: undoing {'either' if len(names) == 2 else 'any one'} brings the pass back"
    if found.kind is Kind.ALL:
        return f"{_and(names)} must {'both' if len(names) == 2 else 'all'} be undone"
    if found.kind is Kind.SETS:
        return f"to be undone together: {', or '.join(map(_and, found.clocks))}"
    return _PLAIN[found.kind]


def _and(names: list[str] | tuple[str, ...]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
