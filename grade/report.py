"""What grade tells people and machines. Pure functions of a finished run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from golden.model import Planned
from grade.run import Outcome
from grade.verdict import STATUSES
from snapshots.console import Console, neutral, shorten

SHOWN = 40
_WHOSE = {
    "missing_snapshot": "nothing to judge",
    "corrupt_snapshot": "the store's file is damaged",
    "unreadable_snapshot": "today's reader cannot read the answer",
    "grader_error": "the grader is at fault, not the answer",
}


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
    """Return the terminal report: the rows that did not pass in suite order, then what it adds up to."""
    shown: list[str] = []
    ordered = [(r.case.id, r.target.name, r.trial) for r in order]
    trials = {(case, target): trial for case, target, trial in ordered if trial}
    known = {r.case.id: r.case.known for r in order if r.case.known}
    problems = [key for key in ordered if key in outcome.problems]
    for key in problems[:SHOWN]:
        line = _line(key, outcome.problems[key], console, several=(key[0], key[1]) in trials)
        shown.append(f"{line} (known: {known[key[0]]})" if key[0] in known else line)
    if len(problems) > SHOWN:
        shown.append(f"… and {len(problems) - SHOWN} more (--format json lists all)")
    if shown:
        shown.append("")
    shown.append(_verdict(outcome, console, exit_code, pass_rate))
    if outcome.tally.stale:
        stale = ", ".join(neutral(c) for c in sorted(set(outcome.tally.stale))[:10])
        shown.append(f"stale: {stale} passes though it is marked known: failing; take the mark away")
    return shown


def _line(key: tuple[str, str, int], facts: dict[str, Any], console: Console, *, several: bool) -> str:
    case, target, trial = key
    name = f"{shorten(neutral(case), 60)} [{neutral(target)}{f' trial {trial}' if several else ''}]"
    status = facts["status"]
    if status == "fail":
        parts = [f"missing {', '.join(facts['missing'])}"] if facts["missing"] else []
        parts += [f"unexpected {', '.join(facts['unexpected'])}"] if facts["unexpected"] else []
        if facts["case_passed"]:
            parts.append("the case passes all the same")  # by its rule over the trials
        return f"{console.paint('fail', 'red')}  {name}: {'; '.join(parts)}"
    text = shorten(neutral(facts["error"] or ""), 300)
    return f"{console.paint(status, 'yellow')}  {name}: {_WHOSE[status]}: {text}"


def _verdict(outcome: Outcome, console: Console, exit_code: int, pass_rate: float | None) -> str:
    tally = outcome.tally
    text = f"{tally.counted_passed} of {tally.counted} cases pass"
    if tally.counted_passed < tally.counted and not tally.unjudged:
        text += f", {tally.counted - tally.counted_passed} fail"
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
        text += f" ({tally.rows} trials)"
    return console.paint(text, {0: "green", 1: "red"}.get(exit_code, "yellow"))
