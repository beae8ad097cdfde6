"""Small inputs at which other recorders of model answers failed: keys, draws, streams, errors and envelopes."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from capture.run import Mode
from golden.recorded import envelope_of
from snapshots import canonical, strict_json
from snapshots.envelope import Envelope
from snapshots.errors import ConfigError, JsonError
from snapshots.snapshot import Snapshot
from tests.capture.conftest import Project, outcomes
from tests.capture.server import Asked, ModelServer, Say, completion, say, say_json
from tests.golden.rendering import HI, made

REPOSITORY = Path(__file__).parents[2]
STREAM = {"Content-Type": "text/event-stream"}


def key(**members: Any) -> str:
    return made("openai", {"request": {"messages": HI, **members}}, model="m1").request_hash


def stored(project: Project) -> list[Snapshot]:
    """Return the stored files in the order of their trials."""
    return sorted((project.store.read(found) for found in project.store.walk()), key=lambda one: one.trial)


def read(snapshot: Snapshot) -> Envelope:
    """Return the envelope that graders see."""
    return envelope_of(snapshot, None)


def text(project: Project) -> str:
    [one] = stored(project)
    return read(one)["text"]


def chunk(**choice: Any) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, **choice}]}


def events(*values: Any, ascii_only: bool = True) -> Say:
    lines = [v if isinstance(v, str) else json.dumps(v, ensure_ascii=ascii_only) for v in values]
    return Say("".join(f"data: {line}\n\n" for line in lines).encode("utf-8", "surrogatepass"), headers=STREAM)


# Keys.


SETTINGS: list[dict[str, Any]] = [
    {},
    {"temperature": None},
    {"temperature": 0},
    {"temperature": 0.7},
    {"top_p": 0.5},
    {"stop": ["x"]},
    {"stop": "x"},
    {"seed": 1},
    {"max_tokens": 5},
    {"response_format": {"type": "json_object"}},
    {"tool_choice": "none"},
    {"logit_bias": {"1": 1}},
    {"logit_bias": {"1": 1.5}},
    {"n": 2},
    {"frobnicate": 1},
    {"frobnicate": 2},
    {"seed": 2**63},
    {"seed": 2**63 + 1},
    {"seed": 9007199254740993},
    {"seed": 9007199254740992},
]


def test_every_setting_is_keyed_known_or_not() -> None:
    """Missing, null and zero are three; neighbours that a double cannot tell apart are two."""
    assert len(SETTINGS) == len({key(**members) for members in SETTINGS})


def test_numbers_that_are_equal_have_one_key() -> None:
    """RFC 8785: zero has no sign and no decimals."""
    zeros = [{"presence_penalty": zero} for zero in (-0.0, 0.0, 0)]

    assert 1 == len({key(**members) for members in zeros})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_json_has_no_number_for_is_in_no_request(value: float) -> None:
    """Refused, with its pointer."""
    with pytest.raises(ConfigError, match="/body/logit_bias/1"):
        key(logit_bias={"1": value})


def test_a_number_beyond_the_doubles_is_refused() -> None:
    """1e999 would be read as infinity."""
    with pytest.raises(JsonError):
        strict_json.loads(b'{"a": 1e999}')


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([{"role": "user", "content": "abc"}, {"role": "user", "content": "x"}],
         [{"role": "user", "content": "ab"}, {"role": "user", "content": "cx"}]),
        ([{"role": "user", "content": '","role":"user'}], [{"role": "user", "content": ""}, {"role": "user", "content": ""}]),
        ([{"role": "user", "content": "caf\u00e9"}], [{"role": "user", "content": "cafe\u0301"}]),
        ([{"role": "user", "content": "a\r\n"}], [{"role": "user", "content": "a\n"}]),
    ],
    ids=["a character moves over a border", "a text holds what separates", "composed and decomposed", "line ends"],
)  # fmt: skip
def test_texts_that_differ_have_two_keys(one: list[Any], other: list[Any]) -> None:
    """One unambiguous encoding of a structure, never a join, and no normalisation."""
    assert key(messages=one) != key(messages=other)


def test_two_hosts_have_two_keys_and_a_named_endpoint_one() -> None:
    """Also without a model; leaving the host out is the suite's explicit choice."""

    def hashed(url: str, **target: Any) -> str:
        return made("openai", {"request": {"messages": HI}}, base_url=url, **target).request_hash

    a, b = "http://host-a.example/v1", "http://host-b.example/v1"

    assert hashed(a) != hashed(b)
    assert hashed(a, endpoint="gw") == hashed(b, endpoint="gw")


def test_names_are_sorted_by_utf_16_units() -> None:
    """RFC 8785, section 3.2.3: U+1F600 (a surrogate pair, D83D) stands before U+FF20, U+10000 before U+E000."""
    assert '{"\U0001f600":1,"\uff20":2}'.encode() == canonical.encode({"\uff20": 2, "\U0001f600": 1})
    assert '{"\U00010000":1,"\ue000":2}'.encode() == canonical.encode({"\ue000": 2, "\U00010000": 1})


def test_two_processes_have_equal_keys() -> None:
    """Whatever their hash seeds are: no order of a set and no address of an object is in one."""
    code = "from tests.capture.test_known_faults import key; print(key(b={'x': [1, 'a'], 'y': None}, a=1))"
    env = {"PYTHONPATH": str(REPOSITORY)}
    printed = {
        subprocess.run(
            [sys.executable, "-c", code], env={**env, "PYTHONHASHSEED": seed}, check=True, capture_output=True, cwd=REPOSITORY
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip

    assert {f"{key(b={'x': [1, 'a'], 'y': None}, a=1)}\n".encode()} == printed


# Draws.


def test_five_trials_are_five_draws_and_the_same_five_afterwards(one: Project, server: ModelServer) -> None:
    """The trial is sent to nobody, and is no part of the hash."""
    server.fallback = lambda _asked: say(f"draw {len(server.asked)}")
    one.write({"id": "hello", "prompt": "hello"}, target="concurrency = 1")
    first, second = one.capture(trials=5), one.capture(trials=5)

    assert (["recorded"] * 5, ["replayed"] * 5, 5) == (outcomes(first), outcomes(second), len(server.asked))
    assert [f"draw {i}" for i in range(1, 6)] == [read(s)["text"] for s in stored(one)]
    assert 1 == len({row.request_hash for row in first.rows}) == len({asked.body for asked in server.asked})


def test_trials_that_run_at_once_do_not_cross(project: Project, server: ModelServer) -> None:
    """Each answer is filed under the request that it answers, whichever comes first."""
    server.fallback = lambda asked: say(f"{asked.prompt} #{len(server.asked)}")
    project.write(*({"id": f"c{i}", "prompt": f"p{i}"} for i in range(8)), target="concurrency = 16")
    project.capture(trials=3)
    found = [(s.request["body"]["messages"][0]["content"], read(s)["text"].split(" ")[0]) for s in stored(project)]

    assert 24 == len(found) == len({(s.request_hash, s.trial) for s in stored(project)})
    assert [] == [pair for pair in found if pair[0] != pair[1]]


def test_raising_the_trials_keeps_what_is_there(one: Project, server: ModelServer) -> None:
    """One draw, then three: the first is reused."""
    one.capture(trials=1)

    assert ["replayed", "recorded", "recorded"] == outcomes(one.capture(trials=3))
    assert 3 == len(server.asked)


# Errors and refusals.


def test_each_kind_of_refusal_is_kept_apart(project: Project, server: ModelServer) -> None:
    """A filtered answer is an answer with its reason; a 429 and a 200 with an error are none, and the one after them is."""
    replies = {
        "filtered": [say("", finish="content_filter")],
        "busy": [say_json({"error": "slow"}, 429), say("after busy")],
        "error": [say_json({"error": {"message": "no"}}), say("after error")],
    }
    server.fallback = lambda asked: replies[asked.prompt].pop(0)
    project.write(*({"id": name, "prompt": name} for name in replies))

    assert ["recorded"] * 3 == outcomes(project.capture())
    found = {s.request["body"]["messages"][0]["content"]: s for s in stored(project)}
    told = {name: (read(s)["text"], read(s)["finish_reason"], s.meta["attempts"]) for name, s in found.items()}
    assert {
        "filtered": ("", "content_filter", 1),
        "busy": ("after busy", "stop", 2),
        "error": ("after error", "stop", 2),
    } == told
    assert ["replayed"] * 3 == outcomes(project.capture(Mode.REPLAY))


# Streams.


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\u0085", "\u000b", "\u000c", "\u001c", "\u001d", "\u001e"])
def test_only_line_ends_of_the_protocol_end_an_event(one: Project, server: ModelServer, odd: str) -> None:
    """Other characters that Unicode calls line ends belong to the text; the end of the answer is seen."""
    raw = events(chunk(delta={"content": "aODDb"}), chunk(finish_reason="stop"), "[DONE]").body.replace(
        b"ODD", odd.encode()
    )
    escaped = raw if odd > "\x1f" else raw.replace(odd.encode(), f"\\u{ord(odd):04x}".encode())
    server.replies = [Say(escaped, headers=STREAM)]

    assert ["recorded"] == outcomes(one.capture())
    assert f"a{odd}b" == text(one)


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param([], id="nothing"),
        pytest.param(["[DONE]"], id="DONE without a finish reason"),
        pytest.param([{"error": {"message": "overloaded"}}], id="an error"),
        pytest.param([{"error": {"message": "overloaded"}}, "[DONE]"], id="an error and DONE"),
    ],
)
def test_a_stream_without_its_end_is_no_answer(one: Project, server: ModelServer, ending: list[Any]) -> None:
    """Status 200 and text are not enough."""
    one.write({"id": "hello", "prompt": "hello"}, target="retries = 0")
    server.replies = [events(chunk(delta={"content": "a"}), chunk(delta={"content": "b"}), *ending)]

    assert (["failed"], []) == (outcomes(one.capture()), one.files())


def test_half_a_character_in_each_of_two_events_is_one_character(one: Project, server: ModelServer) -> None:
    """The escapes of a surrogate pair, parted; the whole run survives a half that stays alone."""
    pair = events(
        chunk(delta={"content": "\ud83d"}), chunk(delta={"content": "\ude00"}), chunk(finish_reason="stop"), "[DONE]"
    )
    server.replies = [pair]

    assert ["recorded"] == outcomes(one.capture())
    assert "\U0001f600" == text(one)


@pytest.mark.parametrize("where", ["text", "tool"])
def test_half_a_character_ends_no_run(project: Project, server: ModelServer, where: str) -> None:
    """It stays the escape that it was, and the other case is recorded too."""
    half = {"content": "\ud83d"}
    called = {
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": "\ud83d"}'}}]
    }
    server.fallback = lambda asked: (
        say(None, **(half if where == "text" else called)) if asked.prompt == "bye" else say("ok")
    )

    assert ["recorded", "recorded"] == outcomes(project.capture())
    assert 1 == sum(rb"\ud83d" in path.read_bytes() for path in project.files())


# Envelopes.


def test_an_answer_is_kept_as_it_was_received(one: Project, server: ModelServer) -> None:
    """The members in their order, whatever the spaces; logprobs, usage, choices and fingerprint too."""
    body = {
        "z": 1,
        **completion("A"),
        "a": {"m": [1.5, 1e-7, -0.0], "b": None},
        "system_fingerprint": "fp_1",
    }
    body["choices"].append({"index": 1, "message": {"role": "assistant", "content": "B"}, "finish_reason": "stop", "logprobs": {"content": [{"token": "B", "logprob": -0.25}]}})  # fmt: skip
    server.replies = [
        Say(json.dumps(body, separators=(",  ", ":  ")).encode(), headers={"Content-Type": "application/json"})
    ]
    one.capture()
    [found] = stored(one)

    assert json.dumps(body) == json.dumps(found.response["body"])
    envelope = read(found)
    assert ("A", "B") == (envelope["text"], envelope["choices"][1]["text"])
    assert -0.25 == envelope["raw"]["choices"][1]["logprobs"]["content"][0]["logprob"]


@pytest.mark.parametrize("literal", ["NaN", "-Infinity", "1e999", "123456789012345678901234567890"])
def test_a_number_that_json_cannot_hold_is_kept_as_text(one: Project, server: ModelServer, literal: str) -> None:
    """Among the logprobs of a whole answer: nothing of it changes its value, and its text is read."""
    data = json.dumps(completion("A")).replace('"index": 0,', f'"index": 0, "logprobs": {{"x": {literal}}},').encode()
    server.replies = [Say(data, headers={"Content-Type": "application/json"})]

    assert ["recorded"] == outcomes(one.capture())
    [found] = stored(one)
    assert (data.decode(), "A") == (found.response["text"], read(found)["text"])


@pytest.mark.parametrize(
    ("depth", "outcome"),
    [(100, "recorded"), (199, "recorded"), (200, "failed"), (1_000, "failed"), (100_000, "failed")],
)
def test_deep_nesting_ends_no_run(project: Project, server: ModelServer, depth: int, outcome: str) -> None:
    """The limit is 200 containers, the same everywhere; beyond it one row has failed, and the other is recorded."""
    deep = json.dumps(completion("A"))[:-1] + ', "deep": ' + "[" * depth + "]" * depth + "}"
    server.fallback = lambda asked: Say(deep.encode()) if asked.prompt == "bye" else say("ok")
    project.write({"id": "hello", "prompt": "hello"}, {"id": "bye", "prompt": "bye"}, target="retries = 0")

    assert ["recorded", outcome] == outcomes(project.capture())


def test_bytes_that_are_no_text_are_read_back_equal(tmp_path: Path, server: ModelServer) -> None:
    """0xFF 0x00 of a service: kept in base64, never decoded with replacement characters."""
    (tmp_path / "whichclock.toml").write_text(
        f'suite = "s"\ncases = ["cases.jsonl"]\n[targets.t]\ntype = "http"\nurl = "{server.url}"\nmethod = "GET"\n'
    )
    (tmp_path / "cases.jsonl").write_text('{"id": "c", "prompt": "hi"}\n')
    project = Project(tmp_path, server.url)
    server.fallback = lambda _asked: Say(b"\xff\x00")

    assert ["recorded"] == outcomes(project.capture())
    assert "/wA=" == stored(project)[0].response["base64"]


COMPLETE = json.dumps(completion("A")).encode()
PACKED = gzip.compress(COMPLETE, mtime=0)


@pytest.mark.parametrize(
    ("body", "outcome"),
    [(b"", "failed"), (PACKED, "recorded"), (PACKED[:-12], "failed"), (PACKED[: len(PACKED) // 2], "failed")],
    ids=["empty", "whole", "without its end", "half"],
)
def test_a_packed_answer_is_unpacked_whole_or_not_at_all(
    one: Project, server: ModelServer, body: bytes, outcome: str
) -> None:
    """Cut in half, it is no answer, and no end of it is made up."""
    one.write({"id": "hello", "prompt": "hello"}, target="retries = 0")
    server.replies = [Say(body, headers={"Content-Encoding": "gzip", "Content-Type": "application/json"})]

    assert [outcome] == outcomes(one.capture())
    assert ["A"] * (outcome == "recorded") == [read(found)["text"] for found in stored(one)]


def test_a_body_is_sent_whole_at_every_attempt(one: Project, server: ModelServer) -> None:
    """Read once into bytes: the second attempt is the first, and both are what is keyed."""
    seen: list[Asked] = server.asked
    server.replies = [say_json({"error": "busy"}, 503), say("A")]
    one.capture()

    assert (2, seen[0].body) == (len(seen), seen[1].body)
    [found] = stored(one)
    assert found.request["body"] == seen[0].json
