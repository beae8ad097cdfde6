"""The summary of a capture for people: counts, then what has no answer, with the reason and the remedy."""

from __future__ import annotations

from collections.abc import Iterator

from capture.modes import Mode
from capture.result import ANSWERED, CaptureResult, Outcome, Row
from golden.remedy import record_command
from snapshots.console import Console, neutral, shorten

_STYLES = {Outcome.FAILED: "red", Outcome.MISSED: "red", Outcome.REFUSED: "yellow", Outcome.MOVED: "yellow"}
_SHOWN_ROWS = 50
_SHOWN_HINTS = 3
_NAMED_CASES = 5


def summary_lines(result: CaptureResult, console: Console) -> Iterator[str]:
    """Yield the lines of the summary, neutral and in colour where the console wants it."""
    counts = result.summary
    for row in _moved(result):
        yield f"{console.paint('moved', 'yellow')}  {_which(row)}  the model answers otherwise now"
    unanswered = [row for row in result.rows if row.outcome not in ANSWERED]
    for row in unanswered[:_SHOWN_ROWS]:
        label = console.paint(row.outcome.value, _STYLES[row.outcome])
        yield f"{label}  {_which(row)}  {neutral(row.error or '')}"
    if len(unanswered) > _SHOWN_ROWS:
        yield f"… and {len(unanswered) - _SHOWN_ROWS} more (--format json lists all)"
    parts = [f"{counts['planned']} planned"]
    for outcome in Outcome:
        if counts[outcome.value]:
            text = f"{counts[outcome.value]} {outcome.value}"
            parts.append(console.paint(text, _STYLES[outcome]) if outcome in _STYLES else text)
    cost = "" if not result.cost_usd else f", {result.cost_usd:.4f} US dollars"
    yield f"{', '.join(parts)}; {counts['calls']} call{'' if counts['calls'] == 1 else 's'}{cost}"


def _moved(result: CaptureResult) -> list[Row]:
    return [row for row in result.rows if row.outcome is Outcome.MOVED and not row.shared][:_SHOWN_ROWS]


def _which(row: Row) -> str:
    trial = f" trial {row.trial}" if row.trial else ""
    asked = f"  for {neutral(row.asked)}" if row.asked else ""
    return f"{shorten(neutral(row.case_id), 60)}  {neutral(row.target)}{trial}{asked}"


def remedies(result: CaptureResult, mode: Mode = Mode.AUTO) -> Iterator[str]:
    """Yield the hints that fit what has no answer, neutral."""
    resume = f" with --resume {result.log.name}" if mode is Mode.LIVE and result.log is not None else ""
    if result.interrupted:
        yield f"run the same command again{resume}: what was answered is stored, and only the rest is asked"
        return
    if result.left:
        rows = "1 row is" if result.left == 1 else f"{result.left} rows are"
        yield f"{rows} left by the budget: run the same command again{resume}, and only what has no answer is asked"
    missed = [row for row in result.rows if row.outcome is Outcome.MISSED and not row.hint]
    if missed:
        yield f"record {'it' if len(missed) == 1 else 'them'} with: {_command(missed)}"
    failed = [
        row
        for row in result.rows
        if row.outcome is Outcome.FAILED or (row.outcome in (Outcome.REFUSED, Outcome.MISSED) and row.hint)
    ]
    hints = list(dict.fromkeys(row.hint for row in failed if row.hint))
    yield from hints[:_SHOWN_HINTS]
    if len(hints) > _SHOWN_HINTS:
        yield f"… and {len(hints) - _SHOWN_HINTS} more like these"
    # A damaged file is never asked again, so a second run is no remedy for it; those rows have a hint of their own.
    if any(not row.hint for row in failed):
        yield "run the same command again: only what has no answer is asked"


def _command(missed: list[Row]) -> str:
    """Return the command that records what is missed; with several trials it names how many."""
    cases = list(dict.fromkeys(row.case_id for row in missed))
    # What a grader asks is recorded with the case that it judges, whatever target it goes to.
    targets = [] if any(row.asked for row in missed) else list(dict.fromkeys(row.target for row in missed))
    trials = 1 + max(row.trial for row in missed)
    return record_command(cases if len(cases) <= _NAMED_CASES else (), targets, trials=trials)
