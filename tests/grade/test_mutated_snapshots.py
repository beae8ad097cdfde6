"""Damaged and forged snapshots by the ten thousand: each is corrupt, unreadable or judged, and none passes that did not."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path
from typing import Any

import pytest

from grade.checks import CHECKS
from grade.loop import Bench
from snapshots import canonical, dialects, snapshot
from snapshots.errors import CorruptSnapshot, JsonError

NEEDLE = "needle-4f1c9a"
STATUSES = {None, "unreadable_snapshot", "grader_error"}
ANSWERS = json.loads(Path(__file__).parents[1].joinpath("vectors", "dialect_answers.json").read_text())["answers"]
EXPECTED = canonical.encode(
    {"expected": [], "pass": "all", "checks": [{"contains": NEEDLE}, {"is_json": True}]}
).decode()
ODD: list[Any] = [None, True, 0, -1, 2**63, 1e308, "", "\u0000", "\ud83d\ude00", [], {}, [[]], {"": {}}, "x" * 4000]


class World:
    """No guard: nothing foreign is called."""

    violation = ""

    def close(self, request_hash: str, now: str) -> None:
        """Do nothing."""

    def open(self) -> None:
        """Do nothing."""


def _file(answer: dict[str, Any]) -> tuple[str, bytes]:
    """Return the name and the bytes of a snapshot that holds an answer."""
    request = answer["request"]
    response = {name: answer[name] for name in ("status", "body", "text", "base64", "volatile") if name in answer}
    rule = dialects.rule_for(request, response)
    try:
        digest = dialects.answer_hash(rule, response)
    except (JsonError, ValueError):
        digest = "0" * 64  # no answer that capture would have stored; grade reads it all the same
    return snapshot.write(
        request=request,
        request_hash=canonical.digest(request),
        trial=0,
        answer_hash=digest,
        answer_rule=rule,
        second=1_780_315_200,
        response={"headers": {}, **response},
        meta={"latency_ms": 1},
    )


def _read(name: str, data: bytes) -> snapshot.Snapshot:
    folder, _, file = name.partition("/")
    return snapshot.read(data, folder=folder, name=file, path=name)


def _damaged(data: bytes, chance: random.Random) -> bytes:
    """Return a file with a bit turned, an end cut off, a piece doubled, taken out or replaced by rubbish."""
    at, size = chance.randrange(len(data)), chance.randrange(1, 40)
    kind = chance.randrange(5)
    if kind == 0:
        return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
    if kind == 1:
        return data[:at]
    if kind == 2:
        return data[:at] + data[at : at + size] + data[at:]
    return data[:at] + (chance.randbytes(size) if kind == 3 else b"") + data[at + size :]


@pytest.mark.parametrize("count", [1_000, pytest.param(40_000, marks=pytest.mark.slow)])
def test_a_damaged_file_is_corrupt_and_nothing_else(count: int) -> None:
    """Whatever a disk, a merge or an editor does to a file, a reader says so or reads the very same."""
    chance = random.Random(1)
    files = [_file(answer) for answer in ANSWERS]
    surprises: list[bytes] = []
    for number in range(count):
        name, data = files[number % len(files)]
        damaged = _damaged(data, chance)
        try:
            read = _read(name, damaged)
        except CorruptSnapshot:
            continue
        if read != _read(name, data):
            surprises.append(damaged)

    assert [] == surprises


def _forged(value: Any, chance: random.Random, depth: int = 0) -> Any:
    """Return a JSON value with something at some place replaced, taken out or added."""
    if depth > 12 or chance.random() < 0.12:
        return chance.choice(ODD)
    if isinstance(value, dict) and value:
        name = chance.choice(list(value))
        if chance.random() < 0.1:
            return {key: item for key, item in value.items() if key != name}
        return {key: _forged(item, chance, depth + 1) if key == name else item for key, item in value.items()}
    if isinstance(value, list) and value:
        place = chance.randrange(len(value))
        if chance.random() < 0.1:
            return [*value, value[place]]
        return [_forged(item, chance, depth + 1) if i == place else item for i, item in enumerate(value)]
    return chance.choice(ODD)


def _other(part: str, text: str, chance: random.Random) -> str:
    """Return the damaged text of a stream, or the base64 of damaged bytes."""
    if part == "text":
        return _damaged(text.encode(), chance).decode("utf-8", "replace")
    return base64.b64encode(_damaged(base64.b64decode(text), chance)).decode()


@pytest.mark.parametrize("count", [1_000, pytest.param(40_000, marks=pytest.mark.slow)])
def test_a_forged_answer_is_judged_or_unreadable_and_never_passes(count: int) -> None:
    """Sound files with bodies that no server sends: every one has a status, and what was never said is never found."""
    chance = random.Random(2)
    bench = Bench({}, World())
    statuses: set[Any] = set()
    passed: list[Any] = []
    for number in range(count):
        answer = ANSWERS[number % len(ANSWERS)]
        part = next(name for name in ("body", "text", "base64") if name in answer)
        forged = {
            **answer,
            part: _forged(answer[part], chance) if part == "body" else _other(part, answer[part], chance),
        }
        try:
            name, data = _file(forged)
        except (JsonError, TypeError):
            continue  # numbers and texts that a file cannot hold
        facts = bench.grade(_read(name, data), EXPECTED)
        statuses.add(facts["status"])
        if facts["status"] is None and not facts["findings"]:
            passed.append(forged)

    assert statuses <= STATUSES
    assert [] == passed


def test_the_checks_of_the_mutants_are_there() -> None:
    """The two tests above judge by checks that exist."""
    assert {"contains", "is_json"} <= CHECKS.keys()
