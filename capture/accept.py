"""What a reply is worth: an answer that is kept, a failure that may pass, or one that will not.

Kept: 2xx answers that are complete, content filter refusals sent as 400, and the statuses that a target accepts.
Never kept: 408, 409, 429, 5xx, and whatever stands in a 2xx without being a whole answer: a cut stream, an error
object, no choices, no JSON. A program's answer is kept where it exits with 0 and says what the protocol asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from capture import cut
from capture.retry import is_transient, passes
from capture.transport import Reply
from golden.model import Target
from snapshots import dialects, response, sse
from snapshots.errors import UnreadableSnapshot
from snapshots.reading import Reading

_MESSAGE_BYTES = 64 << 10
_CREDENTIAL = "the server does not accept the credential: check the variable that the target's api_key names"
_NO_CONTENT = 204
# The reader of what each type of target answers, and how an answer without it is told. Others take any answer.
_SPOKEN = {
    "openai": ("openai-chat", "chat completion: it has no choices"),
    "openai-responses": ("openai-responses", "response: it has no output"),
    "anthropic": ("anthropic", "message: it has no content"),
    "gemini": ("gemini", "generated content: it has no candidates"),
    "embeddings": ("embeddings", "list of embeddings"),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply that may be stored. ``response`` is the member as it is stored, ``reading`` what today's reader makes of it."""

    response: dict[str, Any]
    reading: Reading | None

    @property
    def model(self) -> str | None:
        """Return the model that it reports."""
        return None if self.reading is None else self.reading.model

    @property
    def is_unexplained_empty(self) -> bool:
        """Tell whether there is nothing in it and nothing says why."""
        return self.reading is not None and self.reading.is_unexplained_empty


@dataclass(frozen=True, slots=True)
class Failure:
    """A reply that is never stored. ``reason`` holds the target's words and must be scrubbed before anyone sees it.

    ``after_s`` is how many seconds a program asks to be left alone, ``words`` what it said last.
    """

    reason: str
    passing: bool
    hint: str = ""
    after_s: float | None = None
    words: str = ""


def judge(
    reply: Reply, document: Mapping[str, Any], target: Target, program: Mapping[str, str] | None = None
) -> Answer | Failure:
    """Return what a reply is worth.

    Args:
        reply: what the target sent.
        document: the request document that it answers.
        target: whom was asked.
        program: the digests of the program's files, for an exec target.
    """
    kept = response.response(reply.status, reply.headers, reply.data)
    if document["transport"] == "exec":
        return _judge_program(reply, document, target, {**kept, **({"program": dict(program)} if program else {})})
    if target.volatile:
        kept["volatile"] = sorted(target.volatile)
    if is_transient(reply.status):
        return Failure(f"HTTP {reply.status}{_words(kept, reply.data)}", passing=passes(reply.status))
    if 200 <= reply.status < 300:
        missing = _missing(document, kept, target, reply)
        if missing is None:
            return _answer(document, kept, target)
        return Failure(f"HTTP {reply.status}, but {missing}{_words(kept, reply.data)}", passing=True)
    if reply.status in target.accept_status or (reply.status == 400 and dialects.is_filtered(document, kept)):
        return _answer(document, kept, target)
    if 300 <= reply.status < 400:
        # Without its query, which may repeat what was sent, and spelled out, so that what may not be shown is recognised.
        where = unquote((reply.header("location") or "nowhere").partition("?")[0].partition("#")[0])
        return Failure(
            f"HTTP {reply.status}: a redirect to {where} is not followed, for it would send the key there",
            passing=False,
        )
    hint = _CREDENTIAL if reply.status == 401 else ""
    return Failure(f"HTTP {reply.status}{_words(kept, reply.data)}", passing=False, hint=hint)


def _answer(document: Mapping[str, Any], kept: dict[str, Any], target: Target) -> Answer:
    reader, _ = dialects.reader_for(document, kept, target.select)
    try:
        return Answer(kept, dialects.read(reader, kept, target.select))
    except UnreadableSnapshot:
        # Kept as it is: a better reader will apply to everything already recorded.
        return Answer(kept, None)


def _missing(document: Mapping[str, Any], kept: Mapping[str, Any], target: Target, reply: Reply) -> str | None:
    """Return why a reply is no answer of the dialect that its target speaks, received to its end, or ``None`` where it is one."""
    reader, _ = dialects.reader_for(document, kept)
    if target.type in _SPOKEN or reader != dialects.RAW_READER:
        is_spoken = reader == _SPOKEN.get(target.type, (reader,))[0]
        return None if is_spoken and dialects.is_complete(document, kept) else _incomplete(kept, target)
    if not reply.data:
        return None if reply.status == _NO_CONTENT else "the body is empty"
    return cut.fault(document, kept, reply.data, reply.header("content-type") or "")


def _judge_program(reply: Reply, document: Mapping[str, Any], target: Target, kept: dict[str, Any]) -> Answer | Failure:
    words = reply.words.strip()
    body = kept.get("body")
    error = body.get("error") if isinstance(body, dict) else None
    if reply.status != 0 and reply.status not in target.accept_status:
        how = f"ended by signal {-reply.status}" if reply.status < 0 else f"exit code {reply.status}"
        return Failure(f"the program failed, {how}", passing=False, words=words or _message(error))
    if error is not None:
        return _reported(error)
    if reply.status == 0 and not dialects.is_complete(document, kept):
        return Failure(
            f"the program ended with exit code 0 and printed {_printed(body, reply.data)}", False, words=words
        )
    return _answer(document, kept, target)


def _printed(body: Any, data: bytes) -> str:
    """Return what a program printed in the place of an answer."""
    what = "an object with neither output nor pass" if isinstance(body, dict) else "no JSON object"
    text = data[:_MESSAGE_BYTES].decode("utf-8", "replace").strip()
    return f"{what}: {text}" if text else "nothing"


def _reported(error: Any) -> Failure:
    """Return the error that a program reports in its answer."""
    told = error if isinstance(error, dict) else {"message": error}
    after = told.get("retry_after_ms")
    after_s = after / 1000 if isinstance(after, int | float) and not isinstance(after, bool) and after > 0 else None
    return Failure(f"the program reports: {_message(told) or 'an error'}", told.get("retriable") is True, "", after_s)


def _incomplete(kept: Mapping[str, Any], target: Target) -> str:
    body, text = kept.get("body"), kept.get("text")
    if isinstance(text, str) and sse.looks_like_stream(text):
        return "the stream was cut off before its end"
    if "body" not in kept:
        return "the body is no JSON" if text != "" else "the body is empty"
    if isinstance(body, dict) and body.get("error"):
        return "the body is an error"
    if target.type not in _SPOKEN:
        return "the answer was cut off before its end"
    return f"the body is no {_SPOKEN[target.type][1]}"


def _words(kept: Mapping[str, Any], data: bytes) -> str:
    """Return the server's own message, or the beginning of what it sent, after a colon."""
    text = _message(kept.get("body")) or data[:_MESSAGE_BYTES].decode("utf-8", "replace").strip()
    return f": {text}" if text else ""


def _message(body: Any) -> str:
    if isinstance(body, str):
        return body
    if not isinstance(body, dict):
        return ""
    return next((text for name in ("error", "message", "detail") if (text := _message(body.get(name)))), "")
