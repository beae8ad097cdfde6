"""Suites to measure with: many cases, one recorded answer each, 4 KB a snapshot, as loose files."""

from __future__ import annotations

import random
from pathlib import Path

import orjson

from golden.model import Selection, Suite
from golden.render import render
from golden.suite import load_suite, select
from snapshots import dialects, response, snapshot

_WORDS = [f"word{i}" for i in range(400)]
GRADER = """\
def trivial(envelope):
    return {"ok"} if envelope["text"] else {"silent"}
"""


def make(root: Path, cases: int) -> Suite:
    """Write a suite with its answers under a folder and load it."""
    source = random.Random(7)
    root.mkdir(parents=True, exist_ok=True)
    (root / "whichclock.toml").write_text(
        'suite = "benchmark"\ncases = ["cases.jsonl"]\ngraders = ["graders.py"]\n'
        '[targets.m]\ntype = "openai"\nbase_url = "http://127.0.0.1:9/v1"\nendpoint = "local"\nmodel = "m"\n'
    )
    (root / "graders.py").write_text(GRADER)
    with open(root / "cases.jsonl", "wb") as file:
        for i in range(cases):
            prompt = f"{i}: {' '.join(source.choices(_WORDS, k=30))}"
            request = {"messages": [{"role": "user", "content": prompt}], "temperature": 0}
            file.write(
                orjson.dumps({"id": f"case-{i:07}", "request": request, "graders": ["trivial"], "expected": ["ok"]})
                + b"\n"
            )
    suite = load_suite(root / "whichclock.toml")
    record(suite, source)
    return suite


def record(suite: Suite, source: random.Random) -> None:
    """Write one answer for each case, without waiting for the disk: this is a rehearsal."""
    for row in select(suite, Selection()):
        rendered = render(suite, row.case, row.target)
        text = " ".join(source.choices(_WORDS, k=420))
        body = {
            "id": "c", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text, "refusal": None}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 40, "completion_tokens": 420, "total_tokens": 460},
        }  # fmt: skip
        answered = response.response(200, [("content-type", "application/json")], orjson.dumps(body))
        rule = dialects.rule_for(rendered.document, answered)
        name, data = snapshot.write(
            request=rendered.document,
            request_hash=rendered.request_hash,
            trial=row.trial,
            answer_hash=dialects.answer_hash(rule, answered),
            answer_rule=rule,
            second=1_780_315_200,
            response=answered,
            meta={"latency_ms": 5, "attempts": 1, "target": "m", "cases": [row.case.id], "tool": "whichclock/0.1.0"},
        )
        path = suite.snapshots / "sha256" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
