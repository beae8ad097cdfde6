"""The summary of a capture for people: counts, then what has no answer, with the reason and the remedy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from capture.ceiling import dollars
from capture.modes import Mode
from capture.result import ANSWERED, CaptureResult, Outcome, Row
from golden.remedy import record_command
from snapshots.console import Console, neutral, shorten

_STYLES = {
    Outcome.FAILED: "red",
    Outcome.MISSED: "red",
    Outcome.REFUSED: "yellow",
    Outcome.MOVED: "yellow",
    Outcome.RELABELLED: "yellow",
}
_SHOWN_ROWS = 50
_SHOWN_HINTS = 3
_NAMED_CASES = 5
_LONGEST = 400
_SAME = "the same answer"


def summary_lines(result: CaptureResult, console: Console) -> Iterator[str]:
    """Yield the lines of the summary, neutral and in colour where the console wants it."""
    counts = result.summary
    yield from _moved(result, console)
    yield from _relabelled(result, console)
    unanswered = [row for row in result.rows if row.outcome not in ANSWERED]
    asked = [row for row in unanswered if not (row.is_left or row.is_unasked)]
    for row in asked[:_SHOWN_ROWS]:
        label = console.paint(row.outcome.value, _STYLES[row.outcome])
        yield f"{label}  {_which(row)}  {neutral(row.error or '')}"
    yield from _more(len(asked))
    yield from _never_asked([row for row in unanswered if row.is_left or row.is_unasked], console)
    parts = [f"{counts['planned']} planned"]
    for outcome in Outcome:
        if counts[outcome.value]:
            text = f"{counts[outcome.value]} {outcome.value}"
            parts.append(console.paint(text, _STYLES[outcome]) if outcome in _STYLES else text)
    cost = "" if not result.cost_usd else f", {result.cost_usd:.4f} US dollars"
    yield f"{', '.join(parts)}; {counts['calls']} call{'' if counts['calls'] == 1 else 's'}{cost}"


def _never_asked(rows: list[Row], console: Console) -> Iterator[str]:
    """Yield one line for all rows that the end of a run or of its budget left for one reason: none says more than another."""
    counts = Counter((row.outcome, row.error or "") for row in rows)
    for (outcome, error), count in list(counts.items())[:_SHOWN_ROWS]:
        first = next(row for row in rows if (row.outcome, row.error or "") == (outcome, error))
        which = _which(first) if count == 1 else f"{count} rows"
        yield f"{console.paint(outcome.value, _STYLES[outcome])}  {which}  {neutral(error)}"


def _moved(result: CaptureResult, console: Console) -> Iterator[str]:
    rows = [row for row in result.rows if row.outcome is Outcome.MOVED and not row.shared]
    label = console.paint(Outcome.MOVED.value, _STYLES[Outcome.MOVED])
    for row in rows[:_SHOWN_ROWS]:
        what = "the model answers otherwise now"
        if row.unreadable is not None:
            what = f"and today's reader cannot read it: {row.unreadable}"
        yield f"{label}  {_which(row)}  {neutral(what)}"
    yield from _more(len(rows))


def _relabelled(result: CaptureResult, console: Console) -> Iterator[str]:
    """Yield one line for all rows with the same answer under the same other name: no answer moved, so none is told by itself."""
    rows = [row for row in result.rows if row.outcome is Outcome.RELABELLED]
    by_label: dict[str, list[Row]] = {}
    for row in rows:
        by_label.setdefault(row.label or "", []).append(row)
    label = console.paint(Outcome.RELABELLED.value, _STYLES[Outcome.RELABELLED])
    for words, told in list(by_label.items())[:_SHOWN_ROWS]:
        which = _which(told[0]) if len(told) == 1 else f"{len(told)} rows"
        yield f"{label}  {which}  {shorten(neutral(f'{_SAME}, {words}'), _LONGEST)}"
    yield from _more(len(by_label))


def _more(count: int) -> Iterator[str]:
    """Yield a line that says how many of so many are not shown, if there are some."""
    if count > _SHOWN_ROWS:
        yield f"… and {count - _SHOWN_ROWS} more (--format json lists all)"


def _which(row: Row) -> str:
    trial = f" trial {row.trial}" if row.trial else ""
    asked = f"  for {neutral(row.asked)}" if row.asked else ""
    return f"{shorten(neutral(row.case_id), 60)}  {neutral(row.target)}{trial}{asked}"


def remedies(result: CaptureResult, mode: Mode = Mode.AUTO) -> Iterator[str]:
    """Yield the hints that fit what has no answer, neutral."""
    # A live run would ask everything again; its log tells what was answered already.
    resume = f" with --resume {result.log.name}" if mode is Mode.LIVE and result.log is not None else ""
    if result.interrupted:
        yield f"run the same command again{resume}: what was answered is stored, and only the rest is asked"
        return
    if result.left:
        yield _left(result, resume)
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
    # A damaged file is never asked again, and what was turned away will be again: a second run is no remedy for them.
    if any(not (row.hint or row.is_final) for row in failed):
        yield f"run the same command again{resume}: only what has no answer is asked"


def _left(result: CaptureResult, resume: str) -> str:
    """Return what to do about the rows that a budget left; one that no call fits into leaves them for ever."""
    rows = "1 row is" if result.left == 1 else f"{result.left} rows are"
    if result.too_dear_usd is not None:
        return (
            f"{rows} left by the budget: the next call may cost up to {dollars(result.too_dear_usd)}: raise --max-cost"
        )
    if not result.calls:
        return f"{rows} left by the budget: it is too small for a single call: raise it"
    return f"{rows} left by the budget: run the same command again{resume}, and only what has no answer is asked"


def _command(missed: list[Row]) -> str:
    """Return the command that records what is missed; with several trials it names how many."""
    cases = list(dict.fromkeys(row.case_id for row in missed))
    # What a grader asks is recorded with the case that it judges, whatever target it goes to.
    targets = [] if any(row.asked for row in missed) else list(dict.fromkeys(row.target for row in missed))
    trials = 1 + max(row.trial for row in missed)
    return record_command(cases if len(cases) <= _NAMED_CASES else (), targets, trials=trials)
