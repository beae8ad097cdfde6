"""The grading worker: reads snapshots, runs graders with the world closed, and answers in chunks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from golden.loader import Graders
from golden.purity import Guard
from golden.worker import Handle, serve
from grade.loop import Bench, unjudged
from snapshots.errors import CorruptSnapshot, StoreError
from snapshots.snapshot import read as read_snapshot
from snapshots.store import read_bytes

if TYPE_CHECKING:
    from golden.recorded import Recorded

Answers = Callable[[], "Recorded | None"]
FOR_PRICE = ("cached_tokens", "cache_write_tokens")
"""What the price of an answer depends on beside its columns; no columns of the table."""
FACTS = (
    "status", "error", "findings", "evidence", "graders", "grader_digest", "request_hash", "answer_hash", "answer_rule", "integrity",
    "recorded_at", "reported_model", "finish_reason", "input_tokens", "output_tokens", "latency_ms", "cost_usd", "asked",
    *FOR_PRICE,
)  # fmt: skip


def main() -> None:
    """Serve one parent."""
    serve(_handle)


def _handle(setup: dict[str, Any], graders: Graders, guard: Guard) -> Handle:
    bench = Bench(graders.by_name, guard, date=setup["date"], backwards=setup["backwards"])

    @cache
    def recorded() -> Recorded | None:
        from golden.recorded import Recorded  # rendering is loaded only where a grader or check has requests of its own

        return Recorded.from_setup(setup)

    return lambda chunk: _grade_chunk(bench, recorded, chunk)


def _grade_chunk(bench: Bench, recorded: Answers, chunk: Any) -> dict[str, list[Any]]:
    """Grade a chunk and return its facts column by column: fewer names to write and to read than row by row."""
    expectations: list[str] = chunk["expectations"]
    rows = [
        _grade_file(bench, recorded, expectations[expectation], (path, folder, name, shown), asked)
        for expectation, path, folder, name, shown, asked in chunk["rows"]
    ]
    return {name: [facts.get(name) for facts in rows] for name in FACTS}


def _grade_file(
    bench: Bench, recorded: Answers, expectation: str, file: tuple[str, str, str, str], asked: Any
) -> dict[str, Any]:
    path, folder, name, shown = file
    try:
        snapshot = read_snapshot(read_bytes(path), folder=folder, name=name, path=shown)
    except (CorruptSnapshot, StoreError) as error:
        return unjudged(error)
    store = recorded() if bench.asks(expectation) else None
    answers = None if store is None else store.row(snapshot.trial, asked)
    facts = bench.grade(snapshot, expectation, answers)
    facts["request_hash"] = snapshot.request_hash
    facts["answer_hash"] = snapshot.answer_hash
    facts["answer_rule"] = snapshot.answer_rule
    facts["integrity"] = snapshot.integrity
    facts["recorded_at"] = snapshot.recorded_at
    return facts
