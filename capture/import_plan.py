"""What one cassette gives the store: snapshots by name, and for each entry what becomes of it. Reads and writes nothing.

Each file is judged by itself, so that stores are equal whatever was imported before: the first answer to a request in a file is its
trial 0, the next one its trial 1. The same request in two files is the same trial, observed twice; the later second is the current one.
A file in which all answers to a request are one and the same recording, repeated, gives trial 0 alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from capture.cassette import Cassette, interaction
from capture.import_answer import answer, second
from capture.import_request import document
from capture.result import Ended
from capture.storable import Storable
from golden.model import MAX_ENTRY_BYTES
from snapshots import dialects, request, snapshot
from snapshots.errors import CallError, JsonError


@dataclass(frozen=True, slots=True)
class Rules:
    """How entries are taken: the name of their endpoint, other statuses that are answers, and what may be written."""

    endpoint: str | None
    accepted: frozenset[int]
    storable: Storable
    meta: dict[str, Any]
    redact: Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An entry that is not stored."""

    index: int
    reason: str


@dataclass(frozen=True, slots=True)
class Made:
    """A snapshot file, and how many entries of the cassette it stands for."""

    name: str
    data: bytes
    request_hash: str
    trial: int
    reader: str
    entries: int


@dataclass(slots=True)
class Plan:
    """What becomes of the entries of a cassette: the numbers of entries of ``made`` and ``refused`` are all there are."""

    entries: int
    tagged: bool
    made: list[Made] = field(default_factory=list[Made])
    refused: list[Refusal] = field(default_factory=list[Refusal])


@dataclass(frozen=True, slots=True)
class _Ready:
    index: int
    document: dict[str, Any]
    response: dict[str, Any]
    second: int


def plan(cassette: Cassette, rules: Rules) -> Plan:
    """Return what a cassette gives the store."""
    made = Plan(len(cassette.entries), cassette.tagged)
    draws: dict[str, list[_Ready]] = {}
    for index, entry in enumerate(cassette.entries):
        try:
            one = _ready(index, entry, rules)
            draws.setdefault(_hash(one.document), []).append(one)
        except CallError as error:
            made.refused.append(Refusal(index, error.message))
    for request_hash, answers in draws.items():
        repeated = len(answers) if _is_one(answers) else 1
        for trial, one in enumerate(answers[:1] if repeated > 1 else answers):
            try:
                made.made.append(_made(one, request_hash, trial, repeated, rules))
            except CallError as error:
                made.refused += [Refusal(other.index, error.message) for other in answers[trial : trial + repeated]]
    made.refused.sort(key=lambda refusal: refusal.index)
    return made


def _is_one(answers: list[_Ready]) -> bool:
    """Tell whether all answers are one recording: received at one second, in equal bytes."""
    if len({one.second for one in answers}) > 1:
        return False
    return len(answers) == 1 or len({orjson.dumps(one.response) for one in answers}) == 1


def _ready(index: int, entry: Any, rules: Rules) -> _Ready:
    recorded = interaction(entry)
    asked = rules.redact(document(recorded, rules.endpoint))
    refused = rules.storable.refuse_request(asked)
    if refused is not None:
        raise CallError(refused.error or "")
    got = answer(recorded, asked, rules.accepted)
    kept = rules.storable.response(asked, got)
    if isinstance(kept, Ended):
        raise CallError(kept.error or "")
    return _Ready(index, asked, kept, second(recorded))


def _hash(asked: dict[str, Any]) -> str:
    try:
        return request.request_hash(asked)
    except JsonError as error:
        raise CallError(f"the request has no canonical form: {error.message}") from None


def _made(one: _Ready, request_hash: str, trial: int, entries: int, rules: Rules) -> Made:
    rule = dialects.rule_for(one.document, one.response)
    try:
        name, data = snapshot.write(
            request=one.document,
            request_hash=request_hash,
            trial=trial,
            answer_hash=dialects.answer_hash(rule, one.response),
            answer_rule=rule,
            second=one.second,
            response=one.response,
            meta=rules.meta,
        )
    except (JsonError, TypeError, ValueError) as error:
        raise CallError(f"the answer cannot be written: {error}") from None
    if len(data) > MAX_ENTRY_BYTES:
        raise CallError(f"the snapshot would be larger than {MAX_ENTRY_BYTES >> 20} MiB")
    return Made(name, data, request_hash, trial, dialects.reader_for(one.document, one.response)[0], entries)
