"""One snapshot file, format ``whichclock.snapshot/1``: this request, asked for this trial, got this answer at this second.

    <2 hex>/<62 hex>.<trial>.<UTC second>.<answer 16>.<integrity 8>.json

Each top-level member stands on a line of its own, in a fixed order. ``integrity`` is the last: the SHA-256 of all bytes before its line,
CRLF read as LF; after it stands exactly ``}`` and a line end. Every read checks it and that every part of the name equals the file's own
members. Nothing here writes, repairs or deletes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from snapshots import canonical, instant, strict_json
from snapshots.errors import CorruptSnapshot, JsonError

SCHEMA = "whichclock.snapshot/1"
WRAPPED = 2
"""Containers of the file around a response's body; one fewer stands around the request."""
_NAME = re.compile(
    r"(?P<tail>[0-9a-f]{62})\.(?P<trial>0|[1-9][0-9]{0,8})\.(?P<second>[0-9]{8}T[0-9]{6}Z)"
    r"\.(?P<answer>[0-9a-f]{16})\.(?P<integrity>[0-9a-f]{8})\.json"
)
_INTEGRITY = re.compile(rb'\n"integrity":"sha256:([0-9a-f]{64})"\n\}\n\Z')
_FOLDER = re.compile("[0-9a-f]{2}")
_RECORDED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_MEMBERS = (
    "schema", "request_hash", "trial", "answer_hash", "answer_rule", "recorded_at", "request", "response", "meta", "integrity",
)  # fmt: skip
_TYPES = (str, str, int, str, str, str, dict, dict, dict, str)


@dataclass(slots=True)  # not frozen: that would cost as much as parsing does
class Snapshot:
    """One sound observation. ``request`` and ``response`` are plain JSON values that callers must not change."""

    request_hash: str
    trial: int
    answer_hash: str
    answer_rule: str
    recorded_at: str
    request: dict[str, Any]
    response: dict[str, Any]
    meta: dict[str, Any]
    integrity: str

    @property
    def name(self) -> str:
        """Return the file's path under ``sha256/``, with a forward slash."""
        second = instant.compact_of(self.recorded_at)
        return (
            f"{self.request_hash[:2]}/{self.request_hash[2:]}.{self.trial}.{second}"
            f".{self.answer_hash[:16]}.{self.integrity[:8]}.json"
        )


def write(
    *,
    request: Mapping[str, Any],
    request_hash: str,
    trial: int,
    answer_hash: str,
    answer_rule: str,
    second: int,
    response: Mapping[str, Any],
    meta: Mapping[str, Any],
) -> tuple[str, bytes]:
    """Return the name under ``sha256/`` and the bytes of a new snapshot file.

    Args:
        second: the recording's UTC second since 1970.

    Raises:
        JsonError: a part has no JSON form.
    """
    recorded_at = instant.extended(second)
    lines = [
        b'"schema":' + orjson.dumps(SCHEMA),
        b'"request_hash":' + orjson.dumps(request_hash),
        b'"trial":' + str(trial).encode(),
        b'"answer_hash":' + orjson.dumps(answer_hash),
        b'"answer_rule":' + orjson.dumps(answer_rule),
        b'"recorded_at":' + orjson.dumps(recorded_at),
        b'"request":' + canonical.encode_ordered(dict(request)),
        b'"response":' + orjson.dumps(response),
        b'"meta":' + orjson.dumps(meta),
    ]
    head = b"{\n" + b",\n".join(lines) + b",\n"
    integrity = hashlib.sha256(head).hexdigest()
    data = head + b'"integrity":"sha256:' + integrity.encode() + b'"\n}\n'
    made = Snapshot(
        request_hash, trial, answer_hash, answer_rule, recorded_at, dict(request), dict(response), dict(meta), integrity
    )
    return made.name, data


def read(data: bytes, *, folder: str, name: str, path: str) -> Snapshot:
    """Read and check the bytes of a snapshot file.

    Args:
        data: the file's bytes.
        folder: name of its folder, two hex digits.
        name: its file name.
        path: how messages call it.

    Raises:
        CorruptSnapshot: the file is not what its name, its digest or its shape says.
    """
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")  # a checkout that changes line ends is no damage
    found = _INTEGRITY.search(data, max(0, len(data) - 120))
    if found is None:
        raise _corrupt(path, "it does not end with its integrity line (cut off, or edited)" if data else "it is empty")
    head = data[: found.start() + 1]
    integrity = found[1].decode()
    if hashlib.sha256(head).hexdigest() != integrity:
        raise _corrupt(path, "its bytes do not match its integrity digest")
    value = _parse(data, path)
    _check_shape(value, path)
    snapshot = Snapshot(
        value["request_hash"], value["trial"], value["answer_hash"], value["answer_rule"], value["recorded_at"],
        value["request"], value["response"], value["meta"], integrity,
    )  # fmt: skip
    if snapshot.name != f"{folder}/{name}":
        raise _corrupt(path, "its name is not the one that its members spell", hint=f"its own name is {snapshot.name}")
    return snapshot


def integrity_of(data: bytes) -> str | None:
    """Return the integrity digest of a file whose bytes match it, or ``None``: the cheapest look at a file that was read before."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    found = _INTEGRITY.search(data, max(0, len(data) - 120))
    if found is None or hashlib.sha256(data[: found.start() + 1]).hexdigest() != found[1].decode():
        return None
    return found[1].decode()


def _parse(data: bytes, path: str) -> Any:
    try:
        # Only requests may hold integers beyond 64 bits: a response that does is kept as text.
        start, end = data.find(b'\n"request":'), data.find(b'\n"response":')
        if strict_json.may_exceed_64_bits(data[start:end]):
            return strict_json.loads(data, wrapped=WRAPPED)
        return orjson.loads(data)
    except (orjson.JSONDecodeError, JsonError) as error:
        raise _corrupt(path, f"it is no JSON ({error})") from None


def _check_shape(value: Any, path: str) -> None:
    # By hand and not by JSON Schema: this stands on the hot path, where a schema costs more than the reading.
    if type(value) is not dict or tuple(value) != _MEMBERS or value["schema"] != SCHEMA:
        other = value.get("schema") if isinstance(value, dict) else None
        if isinstance(other, str) and other.startswith("whichclock.snapshot/") and other != SCHEMA:
            raise _corrupt(
                path, f"its format {other} is not one that this version reads", hint="use a newer whichclock"
            )
        raise _corrupt(path, f"it does not have the members of {SCHEMA}")
    if tuple(map(type, value.values())) != _TYPES or value["trial"] < 0:
        raise _corrupt(path, "a member has the wrong type")
    if not _RECORDED.fullmatch(value["recorded_at"]):
        raise _corrupt(path, "recorded_at is no UTC second")
    response = value["response"]
    bodies = ("body" in response) + ("text" in response) + ("base64" in response)
    if type(response.get("status")) is not int or bodies != 1:
        raise _corrupt(path, "its response has no status or not exactly one body")
    if not isinstance(response.get("text", ""), str) or not isinstance(response.get("base64", ""), str):
        raise _corrupt(path, "its response has a body of the wrong type")


def _corrupt(path: str, reason: str, *, hint: str = "") -> CorruptSnapshot:
    return CorruptSnapshot(
        f"corrupt snapshot {path}: {reason}",
        hint=hint or "restore the file from git or a copy; it is never repaired, deleted or asked again",
    )


@dataclass(slots=True)
class NameParts:
    """What a file name says before the file is opened."""

    request_hash: str
    trial: int
    second: int
    answer: str
    integrity: str


def parse_name(folder: str, name: str) -> NameParts | None:
    """Return what a name under ``sha256/`` says, or ``None`` where it is no snapshot's name."""
    found = _NAME.fullmatch(name)
    if found is None or _FOLDER.fullmatch(folder) is None:
        return None
    tail, trial, text, answer, integrity = found.groups()
    second = _second(text)
    return None if second is None else NameParts(folder + tail, int(trial), second, answer, integrity)


@lru_cache(maxsize=4096)  # the files of one capture share few seconds
def _second(text: str) -> int | None:
    try:
        return instant.parse_compact(text)
    except ValueError:
        return None
