"""Streams without usage: named where a check or a price would need it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from golden.model import Selection
from golden.render import render
from golden.suite import load_suite, select
from golden.unmetered import unmetered

USAGE = "stream_options = { include_usage = true }"
PRICES = '[prices."tiny-1"]\ninput = 1'
LIMIT = [{"max_tokens": 5}]


def warnings(
    root: Path, params: str, checks: list[Any], more: str = "", kind: str = "openai", trials: int = 1
) -> list[str]:
    """Return the warnings about a suite of one target and one case."""
    (root / "whichclock.toml").write_text(
        f'suite = "s"\ncases = ["cases.jsonl"]\n[targets.gpt]\ntype = "{kind}"\nmodel = "tiny-1"\n'
        f'base_url = "https://api.example.com/v1"\nparams = {{ {params} }}\n{more}\n'
    )
    case = {"id": "a", "prompt": "a", "checks": checks, "trials": trials}
    (root / "cases.jsonl").write_bytes(orjson.dumps(case) + b"\n")
    suite = load_suite(root / "whichclock.toml", environ={})
    rows = [(row, render(suite, row.case, row.target)) for row in select(suite, Selection())]
    return list(unmetered(suite, rows))


@pytest.mark.parametrize(
    ("checks", "more"),
    [
        (LIMIT, ""),
        ([{"max_input_tokens": 5}], ""),
        ([{"max_total_tokens": 5}], ""),
        ([{"max_cost_usd": 5}], PRICES),
        ([], PRICES),
    ],
)
def test_a_stream_without_usage_is_told_where_it_is_needed(tmp_path: Path, checks: list[Any], more: str) -> None:
    """Once for a target, trials not counted, with the member that asks for it."""
    expected = (
        "target gpt: 1 request is streamed without usage, so that no check of tokens or cost can hold and no price "
        "applies; ask for it: params = { stream_options = { include_usage = true } }"
    )
    told = warnings(tmp_path, "stream = true", checks, more, trials=3)

    assert [expected] == told


@pytest.mark.parametrize(
    ("params", "checks", "kind"),
    [
        (f"stream = true, {USAGE}", LIMIT, "openai"),
        ("temperature = 0", LIMIT, "openai"),
        ("stream = true", [{"contains": "a"}], "openai"),
        ("stream = true", LIMIT, "openai-responses"),
    ],
)
def test_nothing_is_told_where_usage_is_there_or_nobody_looks(
    tmp_path: Path, params: str, checks: list[Any], kind: str
) -> None:
    """Asked for, whole, unchecked, or of a dialect whose streams always say it."""
    assert [] == warnings(tmp_path, params, checks, kind=kind)
