"""The account of a case for a terminal. Whatever models and authors wrote is neutral and short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from diff.why import Trials, Why
from diff.why_changes import Change
from diff.why_clocks import Clock
from snapshots.console import Console, json_text, neutral, shorten

_LONGEST = 400
_LONGEST_EVIDENCE = 120
_MOST_CHANGES = 8
_MOST_LINES = 40
_STATES = {"moved": ("moved  ", "red"), "still": ("still  ", ""), "unknown": ("unknown", "yellow")}


def lines(account: Why, console: Console, base: str, head: str) -> list[str]:
    """Return the account for a terminal."""
    what = f"{account.verdict_change.replace('_', ' ')}, {account.move}"
    what += f" ({account.reason})" if account.reason else ""
    found = f"   {_text('; '.join(account.findings))}" if account.findings else ""
    return [
        console.paint(f"{_text(account.case_id)} [{_text(account.target)} #{account.trial}]: {_text(what)}", "bold"),
        f"  {_text(base)} → {_text(head)}{found}",
        *_evidence(account.evidence),
        *_trials(account),
        *([f"  {_text(account.shares)}"] if account.shares else []),
        *(line for clock in account.clocks for line in _clock(clock, console)),
    ]


def _evidence(evidence: Sequence[dict[str, Any]]) -> list[str]:
    told = [
        f"      {'+' if one['change'] == 'appeared' else '-'}{_text(one['code'])} "
        f"({_text(one['source'])}: {shorten(neutral(json_text(one['value'])), _LONGEST_EVIDENCE)})"
        for one in evidence
    ]
    return _at_most(told, _MOST_CHANGES, "      ", "finding")


def _trials(account: Why) -> Iterator[str]:
    """Yield the counts of a case with several trials, and which of them is shown."""
    if max(account.base_trials.trials, account.head_trials.trials) > 1:
        base, head = (status or "none" for status in account.status)
        counts = f"{_count(account.base_trials)} → {_count(account.head_trials)} trials pass"
        yield f"  {counts}; shown is trial {account.trial}: {base if base == head else f'{base} → {head}'}"


def _count(trials: Trials) -> str:
    unjudged = f" ({trials.unjudged} not judged)" if trials.unjudged else ""
    return f"{trials.passed} of {trials.trials}{unjudged}" if trials.trials else "none"


def _clock(clock: Clock, console: Console) -> Iterator[str]:
    word, style = _STATES[clock.state]
    by = f"   {_text(clock.moved_by)}" if clock.moved_by else ""
    yield f"  {clock.clock:<12} {console.paint(word, style) if style else word}  {_hashes(clock)}{by}"
    if clock.note:
        yield f"      {_text(clock.note)}"
    for change in clock.changes[:_MOST_CHANGES]:
        yield from _change(change, is_digest=clock.clock == "grader" and "part" not in change)
    if len(clock.changes) > _MOST_CHANGES:
        yield f"      … and {len(clock.changes) - _MOST_CHANGES} more changes (--format json has all)"


def _change(change: Change, *, is_digest: bool) -> list[str]:
    part = f"{change['part']} " if "part" in change else ""
    name = f"      {_text(part + (change['pointer'] or '/'))}"
    if change.get("lines"):
        code = [f"        {_text(line)}" for line in change["lines"]]
        return [name, *_at_most(code, _MOST_LINES, "        ", "line")]
    if is_digest:  # of code that is not at hand
        return [f"{name}  {_short(change.get('before'))} → {_short(change.get('after'))}"]
    if "removed" in change:
        members = [f"        - {_value(one)}" for one in change["removed"]]
        members += [f"        + {_value(one)}" for one in change["added"]]
        return [name, *_at_most(members, _MOST_LINES, "        ", "member")]
    marks = {"before": ("-", "absent before"), "after": ("+", "absent now")}
    absent = "".join(f"   {word}" for side, (_, word) in marks.items() if side not in change)
    values = [f"        {mark} {_value(change[side])}" for side, (mark, _) in marks.items() if side in change]
    return [f"{name}{absent}", *values]


def _at_most(told: list[str], most: int, indent: str, noun: str) -> list[str]:
    left = len(told) - most
    return told if left <= 0 else [*told[:most], f"{indent}… and {left} more {noun}{'s' if left > 1 else ''}"]


def _hashes(clock: Clock) -> str:
    """Return both hashes with an arrow between them, or the one that they have in common."""
    if clock.before != clock.after:
        if clock.state == "still":
            return _short(clock.before or clock.after)
        return f"{_short(clock.before)} → {_short(clock.after)}"
    return f"{_short(clock.before)} on both sides" if clock.state == "moved" else _short(clock.before)


def _short(text: str | None) -> str:
    return "none" if text is None else neutral(text[:12])


def _value(value: Any) -> str:
    return _text(value if isinstance(value, str) else json_text(value))


def _text(text: str) -> str:
    return shorten(neutral(text), _LONGEST)
