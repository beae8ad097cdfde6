"""The always-valid test: e-values by hand, what bounds them, and a label's history from its saved runs."""

from __future__ import annotations

from math import exp, factorial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from diff.flips import Rate
from diff.sequence import Step, history_of, log_e, step, walk
from golden.suite import load_suite
from grade import table
from snapshots.errors import RefError
from tests.diff.sides import row, side


@pytest.mark.parametrize(("worse", "better"), [(0, 0), (1, 0), (5, 0), (0, 5), (3, 2), (12, 3)])
def test_an_e_value_is_two_to_the_turns_times_the_beta_function(worse: int, better: int) -> None:
    """B(b + 1, c + 1) of whole numbers is b! c! / (b + c + 1)!."""
    beta = factorial(worse) * factorial(better) / factorial(worse + better + 1)

    assert 2 ** (worse + better) * beta == pytest.approx(exp(log_e(worse, better)))


def test_an_e_value_is_the_likelihood_mixed_evenly_over_that_of_a_coin() -> None:
    """Seven worse and two better: the integral of p⁷(1 − p)² over the same of a half."""
    mixed = quad(lambda p: p**7 * (1 - p) ** 2 / 0.5**9, 0, 1)[0]

    assert mixed == pytest.approx(exp(log_e(7, 2)))


@given(st.integers(0, 200), st.integers(0, 200))
def test_a_coin_neither_gains_nor_loses(worse: int, better: int) -> None:
    """The mean of the two e-values after one more turn is the one before: a martingale, which Ville's inequality is about."""
    now = log_e(worse, better)
    after = (exp(log_e(worse + 1, better) - now) + exp(log_e(worse, better + 1) - now)) / 2

    assert 1.0 == pytest.approx(after)


def test_eight_cases_lost_in_a_row_are_a_lasting_change() -> None:
    """2⁷/8 = 16 is not 20, 2⁸/9 = 28.4 is."""
    assert [(pytest.approx(16), False), (pytest.approx(256 / 9), True)] == [
        ((found := walk([(1, 0)] * count)).e, found.fires) for count in (7, 8)
    ]


def test_an_alarm_that_was_raised_stays_raised() -> None:
    """The p-value is the least that ever was; the e-value is today's."""
    found = walk([(8, 0), (0, 8)])

    assert (9 / 256, True, 3) == (pytest.approx(found.p), found.fires, found.runs)
    assert 2**16 * factorial(8) ** 2 / factorial(17) == pytest.approx(found.e)


def test_endless_evidence_is_still_a_number() -> None:
    """JSON knows no infinity."""
    assert exp(700) == walk([(5000, 0)]).e


def _rows(*rows: dict[str, Any]) -> Any:
    return side("main", *rows).rows


def test_only_cases_of_which_nothing_else_moved_turn() -> None:
    """a worse, b better, c still; d has another request, e other code, f is new, g could not be judged."""
    old = _rows(
        row("a"), row("b", found="x"), row("c"), row("d"), row("e"),
        row("g", status="missing_snapshot", case_passed=None),
    )  # fmt: skip
    new = _rows(
        row("a", answer="2", found="x"), row("b", answer="2"), row("c"), row("d", request="2", found="x"),
        row("e", code="2", found="x"), row("f"), row("g"),
    )  # fmt: skip

    assert Step(worse=1, better=1, cases=3, moved=2) == step(old, new)


def _history(root: Path, *runs: list[dict[str, Any]]) -> Any:
    """Save runs under the label main and return the suite."""
    (root / "whichclock.toml").write_text(
        'suite = "support"\ncases = ["c.jsonl"]\n[targets.gpt]\ntype = "openai"\nbase_url = "http://example.com/v1"\n'
    )
    (root / "c.jsonl").write_text('{"id": "a", "prompt": "hi"}\n')
    (root / "results/main").mkdir(parents=True)
    for number, rows in enumerate(runs):
        made = side("main", *rows).rows
        writer = table.Writer(root / "results/main/run.parquet", made.schema)
        writer.write(made)
        writer.finish().rename(root / f"results/main/2026010{number + 1}T000000Z-0123456789ab.parquet")
    return load_suite(root / "whichclock.toml", environ={})


def test_the_state_is_read_from_the_runs_of_the_label(tmp_path: Path) -> None:
    """Three runs: one turn for the worse, a night in which nobody asked, and one for the better; label~1 knows less."""
    first, second = [row("a"), row("b")], [row("a", answer="2", found="x"), row("b")]
    suite = _history(tmp_path, first, second, second, first)
    whole, before = history_of(suite, "main"), history_of(suite, "main~1")

    assert whole is not None
    assert before is not None
    assert (4, 1, 1) == (whole.sequence.runs, whole.sequence.worse, whole.sequence.better)
    assert (3, 1, 0) == (before.sequence.runs, before.sequence.worse, before.sequence.better)


def test_a_flip_rate_is_counted_where_the_model_was_asked_again(tmp_path: Path) -> None:
    """Two of the three steps moved an answer: two flips in four cases."""
    first, second = [row("a"), row("b")], [row("a", answer="2", found="x"), row("b")]
    found = history_of(_history(tmp_path, first, second, second, first), "main")

    assert found is not None
    assert Rate(0.5, 2, 4) == found.flip_rate


@pytest.mark.parametrize("ref", ["git:HEAD", "main.parquet", "the working tree", "other", "main~3"])
def test_what_is_no_label_or_has_one_run_has_no_history(ref: str, tmp_path: Path) -> None:
    """A file, a revision, nothing that is saved, and the first of all runs."""
    assert None is history_of(_history(tmp_path, *[[row("a")]] * 4), ref)


def test_a_run_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Its name and what to do."""
    suite = _history(tmp_path, [row("a")], [row("a")], [row("a")])
    (tmp_path / "results/main/20260102T000000Z-0123456789ab.parquet").write_bytes(b"PAR1 and nothing else")

    with pytest.raises(RefError, match=r"the run 20260102T000000Z-0123456789ab\.parquet of main cannot be read"):
        history_of(suite, "main")
