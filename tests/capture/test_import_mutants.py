"""Damaged cassettes, by the thousand: each ends in a message or in counted entries, soon, and never in a crash."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest

from capture import cassette
from capture.import_plan import plan
from capture.import_vcr import rules
from golden.redaction import Redaction
from snapshots import dialects
from snapshots.errors import UnreadableSnapshot, UsageError
from tests.capture import cassettes
from tests.capture.cassettes import asked, interaction, said
from tests.capture.test_import_layouts import VERSION_0
from tests.snapshots import frames

RULES = rules(Redaction(), endpoint=None, accepted=())
CHUNK = {"choices": [{"index": 0, "delta": {"content": "A"}, "finish_reason": "stop"}]}
FRAMES = frames.stream(
    frames.event("messageStart", role="assistant"), frames.event("messageStop", stopReason="end_turn")
)
PARSED = {**interaction(), "response": {"parsed_body": json.loads(said("A")), "headers": {}, "status": {"code": 200}}}
ENTRIES = [
    interaction(),
    interaction(asked("R"), {"string": gzip.compress(said("A").encode(), mtime=0)}, content_encoding="gzip"),
    interaction(asked("S"), {"string": f"data: {json.dumps(CHUNK)}\n\ndata: [DONE]\n\n"}),
    interaction(
        answer={"string": base64.b64decode(FRAMES["base64"])}, url="https://b.example.com/model/m/converse-stream"
    ),
    PARSED,
]
PLAIN = [interaction(), ENTRIES[2], PARSED, interaction(asked("T"), {"base64_string": FRAMES["base64"]})]
SEEDS: list[tuple[bytes, bool]] = [
    (cassettes.text(*ENTRIES).encode(), False),
    (VERSION_0.encode(), False),
    (json.dumps({"interactions": PLAIN}).encode(), True),
    (json.dumps({"interactions": PLAIN}, indent=1).encode(), False),
]
TOKENS = [
    b"[" * 400, b"{" * 400, b"9" * 5000, b"1e999", b"-0", b"NaN", b".inf", b"\xff", b"\xed\xa0\x80", b"\xc3", b"\0", b"\xef\xbb\xbf",
    b"!!python/object/apply:os.system ", b"!!binary ", b"!!float ", b"!x ", b"&a ", b"*a ", b"? ", b"<<: ", b"null", b"true", b"7", b"''",
    b"[]", b"{}", b"- ", b": ", b"\n", b"\r", b"\t", b"|\n ", b"'", b'"', b"\\ud83d", b"---\n", b"...\n", b"%YAML 9.9\n", b"data: ", b"\xe2\x80\xa8",
    b"https://[", b"99999999999999999999", b"1970-01-01", b"&a [*a]", b"!<tag:yaml.org,2002:python/name:os.system> ",
]  # fmt: skip


def deep(levels: int) -> Any:
    """Return a list within a list, so many times."""
    return [deep(levels - 1)] if levels else []


ODD = [
    None,
    True,
    7,
    -1,
    0.5,
    10**30,
    float("nan"),
    "",
    "x",
    "\u2028",
    [],
    {},
    [[]],
    [None],
    {"a": None},
    [7],
    "9" * 500,
    [1] * 500,
    deep(150),
]


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every part of a value."""
    yield at
    for name, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(item, (*at, name))


def replaced(value: Any, way: tuple[Any, ...], new: Any) -> Any:
    """Return a value in which one part is another."""
    if not way:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[way[0]] = replaced(value[way[0]], way[1:], new)
    return copy


def swaps(count: int, seed: int) -> Iterator[bytes]:
    """Yield cassettes of sound JSON in which parts are of another type; bodies of answers are opened, too."""
    chance = random.Random(seed)
    whole: Any = {"interactions": PLAIN}
    bodies = [json.loads(said("A")), CHUNK, json.loads(asked("Q"))]
    for _ in range(count):
        value = whole
        for _ in range(chance.choice((1, 1, 2, 3))):
            value = replaced(value, chance.choice(list(places(value))[1:] or [()]), chance.choice(ODD))
        body = chance.choice(bodies)
        body = replaced(body, chance.choice(list(places(body))[1:]), chance.choice(ODD))
        entries = value.get("interactions") if isinstance(value, dict) else None
        more = interaction(
            asked("body"), chance.choice([{"string": json.dumps(body)}, f"data: {json.dumps(body)}\n\n"])
        )
        yield json.dumps({"interactions": [*(entries if isinstance(entries, list) else [value]), more]}).encode()


def mutants(count: int, seed: int) -> Iterator[tuple[bytes, bool]]:
    """Yield damaged cassettes, the same for one seed."""
    chance = random.Random(seed)
    for _ in range(count):
        data, is_json = chance.choice(SEEDS)
        for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
            at, end = sorted((chance.randrange(len(data) + 1), chance.randrange(len(data) + 1)))
            kind = chance.randrange(8)
            if kind == 0 and at < len(data):
                data = data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
            elif kind == 1:
                data = data[:end]
            elif kind == 2:
                data = data[:at] + data[min(end, at + 40) :]
            elif kind == 3:
                data = data[:end] + data[at:end][:200] + data[end:]
            elif kind == 4:
                data = data[:at] + chance.choice(TOKENS) + data[at:]
            elif kind in (5, 6):
                data = swapped(data, at, chance.choice(TOKENS))
            else:
                lines = data.split(b"\n")
                chance.shuffle(lines) if len(lines) < 60 else lines.reverse()
                data = b"\n".join(lines)
        yield data, is_json


def swapped(data: bytes, at: int, token: bytes) -> bytes:
    """Return data in which the value after the next colon is another one, of another type."""
    start = data.find(b": ", at)
    if start < 0:
        return data
    ends = [found for mark in (b"\n", b",", b"}") if (found := data.find(mark, start + 2)) > 0]
    return data[: start + 2] + token + data[min(ends, default=len(data)) :]


def judge(data: bytes, is_json: bool) -> None:
    """Import a damaged cassette up to the store, and read what it gives."""
    try:
        planned = plan(cassette.parse(data, is_json=is_json), RULES)
    except UsageError:
        return
    assert planned.entries == sum(made.entries for made in planned.made) + len(planned.refused)
    for made in planned.made:
        snapshot = json.loads(made.data)
        with contextlib.suppress(UnreadableSnapshot):
            dialects.read(made.reader, snapshot["response"])


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_cassette_ends_in_a_message_or_in_counted_entries(seed: int) -> None:
    """Some hundreds of each kind."""
    for data, is_json in mutants(150, seed):
        judge(data, is_json)
    for data in swaps(150, seed):
        judge(data, is_json=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_thousands_of_damaged_cassettes_end_soon(seed: int) -> None:
    """20,000 in all; none takes a second."""
    damaged = [*mutants(500, 1000 + seed), *((data, True) for data in swaps(500, 1000 + seed))]
    for data, is_json in damaged:
        before = time.process_time()
        judge(data, is_json)

        assert time.process_time() - before < 1, data[:200]
