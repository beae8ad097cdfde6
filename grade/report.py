"""What grade tells people and machines. Pure functions of a finished run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from golden.model import Planned
from grade.run import Outcome
from grade.verdict import STATUSES
from snapshots.console import Console, neutral, shorten

SHOWN = 40
_EXPLAINED = 10
"""Rows whose evidence is shown: with it, more would be no screen."""
_SHORT_HASH = 12
_WHOSE = {
    "missing_snapshot": "nothing to judge",
    "corrupt_snapshot": "the store's file is damaged",
    "unreadable_snapshot": "today's reader cannot read the answer",
    "grader_error": "the grader is at fault, not the answer",
}
_HAS_AN_ANSWER = frozenset({"fail", "grader_error", "unreadable_snapshot"})
Key = tuple[str, str, int]


def summary(
    outcome: Outcome, *, not_in_base: int | None = None, request_moved: int | None = None, reused: int | None = None
) -> dict[str, Any]:
    """Return the summary member of ``whichclock.results/1``."""
    tally = outcome.tally
    counts: dict[str, Any] = {"rows": tally.rows, **{s: tally.statuses[s] for s in STATUSES}}
    counts.update(cases=tally.cases, cases_passed=tally.cases_passed)
    counts.update(known_failing=tally.known_failing, known_flaky=tally.known_flaky, stale=sorted(tally.stale))
    if not_in_base is not None:
        counts.update(not_in_base=not_in_base, request_moved=request_moved)
    if reused is not None:
        counts.update(reused=reused)
    counts["purity"] = list(outcome.loaded.locks)
    return counts


def lines(
    outcome: Outcome, order: Sequence[Planned], console: Console, exit_code: int, pass_rate: float | None
) -> list[str]:
    """Return the terminal report: the rows that did not pass in suite order, then what it adds up to.

    Rows of cases that the suite does not hold, which shards may bring, come last.
    """
    ordered = dict.fromkeys([*((r.case.id, r.target.name, r.trial) for r in order), *sorted(outcome.problems)])
    shown = list(_problems(outcome, list(ordered), console))
    if shown:
        shown.append("")
    several_targets = len({case for case, _, _ in ordered}) < len({key[:2] for key in ordered})
    shown.append(_verdict(outcome, console, exit_code, pass_rate, several_targets=several_targets))
    if outcome.tally.stale:
        stale = ", ".join(neutral(c) for c in sorted(set(outcome.tally.stale))[:10])
        shown.append(f"stale: {stale} passes though it is marked known: failing; take the mark away")
    return shown


def _problems(outcome: Outcome, ordered: Sequence[Key], console: Console) -> Iterator[str]:
    """Yield a line for each row that did not pass, and under the first ones what was found and how to see the answer."""
    trials = {key[:2] for key in ordered if key[2]}
    problems = [key for key in ordered if key in outcome.problems]
    seen: set[str] = set()
    explained = 0
    for key in problems[:SHOWN]:
        facts = outcome.problems[key]
        line = _line(key, facts, console, several=key[:2] in trials)
        yield f"{line} (known: {facts['known']})" if facts["known"] else line
        if facts["status"] in _HAS_AN_ANSWER and explained < _EXPLAINED and not console.quiet:
            explained += 1
            yield from (f"      {one}" for one in facts["evidence"])
            if facts["request_hash"] not in seen:  # the command shows all trials of a request
                seen.add(facts["request_hash"])
                yield f"      see: {show_command(facts['request_hash'])}"
    if len(problems) > SHOWN:
        yield f"… and {len(problems) - SHOWN} more (--format json lists all)"


def show_command(request_hash: str) -> str:
    """Return the command that shows the recorded answers to a request."""
    return f"whichclock snapshots show {request_hash[:_SHORT_HASH]}"


def _line(key: Key, facts: dict[str, Any], console: Console, *, several: bool) -> str:
    case, target, trial = key
    name = f"{shorten(neutral(case), 60)} [{neutral(target)}{f' trial {trial}' if several else ''}]"
    status = facts["status"]
    if status == "fail":
        parts = [difference(facts)]
        if facts["case_passed"]:
            parts.append("the case passes all the same")  # by its rule over the trials
        return f"{console.paint('fail', 'red')}  {name}: {'; '.join(parts)}"
    text = shorten(neutral(facts["error"] or ""), 300)
    return f"{console.paint(status, 'yellow')}  {name}: {_WHOSE[status]}: {text}"


def difference(facts: dict[str, Any]) -> str:
    """Return in what the findings of a failing row differ from those that its case expects."""
    missing, unexpected = ", ".join(facts["missing"]), ", ".join(facts["unexpected"])
    if not facts["expected"]:
        return f"found {unexpected}, expected none"
    parts = [f"not found: {missing}"] if missing else []
    return "; ".join([*parts, f"found: {unexpected}"] if unexpected else parts)


def counted(number: int, word: str) -> str:
    """Return a number with its noun: ``1 row``, ``2 rows``."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def _verdict(
    outcome: Outcome, console: Console, exit_code: int, pass_rate: float | None, *, several_targets: bool
) -> str:
    tally = outcome.tally
    unit = counted(tally.counted, "case × target pair" if several_targets else "case")
    text = f"{tally.counted_passed} of {unit} {'passes' if tally.counted == 1 else 'pass'}"
    if tally.counted_failed:
        text += f", {tally.counted_failed} fail"
    known = tally.known_failing + tally.known_flaky
    if known:
        text += f"; {known} known case{'s do' if known > 1 else ' does'} not count"
    unjudged = {s: n for s, n in tally.statuses.items() if n and s in _WHOSE}
    if unjudged:
        text += "; not judged: " + ", ".join(f"{n} {s}" for s, n in unjudged.items())
    if pass_rate is not None:
        rate = tally.counted_passed / tally.counted if tally.counted else 0.0
        text += f"; pass rate {rate:.3f} against a gate of {pass_rate:g}"
    if tally.rows != tally.cases:
        text += f" ({counted(tally.rows, 'trial')})"
    return console.paint(text, {0: "green", 1: "red"}.get(exit_code, "yellow"))
