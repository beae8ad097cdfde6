"""What a diff says to machines and people: the summary, and the sentences that all reports share. Pure functions of a comparison."""

from __future__ import annotations

from typing import Any

from diff.attribution import TOGETHER
from diff.classify import CLOCKS
from diff.compare import Comparison
from diff.drift import drift, drift_sentence
from diff.edits import clocks_of, edits, is_silent, rows_of, signed
from diff.row import DiffRow
from diff.statistics import McNemar, Rate, mcnemar, wilson
from snapshots.console import shorten

EXACT = "the same answers were judged again: the difference is exact, and chance has no part in it"
_TOGETHER = (
    f"{TOGETHER}: another question has another answer; a control capture tells whether the model moved too "
    "(whichclock capture --control REF)"
)
_MOST = 3
_NAME = 60
MEANING = {
    "added": "a new case",
    "removed": "a case that is gone",
    "renamed": "the same case under another id",
    "missing_snapshot": "a side has no readable answer",
    "capture_hash_moved": "another request was sent",
    "answer_moved_on_frozen_request": "the model answered the same request differently",
    "judge_answer_moved_on_frozen_request": "the judge answered the same question differently",
    "grader_changed_on_frozen_hash": "the grader judges the same answer differently",
    "expectation_changed_on_frozen_hash": "the case demands something else of the same answer",
    "runtime_moved": "graders ran on another Python or other packages",
    "impure_grader": "a grader gave two results for equal inputs: it reads what is not in the row",
    "none": "nothing moved the outcome",
}


def summary(comparison: Comparison) -> dict[str, Any]:
    """Return the summary member of ``whichclock.diff/1``."""
    test = test_of(comparison)
    return {
        "base": comparison.base.name,
        "head": comparison.head.name,
        "rows": len(comparison),
        "moves": comparison.moves,
        "clocks": comparison.clocks,
        "verdict_changes": comparison.verdict_changes,
        "removed_cases": comparison.removed_cases,
        "regressions": len(comparison.regressions),
        "head_unjudged": comparison.head_unjudged,
        "base_pass_rate": _rate(wilson(*comparison.base_passed)),
        "head_pass_rate": _rate(wilson(*comparison.head_passed)),
        "mcnemar": {"worse": test.worse, "better": test.better, "p": test.p, "smallest_p": test.smallest_p},
        "attribution": {} if comparison.attributed is None else comparison.attributed.suite.attribution(),
        "pass_fraction": None if comparison.attributed is None else comparison.attributed.suite.as_dict(),
        "edits": [edit.as_dict() for edit in edits(comparison)],
        "drift": drift(comparison).as_dict(),
        "statistics": None if comparison.measures is None else comparison.measures.as_dict(),
        "reported_model_changes": sum("reported_model" in row.evidence for row in comparison.rows.values()),
        "stale_known": comparison.stale_known,
        "notes": [*comparison.base.notes, *comparison.head.notes],
    }


def _rate(rate: Rate) -> dict[str, Any]:
    return {"passed": rate.passed, "cases": rate.cases, "low": rate.low, "high": rate.high}


def test_of(comparison: Comparison) -> McNemar:
    """Return the exact McNemar test of the case verdicts that both sides have; an added case has no pair."""
    paired = {(r.case_id, r.target) for r in comparison.rows.values() if r.reason is None}
    flips = [change for key, (change, _) in comparison.verdicts.items() if key in paired]
    return mcnemar(flips.count("newly_failing"), flips.count("newly_passing"))


def sentence(comparison: Comparison) -> str:
    """Return the one sentence that says which clock moved, and what it did."""
    moved = [_clock(name, *counts) for name, counts in clock_cases(comparison).items()]
    regressed = len(comparison.regressions)
    changes = comparison.verdict_changes
    if not moved:
        others = [m for m in comparison.moves if m != "none"]
        text = "No clock moved" if not others else f"No clock moved, but: {', '.join(others)}"
    else:
        text = f"The clock that moved: {moved[0]}" if len(moved) == 1 else f"The clocks that moved: {', '.join(moved)}"
    outcome = [f"{changes['newly_failing']} newly failing", f"{changes['newly_passing']} newly passing"]
    if changes["incomparable"]:
        outcome.append(f"{changes['incomparable']} incomparable")
    if changes["newly_failing"] > regressed:
        outcome[0] += f" ({changes['newly_failing'] - regressed} of them known)"
    if not changes["newly_failing"] and not changes["newly_passing"]:
        return f"{text}; no case verdict changed" + (f" ({outcome[2]})" if len(outcome) > 2 else "") + "."
    return f"{text}; {', '.join(outcome)}."


def _clock(name: str, count: int, quiet: int) -> str:
    told = f", {'all' if quiet == count else quiet} without effect" if quiet else ""
    return f"{name} ({count} case{'s' if count != 1 else ''}{told})"


def clock_cases(comparison: Comparison) -> dict[str, tuple[int, int]]:
    """Return clock → the case × targets in which it moved, and those of them that kept every finding and verdict."""
    counts: dict[str, tuple[int, int]] = dict.fromkeys(CLOCKS, (0, 0))
    for rows in rows_of(comparison).values():
        quiet = is_silent(comparison, rows)
        for clock in clocks_of(rows):
            cases, silent = counts[clock]
            counts[clock] = cases + 1, silent + quiet
    return {clock: found for clock, found in counts.items() if found[0]}


def share_sentence(comparison: Comparison) -> str:
    """Return how far the suite's pass fraction went and how much of it each clock has; empty where nothing moved it."""
    made = comparison.attributed
    if made is None:
        return ""
    suite = made.suite
    shares = {clock: share for clock, share in suite.shares.items() if share}
    lines = {"undetermined": suite.undetermined, "added cases": suite.added, "removed cases": suite.removed}
    lines = {name: share for name, share in lines.items() if share}
    if not shares and not lines and not suite.reasons:
        return ""
    told = [f"{clock} {signed(share)}" for clock, share in {**shares, **lines}.items()]
    if suite.reasons and "undetermined" not in lines:
        told.append(
            f"undetermined in {sum(suite.reasons.values())} case{'s' if sum(suite.reasons.values()) != 1 else ''}"
        )
    if not suite.pairs:
        return f"No case was judged on both sides: {', '.join(told)}."
    return f"Pass fraction {float(suite.base):.3f} → {float(suite.head):.3f}: {', '.join(told)}."


def codes(row: DiffRow) -> list[str]:
    """Return the finding codes that appeared (+) or vanished (-), and the expected ones likewise."""
    if row.base is None or row.head is None or not row.is_judged:
        return []
    found = _signed(row.base["findings"], row.head["findings"])
    wanted = _signed(row.base["expected"], row.head["expected"])
    return ([f"findings {found}"] if found else []) + ([f"expected {wanted}"] if wanted else [])


def _signed(old: list[str], new: list[str]) -> str:
    return " ".join([f"+{c}" for c in sorted(set(new) - set(old))] + [f"-{c}" for c in sorted(set(old) - set(new))])


def reported_sentence(comparison: Comparison) -> str:
    """Return how many rows are reported by another model than before; empty where none is."""
    told = [row.evidence["reported_model"] for row in comparison.rows.values() if "reported_model" in row.evidence]
    if not told:
        return ""
    names = sorted({" → ".join(shorten(str(name), _NAME) for name in pair) for pair in told})
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    same = sum("reported_model" in row.evidence and "model" not in row.clocks for row in comparison.rows.values())
    count = f"{len(told)} of {len(comparison)} row{'' if len(comparison) == 1 else 's'}"
    kept = f" ({same} with the same answer)" if same else ""
    return f"another model is reported in {count}{kept}: {', '.join(names[:_MOST])}{more}"


def model_lines(comparison: Comparison) -> list[str]:
    """Return what the suite as a whole says of its model, where any answer of it moved."""
    return [drift_sentence(drift(comparison))] if comparison.clocks["model"] else []


def together_lines(comparison: Comparison) -> list[str]:
    """Return what a share of ``request+model`` means, where one is told."""
    made = comparison.attributed
    return [_TOGETHER] if made is not None and made.suite.shares.get(TOGETHER) else []


def asked_again(comparison: Comparison) -> bool:
    """Tell whether chance has a part in the difference: some answer is not the one that was judged before."""
    others = ("request", "model")
    moves = ("added", "removed", "missing_snapshot", "runtime_moved", "impure_grader")
    same = not any(comparison.clocks[c] for c in others) and not any(comparison.moves.get(m) for m in moves)
    judged = any("judge_requests" in row.evidence for row in comparison.rows.values())  # another question to a judge
    return judged or not same or not any(comparison.clocks.values())


def interval(rate: Rate) -> str:
    """Return a pass rate in words: never without its denominator and its interval."""
    if rate.low is None or rate.high is None:
        return "none judged"
    return f"{rate.passed} of {rate.cases} (95 % interval {rate.low:.2f} to {rate.high:.2f})"


def unjudged_sentence(comparison: Comparison) -> str:
    """Return how many rows of the head side have no verdict, and what to do about it."""
    count = comparison.head_unjudged
    missing = any(r.head is not None and r.head["status"] == "missing_snapshot" for r in comparison.rows.values())
    remedy = (
        "record what is missing with: whichclock capture" if missing else "whichclock grade says whose problem it is"
    )
    return f"not judged on the head side: {count} row{'s' if count != 1 else ''}; {remedy}"


def test_sentence(test: McNemar) -> str:
    """Return the McNemar test in words, with the least p that so few flips can reach."""
    if test.p is None or test.smallest_p is None:
        return "no verdict flipped among paired cases: nothing to test"
    flips = f"{test.worse} verdict{'' if test.worse == 1 else 's'} worse, {test.better} better"
    if test.smallest_p > 0.05:
        return f"{flips}: too few flips for a test (the least p they can reach is {test.smallest_p:.2g})"
    return f"{flips}: exact McNemar p = {test.p:.3g}"
