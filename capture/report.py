"""The summary of a capture for people: counts, then what has no answer, with the reason and the remedy."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator

from capture.result import ANSWERED, CaptureResult, Outcome, Row
from snapshots.console import Console, neutral, shorten

_STYLES = {Outcome.FAILED: "red", Outcome.MISSED: "red", Outcome.REFUSED: "yellow", Outcome.MOVED: "yellow"}
_SHOWN_ROWS = 50


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
    yield f"{', '.join(parts)}; {counts['calls']} call{'' if counts['calls'] == 1 else 's'}"


def _moved(result: CaptureResult) -> list[Row]:
    return [row for row in result.rows if row.outcome is Outcome.MOVED and not row.shared][:_SHOWN_ROWS]


def _which(row: Row) -> str:
    trial = f" trial {row.trial}" if row.trial else ""
    return f"{shorten(neutral(row.case_id), 60)}  {neutral(row.target)}{trial}"


def remedy(result: CaptureResult) -> str:
    """Return the hint that fits what has no answer, or an empty text."""
    if result.interrupted:
        return "run the same command again: what was answered is stored, and only the rest is asked"
    kinds = Counter(row.outcome for row in result.rows)
    if kinds[Outcome.MISSED]:
        missed = [row for row in result.rows if row.outcome is Outcome.MISSED]
        return f"record it with: {_command(missed[0], trials=1 + max(row.trial for row in missed))}"
    if kinds[Outcome.FAILED]:
        return "run the same command again: only what has no answer is asked"
    return ""


def _command(row: Row, *, trials: int) -> str:
    """Return the command that records a row; with several trials it names how many."""
    parts = ["whichclock", "capture", neutral(row.case_id), "--target", neutral(row.target)]
    return shlex.join([*parts, "--trials", str(trials)] if trials > 1 else parts)
