"""A small store, written by hand, and the command run in this process."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from snapshots import dialects, request, snapshot
from snapshots.store import Found, Store

NOON = 1_764_504_000  # 2025-11-30T12:00:00Z
URL = "https://api.example.com/v1/chat/completions"


def document(prompt: str, **members: Any) -> dict[str, Any]:
    """Return a request document."""
    body = {"model": "tiny-1", "messages": [{"role": "user", "content": prompt}], **members}
    return request.http_document(method="POST", url=URL, headers={}, body=body)


def answer(text: str | None, model: str = "tiny-1", **message: Any) -> dict[str, Any]:
    """Return a response member with a chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    return {"status": 200, "headers": {}, "body": {"id": "1", "model": model, "choices": [choice], "usage": usage}}


def put(
    store: Store, doc: dict[str, Any], response: dict[str, Any], *, trial: int = 0, second: int = NOON, **wrong: Any
) -> Found:
    """Write one snapshot; ``wrong`` replaces members by others than the right ones."""
    rule = dialects.rule_for(doc, response)
    members = {
        "request": doc,
        "request_hash": request.request_hash(doc),
        "trial": trial,
        "answer_hash": dialects.answer_hash(rule, response),
        "answer_rule": rule,
        "second": second,
        "response": response,
        "meta": {"latency_ms": 812, "attempts": 1, "target": "gpt", "cases": ["a", "b"], "tool": "whichclock/0.1.0"},
    }
    name, data = snapshot.write(**(members | wrong))
    found = store.put(name, data)
    store.flush()
    return found


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    (tmp_path / "store").mkdir()
    return Store(tmp_path / "store")


@dataclass(frozen=True)
class Ran:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Run ``whichclock snapshots`` in this process."""
    import whichclock

    def ran(*arguments: object, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr("sys.argv", ["whichclock", "snapshots", *map(str, arguments)])
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        try:
            whichclock.main()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
        out, err = capsysbinary.readouterr()
        return Ran(code, out.decode(), err.decode())

    return ran
