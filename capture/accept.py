"""What a reply is worth: an answer that is kept, a failure that may pass, or one that will not.

Kept: 2xx answers that are complete, content filter refusals sent as 400, and the statuses that a target accepts.
Never kept: 408, 409, 429, 5xx, and whatever stands in a 2xx without being a whole answer: a cut stream, an error
object, no choices, no JSON.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from capture.retry import is_transient
from capture.transport import Reply
from snapshots import dialects, openai_chat, response, sse
from snapshots.errors import UnreadableSnapshot

_MESSAGE_BYTES = 64 << 10
_CREDENTIAL = "the server does not accept the credential: check the variable that the target's api_key names"
_NO_ANSWER = frozenset({"/body/choices", "/body/error"})


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply that may be stored. ``response`` is the member as it is stored; ``model`` is the one that it reports."""

    response: dict[str, Any]
    model: str | None
    is_unexplained_empty: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """A reply that is never stored. ``reason`` holds the server's words and must be scrubbed before anyone sees it."""

    reason: str
    passing: bool
    hint: str = ""


def judge(reply: Reply, document: Mapping[str, Any], accept_status: Collection[int] = ()) -> Answer | Failure:
    """Return what a reply is worth.

    Args:
        reply: what the server sent.
        document: the request document that it answers.
        accept_status: further statuses that are answers.
    """
    kept = response.response(reply.status, reply.headers, reply.data)
    if is_transient(reply.status):
        return Failure(f"HTTP {reply.status}{_words(kept, reply.data)}", passing=True)
    if 200 <= reply.status < 300:
        if _is_complete(document, kept):
            return _answer(document, kept)
        return Failure(f"HTTP {reply.status}, but {_incomplete(kept)}{_words(kept, reply.data)}", passing=True)
    if reply.status in accept_status or (reply.status == 400 and openai_chat.is_filtered(kept)):
        return _answer(document, kept)
    if 300 <= reply.status < 400:
        where = reply.header("location") or "nowhere"
        return Failure(
            f"HTTP {reply.status}: a redirect to {where} is not followed, for it would send the key there",
            passing=False,
        )
    hint = _CREDENTIAL if reply.status == 401 else ""
    return Failure(f"HTTP {reply.status}{_words(kept, reply.data)}", passing=False, hint=hint)


def _answer(document: Mapping[str, Any], kept: dict[str, Any]) -> Answer:
    reader, _ = dialects.reader_for(document, kept)
    try:
        reading = dialects.read(reader, kept)
    except UnreadableSnapshot:
        # Kept as it is: a better reader will apply to everything already recorded.
        return Answer(kept, None, is_unexplained_empty=False)
    return Answer(kept, reading.model, reading.is_unexplained_empty)


def _is_complete(document: Mapping[str, Any], kept: Mapping[str, Any]) -> bool:
    """Tell whether a reply is a chat completion, received to its end.

    One that strict JSON has no place for (NaN among log probabilities, half a surrogate pair, a member given twice, an integer
    beyond 64 bits) is one too: asking again would give the same, so its text is kept as it came.
    """
    if openai_chat.recognises(document, kept):
        return openai_chat.is_complete(kept)
    if not openai_chat.reads(document, kept):
        return False
    try:
        openai_chat.read(kept)
    except UnreadableSnapshot as error:
        return error.pointer not in _NO_ANSWER
    return True


def _incomplete(kept: Mapping[str, Any]) -> str:
    body, text = kept.get("body"), kept.get("text")
    if isinstance(text, str) and sse.looks_like_stream(text):
        return "the stream was cut off before its end"
    if "body" not in kept:
        return "the body is no JSON" if text != "" else "the body is empty"
    if isinstance(body, dict) and body.get("error"):
        return "the body is an error"
    return "the body is no chat completion: it has no choices"


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
