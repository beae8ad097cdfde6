"""Batch files: what a provider's batch interface is given, and what it gives back. Each request goes by an id of its own.

OpenAI takes one JSON object a line, Anthropic one JSON object with all requests; both answer one object a line, in any
order, with refused, expired and cancelled requests among the answers or in a file of errors.

``manifest.jsonl`` beside the files keeps the request documents, so that answers are filed under what was asked even where
the suite has changed meanwhile, a target is gone, or a prompt was edited.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capture.plan import Job
from capture.transport import Reply
from snapshots import canonical, strict_json
from snapshots.errors import JsonError, UsageError

SCHEMA = "whichclock.batch/1"
MANIFEST = "manifest.jsonl"
URLS = {"openai": "/v1/chat/completions", "openai-responses": "/v1/responses", "embeddings": "/v1/embeddings"}
ANTHROPIC = "anthropic"
PATHS = {**URLS, ANTHROPIC: "/v1/messages"}
TYPES = tuple(PATHS)
_HASH_DIGITS = 48
_OK = 200


def custom_id(request_hash: str, trial: int) -> str:
    """Return the id of a request in a batch: at most 64 letters, digits and ``-``, which both providers take."""
    return f"{request_hash[:_HASH_DIGITS]}-{trial}"


def entry(job: Job, body: bytes) -> bytes:
    """Return the request of a job as its provider's batch file holds it."""
    name = custom_id(*job.identity).encode()
    kind = job.planned.target.type
    if kind == ANTHROPIC:
        return b'{"custom_id":"' + name + b'","params":' + body + b"}"
    url = URLS[kind].encode()
    return b'{"custom_id":"' + name + b'","method":"POST","url":"' + url + b'","body":' + body + b"}"


@dataclass(frozen=True, slots=True)
class Listed:
    """A request of a manifest. ``type`` is the target's type as it was: whose dialect the answer speaks."""

    custom_id: str
    request_hash: str
    trial: int
    target: str
    type: str
    cases: tuple[str, ...]
    request: dict[str, Any]


def manifest_line(job: Job) -> bytes:
    """Return the line that keeps a job in a manifest."""
    line = {
        "custom_id": custom_id(*job.identity),
        "request_hash": job.request_hash,
        "trial": job.trial,
        "target": job.planned.target.name,
        "type": job.planned.target.type,
        "cases": sorted(job.cases),
        "request": job.rendered.document,
    }
    return canonical.encode_ordered(line)


def read_manifest(path: Path, suite: str) -> list[Listed]:
    """Return the requests of a manifest.

    Raises:
        UsageError: it is none, cannot be read, or is another suite's.
    """
    try:
        lines = [strict_json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()]
        head, listed = lines[0], [_listed(line) for line in lines[1:]]
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    except (JsonError, ValueError, KeyError, TypeError, IndexError):
        raise UsageError(
            f"{path} is no batch manifest", hint="it is written by whichclock capture --batch-out DIR"
        ) from None
    if not isinstance(head, dict) or head.get("schema") != SCHEMA:
        raise UsageError(f"{path} is no batch manifest of {SCHEMA}")
    if head.get("suite") != suite:
        raise UsageError(
            f"{path} is a batch of suite {head.get('suite')!r}, this is {suite!r}", hint="two suites are never mixed"
        )
    return listed


def _listed(line: Mapping[str, Any]) -> Listed:
    listed = Listed(
        line["custom_id"],
        line["request_hash"],
        line["trial"],
        line["target"],
        line["type"],
        tuple(line["cases"]),
        line["request"],
    )
    texts: tuple[Any, ...] = (listed.target, *listed.cases)
    is_sound = (
        type(listed.trial) is int
        and listed.trial >= 0
        and listed.type in TYPES
        and bool(listed.cases)
        and all(isinstance(text, str) for text in texts)
        and _is_request(listed.request)
        and canonical.digest(listed.request) == listed.request_hash
        and listed.custom_id == custom_id(listed.request_hash, listed.trial)
    )
    if not is_sound:
        raise ValueError("a line of it was edited")
    return listed


def _is_request(value: Any) -> bool:
    """Tell whether a value is a request document as far as an answer is judged by it."""
    return (
        isinstance(value, dict)
        and value.get("transport") == "http"
        and all(isinstance(value.get(name), str) for name in ("method", "url"))
        and isinstance(value.get("headers", {}), dict)
        and isinstance(value.get("body"), dict)
    )


@dataclass(frozen=True, slots=True)
class Result:
    """What a provider says of one request: a reply, or why there is none."""

    custom_id: str
    reply: Reply | None
    error: str

    @property
    def is_answer(self) -> bool:
        """Tell whether the provider calls it an answer."""
        return self.reply is not None and self.reply.status == _OK


def read_results(path: Path) -> tuple[list[Result], list[str]]:
    """Return the results in a file of answers or of errors, and a complaint for each line that is none.

    Raises:
        UsageError: the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror or error}", hint="name the file that was downloaded"
        ) from None
    results: list[Result] = []
    faults: list[str] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            results.append(_result(line))
        except (JsonError, ValueError) as error:
            faults.append(f"line {number} of {path.name} is no batch result: {error}")
    return results, faults


def _result(data: bytes) -> Result:
    line, encode = _line(data)
    if not isinstance(line, dict) or not isinstance(line.get("custom_id"), str):
        raise ValueError("it has no custom_id")
    name = line["custom_id"]
    if isinstance(line.get("result"), dict):
        return _of_anthropic(name, line["result"], encode)
    response, error = line.get("response"), line.get("error")
    if isinstance(response, dict) and type(response.get("status_code")) is int and response["status_code"]:
        request_id = response.get("request_id")
        headers = (("x-request-id", request_id),) if isinstance(request_id, str) and request_id else ()
        return Result(name, Reply(response["status_code"], headers, encode(response.get("body")), None), "")
    if error:
        return Result(name, None, _words(error) or "an error")
    raise ValueError("it has neither response nor error")


def _line(data: bytes) -> tuple[Any, Callable[[Any], bytes]]:
    """Return a line's value, and what writes a part of it as the provider did.

    An answer that strict JSON has no place for, half a surrogate pair among the log probabilities for example, is an answer
    all the same; it is kept as its text, as one that was asked for directly.
    """
    try:
        return strict_json.loads(data), canonical.encode_ordered
    except JsonError as error:
        try:
            return json.loads(data, object_pairs_hook=_pairs), lambda value: json.dumps(value).encode()
        except (ValueError, RecursionError):
            raise error from None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(members := dict(pairs)) != len(pairs):
        raise ValueError("a member is given twice")  # one of the two would be lost
    return members


def _of_anthropic(name: str, result: Mapping[str, Any], encode: Callable[[Any], bytes]) -> Result:
    kind = result.get("type")
    if not isinstance(kind, str):
        raise ValueError("its result has no type")
    if kind == "succeeded" and isinstance(result.get("message"), dict):
        return Result(name, Reply(_OK, (), encode(result["message"]), None), "")
    words = _words(result.get("error"))
    return Result(name, None, f"{kind}{f': {words}' if words else ''}")


def _words(error: Any) -> str:
    if not isinstance(error, dict):
        return str(error) if error else ""
    inner = error.get("error")
    if isinstance(inner, dict):
        return _words(inner)
    parts = [str(error[name]) for name in ("code", "type", "message") if error.get(name)]
    return ": ".join(dict.fromkeys(parts))
