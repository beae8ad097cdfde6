"""What a diff says to machines and people: the summary, the one sentence, and the terminal screen. Pure functions of a comparison."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

from diff.compare import Comparison
from diff.drift import drift, drift_sentence
from diff.remedy import remedy
from diff.row import DiffRow
from diff.statistics import McNemar, Rate, mcnemar, wilson
from snapshots.console import Console, neutral, shorten, table

SHOWN = 40
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
    quiet = silent(comparison)
    moved = [_clock(name, count, quiet.get(name, 0)) for name, count in comparison.clocks.items() if count]
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
    told = f", {'all' if quiet == count else quiet} silent" if quiet else ""
    return f"{name} ({count} row{'s' if count != 1 else ''}{told})"


def shown_rows(comparison: Comparison) -> list[DiffRow]:
    """Return the rows worth showing, in suite order where it is known: verdict changes first; silent ones are only counted."""
    order = {key: i for i, key in enumerate(comparison.head.order)}
    rows = [
        r
        for r in comparison.rows.values()
        if r.move != "none" or r.verdict_change in ("newly_failing", "newly_passing")
    ]
    first = {"newly_failing": 0, "newly_passing": 1, "incomparable": 2}
    return sorted(
        rows,
        key=lambda r: (
            first.get(r.verdict_change, 3),
            order.get((r.case_id, r.target), len(order)),
            r.case_id,
            r.target,
            r.trial,
        ),
    )


def silent(comparison: Comparison) -> dict[str, int]:
    """Return clock → number of rows in which it moved without changing findings or verdict."""
    counts: dict[str, int] = defaultdict(int)
    for row in comparison.rows.values():
        if row.move == "none":
            for clock in row.clocks:
                counts[clock] += 1
    return dict(counts)


def lines(comparison: Comparison, console: Console) -> list[str]:
    """Return the terminal report: the sentence first, then the rows that moved, then what it adds up to."""
    worse = bool(comparison.regressions)
    cure = remedy(comparison)
    head = [
        console.paint(
            neutral(sentence(comparison)), "red" if worse else "green" if not comparison.head_unjudged else "yellow"
        ),
        *([neutral(share_sentence(comparison))] if share_sentence(comparison) else []),
        *([neutral(cure)] if cure else []),
        f"base: {neutral(comparison.base.name)}   head: {neutral(comparison.head.name)}   {len(comparison)} rows",
        *(f"note: {neutral(note)}" for note in [*comparison.base.notes, *comparison.head.notes]),
    ]
    rows = shown_rows(comparison)
    body = [""] if rows else []
    if rows:
        several = {(r.case_id, r.target) for r in rows if r.trial}
        cells = [_cells(r, several=(r.case_id, r.target) in several) for r in rows[:SHOWN]]
        cells = [_once(cell, i, rows) for i, cell in enumerate(cells)]
        body += table(("case", "verdict", "clocks", "move", "what moved"), cells)
        if len(rows) > SHOWN:
            body.append(f"… and {len(rows) - SHOWN} more rows (--format json, or --out FILE.parquet)")
    return [*head, *body, "", *_totals(comparison)]


def _cells(row: DiffRow, *, several: bool) -> tuple[str, ...]:
    name = f"{shorten(neutral(row.case_id), 48)} [{neutral(row.target)}{f' #{row.trial}' if several else ''}]"
    verdict = row.verdict_change.replace("_", " ")
    return name, verdict, "+".join(row.clocks) or "-", row.move, shorten(detail(row), 90)


def _once(cells: tuple[str, ...], i: int, rows: list[DiffRow]) -> tuple[str, ...]:
    """Leave the verdict out where the row above tells it: it is the case's, and the same for all trials."""
    same = i > 0 and (rows[i].case_id, rows[i].target) == (rows[i - 1].case_id, rows[i - 1].target)
    return (cells[0], "", *cells[2:]) if same else cells


def detail(row: DiffRow) -> str:
    """Return what moved in a row, in a few words, neutral for one line."""
    parts: list[str] = []
    if row.move == "renamed" and row.base is not None:
        parts.append(f"was {row.base['case_id']}")
    if len(row.clocks) > 1 and row.attribution:
        parts.append(shares_of(row))
    for side, r in (("base", row.base), ("head", row.head)):
        if r is not None and r["status"] not in ("pass", "fail"):
            parts.append(f"{side}: {r['status']}" + (f" {r['error']}" if r["status"] == "grader_error" else ""))
    parts += codes(row)
    if row.request_changes:
        parts.append(", ".join(f"{c['part']} {c['pointer']}" for c in row.request_changes[:3]))
        if len(row.request_changes) > 3:
            parts[-1] += f" and {len(row.request_changes) - 3} more"
    if "program" in row.evidence:
        parts.append(f"the program changed: {', '.join(row.evidence['program'])}")
    parts += [f"{name}: {_told(value)}" for name, value in row.evidence.items() if name not in ("graders", "program")]
    if "graders" in row.evidence:
        parts.append(f"code of {', '.join(row.evidence['graders'])}")
    return neutral("; ".join(parts))


def shares_of(row: DiffRow) -> str:
    """Return the shares of a row's case in words."""
    if "undetermined" in row.attribution:
        return f"cause undetermined: {row.attribution['undetermined']}"
    return "share: " + ", ".join(f"{clock} {signed(Fraction(share))}" for clock, share in row.attribution.items())


def signed(share: Fraction) -> str:
    """Return a share for people: a signed decimal, without an end of zeros."""
    return "0" if not share else f"{float(share):+.3f}".rstrip("0").rstrip(".")


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
    return f"Pass fraction {float(suite.base):.3f} → {float(suite.head):.3f}: {', '.join(told)}."


def codes(row: DiffRow) -> list[str]:
    """Return the finding codes that appeared (+) or vanished (-), and the expected ones likewise."""
    if row.base is None or row.head is None or row.base["findings"] is None or row.head["findings"] is None:
        return []
    found = _signed(row.base["findings"], row.head["findings"])
    wanted = _signed(row.base["expected"], row.head["expected"])
    return ([f"findings {found}"] if found else []) + ([f"expected {wanted}"] if wanted else [])


def _signed(old: list[str], new: list[str]) -> str:
    return " ".join([f"+{c}" for c in sorted(set(new) - set(old))] + [f"-{c}" for c in sorted(set(old) - set(new))])


def _told(value: Any) -> str:
    return " → ".join(str(v) for v in value) if isinstance(value, list) else str(value)


def _totals(comparison: Comparison) -> list[str]:
    base, head = wilson(*comparison.base_passed), wilson(*comparison.head_passed)
    told = [
        f"cases passing: {interval(base)} → {interval(head)}",
        f"verdicts: {', '.join(f'{n} {v}'.replace('_', ' ') for v, n in comparison.verdict_changes.items() if n) or 'none'}"
        + (f"; {comparison.removed_cases} removed" if comparison.removed_cases else ""),
        test_sentence(test_of(comparison)),
        *model_lines(comparison),
        *([] if comparison.measures is None else map(neutral, comparison.measures.lines())),
    ]
    quiet = silent(comparison)
    if quiet:
        told.append(
            "silent: " + ", ".join(f"{clock} moved in {n} rows and changed no finding" for clock, n in quiet.items())
        )
    if comparison.stale_known:
        told.append(
            f"stale: known: flaky, but all trials agree in both runs: {', '.join(map(neutral, comparison.stale_known[:10]))}"
        )
    if comparison.head_unjudged:
        told.append(unjudged_sentence(comparison))
    return told


def model_lines(comparison: Comparison) -> list[str]:
    """Return what the suite as a whole says of its model, where any answer of it moved."""
    return [drift_sentence(drift(comparison))] if comparison.clocks["model"] else []


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
    flips = f"{test.worse} worse, {test.better} better"
    if test.smallest_p > 0.05:
        return f"{flips}: too few flips for a test (the least p they can reach is {test.smallest_p:.2g})"
    return f"{flips}: exact McNemar p = {test.p:.3g}"
