"""The account of a case: which trial tells it, how many pass, what was found, and that nobody's text reaches the terminal raw."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from diff.why import Why, why
from diff.why_cli import case_rows
from diff.why_lines import lines
from snapshots.console import Console, neutral
from snapshots.errors import UsageError
from tests.diff.sides import HOSTILE, Answers, compared, row

MAJORITY = {"expected": [], "pass": "majority", "graders": ["g"]}


def sampled(*trials: str, passes: bool, answers: str = "1") -> list[dict[str, Any]]:
    """Return the trials of a case; each word is what is found in one, ``-`` for nothing."""
    return [
        row(
            "a",
            trial=n,
            answer=answers * (n + 1),
            found="" if found == "-" else found,
            case_passed=passes,
            expectation=json.dumps(MAJORITY),
            expectation_digest="m",
        )
        for n, found in enumerate(trials)
    ]


def account(folder: Path, base: list[dict[str, Any]], head: list[dict[str, Any]], trial: int | None = None) -> Why:
    """Return the account of the case ``a``, outside of git."""
    comparison = compared(base, head)
    suite: Any = SimpleNamespace(root=folder, snapshots=folder / "snapshots")
    [made] = why(comparison, case_rows(comparison, "a"), suite, trial)
    return made


def shown(made: Why) -> list[str]:
    return lines(made, Console("never"), "main", "the working tree")


TOLD = {
    "one that passed and fails": (("-", "-", "-"), ("-", "bad", "bad"), (True, False), 1),
    "one that failed and passes": (("bad", "worse", "-"), ("worse", "-", "-"), (False, True), 1),
    "one whose findings changed": (("-", "bad"), ("-", "worse"), (False, False), 1),
    "the first that moved": (("-", "-"), ("-", "-"), (True, True), 0),
    "any that changed where no trial turned": (("-", "bad"), ("-", "worse"), (True, False), 1),
}


@pytest.mark.parametrize(("old", "new", "passes", "trial"), TOLD.values(), ids=TOLD.keys())
def test_the_trial_that_tells_explains_the_verdict(
    old: tuple[str, ...], new: tuple[str, ...], passes: tuple[bool, bool], trial: int, tmp_path: Path
) -> None:
    """Every answer moved, and most of them moved nothing."""
    made = account(tmp_path, sampled(*old, passes=passes[0]), sampled(*new, passes=passes[1], answers="2"))

    assert trial == made.trial


def test_a_trial_can_be_named(tmp_path: Path) -> None:
    """Also one in which nothing moved; the verdict is the case's."""
    old, new = sampled("-", "-", "-", passes=True), sampled("-", "bad", "bad", passes=False)

    made = account(tmp_path, old, new, 0)
    assert (0, "newly_failing", ("pass", "pass")) == (made.trial, made.verdict_change, made.status)


@pytest.mark.parametrize(
    ("count", "numbers"), [(1, "trial 0"), (2, "trial 0, 1"), (30, "the trials 0 to 29")], ids=["one", "two", "many"]
)
def test_a_trial_that_there_is_not_names_those_that_there_are(count: int, numbers: str, tmp_path: Path) -> None:
    """An error of usage."""
    rows = sampled(*["-"] * count, passes=True)

    with pytest.raises(UsageError, match="'a' has no trial 40") as raised:
        account(tmp_path, rows, rows, 40)
    assert f"it has {numbers}" == raised.value.hint


def test_several_trials_are_counted_on_both_sides(tmp_path: Path) -> None:
    """With the one that is shown, and what became of it."""
    old, new = sampled("-", "-", "-", passes=True), sampled("-", "bad", "bad", passes=False)

    assert "  3 of 3 → 1 of 3 trials pass; shown is trial 1: pass → fail" in shown(account(tmp_path, old, new))


def test_a_trial_without_a_verdict_is_neither_passed_nor_failed(tmp_path: Path) -> None:
    """It is counted by itself."""
    old = sampled("-", "-", passes=True)
    new = [old[0], {**old[1], "status": "missing_snapshot", "case_passed": None, "findings": None, "integrity": None}]
    told = shown(account(tmp_path, old, new))

    assert "  2 of 2 → 1 of 2 (1 not judged) trials pass; shown is trial 1: pass → missing_snapshot" in told


def test_one_trial_needs_no_count(tmp_path: Path) -> None:
    """The verdict says it all."""
    told = shown(account(tmp_path, [row("a")], [row("a", answer="2", found="bad")]))

    assert [] == [line for line in told if "trials pass" in line]


def test_what_was_found_stands_with_its_evidence(tmp_path: Path) -> None:
    """Of findings that appeared or vanished, where their source said something; the others are named alone."""
    old = row("a", found="late old", evidence=json.dumps({"late": {"g": "21 Mar"}, "old": {"g": None}}))
    new = row("a", answer="2", found="amount", evidence=json.dumps({"amount": {"g": {"was": [1, None]}, "h": None}}))
    made = account(tmp_path, [old], [new])

    assert [
        "  main → the working tree   findings +amount -late -old",
        '      +amount (g: {"was":[1,null]})',
        '      -late (g: "21 Mar")',
    ] == shown(made)[1:4]
    assert {"code": "late", "change": "vanished", "source": "g", "value": "21 Mar"} == made.evidence[1]


def test_lists_of_the_account_say_what_they_leave_out(tmp_path: Path) -> None:
    """Eight lines of evidence, and a number."""
    codes = [f"code_{n}" for n in range(10)]
    new = row("a", answer="2", found=" ".join(codes), evidence=json.dumps({code: {"g": code} for code in codes}))

    assert "      … and 2 more findings" == shown(account(tmp_path, [row("a")], [new]))[10]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_line_of_the_account_holds_what_a_terminal_obeys(text: str, tmp_path: Path) -> None:
    """Answers, evidence, code and names are of others: neutral, and short."""
    document = {"transport": "http", "body": {"model": "m", "messages": [{"role": "user", "content": "hi"}]}}
    old = row("a", found="late", evidence=json.dumps({"late": {"g": text}}), reported_model="m")
    new = row("a", answer="2", found="bad", code="2", evidence=json.dumps({"bad": {"g": [text]}}), reported_model=text)
    store = Answers()
    for made, words in ((old, "hello"), (new, text)):
        message = {"role": "assistant", "content": words}
        body = {"model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
        store.held[made["integrity"]] = document, {"status": 200, "headers": {}, "body": body}
    comparison = compared([old], [new], store)
    comparison.base.source = {"1": {"entry": "g.py", "files": {"g.py": "x = 1\n"}}}.get
    comparison.head.source = {"2": {"entry": "g.py", "files": {"g.py": f"{text}\n", text: "x"}}}.get
    suite: Any = SimpleNamespace(root=tmp_path, snapshots=tmp_path / "snapshots")
    [told] = why(comparison, case_rows(comparison, "a"), suite)

    assert [] == [line for line in shown(told) if line != neutral(line) or len(line) > 500]
