"""The snapshot file: its layout, its integrity, its name, and what its response may hold."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from snapshots import dialects, request, response, snapshot
from snapshots.errors import CorruptSnapshot

REQUEST = request.http_document(
    method="post",
    url="https://api.example.com/v1/chat/completions",
    headers={},
    body={"model": "m1", "messages": [{"role": "user", "content": "hi"}], "temperature": 1.0, "seed": 2**70},
)
NOON = 1_780_315_200  # 2026-06-01T12:00:00Z


def written(**members: Any) -> tuple[str, bytes]:
    """Return name and bytes of a small snapshot."""
    answered = members.pop("response", response.response(200, [("Content-Type", "text/plain")], b"hello"))
    rule = dialects.rule_for(REQUEST, answered)
    return snapshot.write(
        request=REQUEST,
        request_hash=request.request_hash(REQUEST),
        trial=0,
        answer_hash=dialects.answer_hash(rule, answered),
        answer_rule=rule,
        second=NOON,
        response=answered,
        meta={"target": "gpt"},
    )


def read(name: str, data: bytes) -> snapshot.Snapshot:
    """Read bytes under a name."""
    folder, _, file = name.partition("/")
    return snapshot.read(data, folder=folder, name=file, path=name)


def test_integrity_is_the_digest_of_all_bytes_before_its_line() -> None:
    """Anyone can recompute it with head and sha256sum."""
    _, data = written()
    head, _, tail = data.rpartition(b'"integrity"')

    assert f':"sha256:{hashlib.sha256(head).hexdigest()}"\n}}\n'.encode() == tail


def test_the_name_spells_the_members() -> None:
    """Request hash, trial, second, answer and integrity stand in the name."""
    name, data = written()
    members = json.loads(data)

    assert (
        f"{members['request_hash'][:2]}/{members['request_hash'][2:]}.0.20260601T120000Z"
        f".{members['answer_hash'][:16]}.{members['integrity'][7:15]}.json"
    ) == name


def test_what_is_read_is_what_was_written() -> None:
    """Numbers included: an integer beyond 64 bits keeps its digits, 1.0 is stored as the canonical 1."""
    found = read(*written())

    assert (2**70, 1, int) == (
        found.request["body"]["seed"],
        found.request["body"]["temperature"],
        type(found.request["body"]["temperature"]),
    )


def test_members_keep_the_authors_order() -> None:
    """The stored request is not sorted."""
    assert ["model", "messages", "temperature", "seed"] == list(read(*written()).request["body"])


def test_carriage_returns_before_line_feeds_are_no_damage() -> None:
    """CRLF is read as LF."""
    name, data = written()

    assert read(name, data) == read(name, data.replace(b"\n", b"\r\n"))


@pytest.mark.parametrize("position", [0, 40, 200, -80, -5])
def test_any_flipped_bit_is_corrupt(position: int) -> None:
    """Wherever a bit flips, the file is refused."""
    name, data = written()
    changed = bytearray(data)
    changed[position] ^= 1

    with pytest.raises(CorruptSnapshot):
        read(name, bytes(changed))


@pytest.mark.parametrize("field", range(5))
def test_a_name_that_says_something_else_is_corrupt(field: int) -> None:
    """Every part of the name must equal the file's own members."""
    name, data = written()
    folder, _, file = name.partition("/")
    parts = file.split(".")
    changed = {0: "0" * 62, 1: "7", 2: "20260601T120001Z", 3: "0" * 16, 4: "0" * 8}
    parts[field] = changed[field]

    with pytest.raises(CorruptSnapshot, match="name"):
        read(f"{folder}/{'.'.join(parts)}", data)


def test_a_missing_last_line_end_is_corrupt() -> None:
    """The file ends with a brace and a line end, exactly."""
    name, data = written()

    with pytest.raises(CorruptSnapshot):
        read(name, data[:-1])


def nested(depth: int) -> bytes:
    """Return a JSON text of nested arrays."""
    return b"[" * depth + b"]" * depth


@pytest.mark.parametrize("depth", [198, 199, 200])
def test_bodies_and_requests_may_be_as_deep_as_the_rule_says(depth: int) -> None:
    """200 containers are counted from the top of the body and of the document, whatever we wrap around them."""
    asked = {"a": json.loads(nested(depth - 1)), "seed": 2**70}
    answered = response.response(200, [], nested(depth))
    rule = dialects.rule_for(asked, answered)
    name, data = snapshot.write(
        request=asked,
        request_hash=request.request_hash(asked),
        trial=0,
        answer_hash=dialects.answer_hash(rule, answered),
        answer_rule=rule,
        second=NOON,
        response=answered,
        meta={},
    )

    assert (asked, "body" in answered) == (read(name, data).request, True)


def test_text_after_the_end_is_corrupt() -> None:
    """After the integrity line stands exactly a brace and a line end."""
    name, data = written()

    with pytest.raises(CorruptSnapshot):
        read(name, data + b" ")


@pytest.mark.parametrize(
    ("data", "member"),
    [
        pytest.param(b'{"z": 1, "a":  2.50}', {"body": {"z": 1, "a": 2.5}}, id="JSON"),
        pytest.param(b'{"a": 1, "a": 2}', {"text": '{"a": 1, "a": 2}'}, id="duplicate members stay text"),
        pytest.param(b'{"a": 18446744073709551616}', {"text": '{"a": 18446744073709551616}'}, id="beyond 64 bits stays text"),
        pytest.param(b'{"a": "\\ud800"}', {"text": '{"a": "\\ud800"}'}, id="half a surrogate pair stays text"),
        pytest.param(b'{"a": NaN}', {"text": '{"a": NaN}'}, id="NaN stays text"),
        pytest.param(b"[" * 201 + b"]" * 201, {"text": "[" * 201 + "]" * 201}, id="too deep stays text"),
        pytest.param(b"null", {"body": None}, id="null is a body"),
        pytest.param(b"", {"text": ""}, id="nothing"),
        pytest.param(b"\xff\x00", {"base64": "/wA="}, id="bytes"),
    ],
)  # fmt: skip
def test_a_body_is_kept_in_the_one_form_that_loses_nothing(data: bytes, member: dict[str, Any]) -> None:
    """JSON where JSON keeps every value, else text, else base64."""
    assert member == response.body_member(data)


def test_only_listed_headers_are_kept() -> None:
    """Cookies, keys and account names never reach the disk."""
    kept = response.response(
        200,
        [
            ("Content-Type", "application/json"),
            ("Set-Cookie", "a=b"),
            ("OpenAI-Organization", "acme"),
            ("X-Request-Id", "r1"),
        ],
        b"{}",
    )

    assert {"content-type": "application/json", "x-request-id": "r1"} == kept["headers"]
