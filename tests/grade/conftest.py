"""Grade single answers with graders written in the test, in a real worker process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grade.pool import Chunk, Job, Pool
from snapshots import canonical, dialects, request, response, snapshot
from snapshots.store import Found, Store

NOON = 1_780_315_200


def record(store: Store, text: str = "Hello Ann", prompt: str = "hi") -> Found:
    """Store one chat completion and return its file."""
    asked = request.http_document(
        method="POST",
        url="https://api.example.com/v1/chat/completions",
        headers={},
        body={"model": "m1", "messages": [{"role": "user", "content": prompt}]},
    )
    body = {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    answered = response.response(200, [], json.dumps(body).encode())
    rule = dialects.rule_for(asked, answered)
    name, data = snapshot.write(
        request=asked,
        request_hash=request.request_hash(asked),
        trial=0,
        answer_hash=dialects.answer_hash(rule, answered),
        answer_rule=rule,
        second=NOON,
        response=answered,
        meta={"latency_ms": 12.5},
    )
    return store.put(name, data)


def expectation(*graders: str, **members: Any) -> str:
    """Return the grading side of a case with these graders."""
    return canonical.encode({"expected": [], "pass": "all", "graders": sorted(graders), **members}).decode()


Grade = Callable[..., dict[str, Any]]


@pytest.fixture
def grade(tmp_path: Path) -> Grade:
    """Return a function that grades one answer with the graders of a source text, and gives the row's facts."""

    def run(
        source: str,
        *graders: str,
        text: str = "Hello Ann",
        timeout_s: float = 5.0,
        memory_mb: int = 1024,
        **members: Any,
    ) -> dict[str, Any]:
        (tmp_path / "graders.py").write_text(source)
        found = record(Store(tmp_path / "snapshots"), text)
        names = graders or ("g",)
        job = Job(
            tmp_path.resolve(),
            (tmp_path.resolve() / "graders.py",),
            dict.fromkeys(names, "cases.yaml:2"),
            timeout_s,
            memory_mb,
            stores=(tmp_path / "snapshots",),
        )
        chunk = Chunk()
        chunk.add(expectation(*names, **members), found, None)
        with Pool(job, 1) as pool:
            (columns,) = pool.run([chunk])
        return {name: values[0] for name, values in columns.items()} | {"loaded": pool.loaded}

    return run
