"""The last look at what is about to be written: redacted by the suite's rules, and refused where a credential still shows."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from capture.result import Ended, Outcome
from golden.credential import credentials
from golden.redacted_text import looks_like_stream
from golden.redaction import Redaction
from snapshots import dialects
from snapshots.errors import JsonError

# Any text that holds a credential holds one of these, or ends in one of those before a hyphen or an underscore: looking for
# them costs a fraction of the patterns. An escape may hide what it spells.
_MARKS = (b"AKIA", b"ASIA", b"AIza", b"PRIVATE KEY")
_STEMS = (
    b"sk", b"pk", b"rk", b"ghp", b"gho", b"ghu", b"ghs", b"ghr", b"pat", b"hf", b"xai",
    b"xoxa", b"xoxb", b"xoxe", b"xoxo", b"xoxp", b"xoxr", b"xoxs",
)  # fmt: skip
_WHOLE = "ask without stream: true"
_PIECES = "a stream of a service that is not known may spell over several events what must not be written"
_HINT = 'if it is none, write a pattern of it under [redact] allow; kinds = ["api_key"] takes such texts out'


class Storable:
    """What may be written, by the rules of a suite."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction

    def refuse_request(self, document: Mapping[str, Any]) -> Ended | None:
        """Return the refusal of a request that must not be written, and is then not sent either.

        It holds what looks like a credential, or what these rules take out: those it was rendered under were others.
        """
        if self._redaction and (found := self._left_in(document)):
            return Ended(
                Outcome.REFUSED,
                error=f"the request holds what today's redaction takes out, at {found}, and is not stored",
                hint="it was rendered under other rules; what today's suite asks is asked without --control and --batch-in",
            )
        return self._refuse("request", document, document)

    def _left_in(self, document: Mapping[str, Any]) -> str | None:
        try:
            hits = self._redaction.request(dict(document))[1]
        except JsonError as error:
            return error.pointer or "/request"
        return hits[0].pointer if hits else None

    def message(self, text: str) -> str:
        """Return somebody's words as they may be shown and logged."""
        return self._redaction.message(text)

    def response(
        self, document: Mapping[str, Any], response: dict[str, Any], *, has_secrets: bool = False
    ) -> dict[str, Any] | Ended:
        """Return a response member as it may be stored, or the refusal.

        Args:
            document: the request document.
            response: the member as it came.
            has_secrets: whether there are values that an answer may not hold.
        """
        try:
            kept, _ = self._redaction.response(response)
        except JsonError as error:
            return Ended(Outcome.REFUSED, error=f"the answer is not stored: {error.message}")
        whole = _whole(document, kept)
        if whole is None and (self._redaction or has_secrets) and _is_in_pieces(kept.get("text")):
            return Ended(Outcome.REFUSED, error=f"the answer is not stored: {_PIECES}", hint=_WHOLE)
        if self._redaction and (why := self._escapes(kept, whole)):
            return Ended(Outcome.REFUSED, error=f"the answer is not stored: {why[0]}", hint=why[1])
        return self._refuse("answer", kept, [kept, whole]) or kept

    def _escapes(self, kept: Mapping[str, Any], whole: Any) -> tuple[str, str] | None:
        """Return what the rules cannot take out of an answer in the form that it is kept in, and the remedy."""
        if whole is not None:
            if self._redaction.finds(whole):
                return "what redaction takes out is spelled over several events of the stream", _WHOLE
            if pointer := self._redaction.points_into(whole):
                return f"{pointer} cannot be taken out of a stream", _WHOLE
        elif "text" in kept and (pointer := self._redaction.points_into(_loosely(kept["text"]))):
            return f"{pointer} cannot be taken out of a body that strict JSON has no place for", ""
        elif "base64" in kept and self._redaction.finds(base64.b64decode(kept["base64"]).decode("latin-1")):
            return "what redaction takes out stands in a body that is no text", ""
        return None

    def _refuse(self, what: str, shown: Mapping[str, Any], searched: Any) -> Ended | None:
        if not _may_hold_one(searched) and "base64" not in shown:
            return None
        where = next(self._credentials(what, shown, searched), None)
        if where is None:
            return None
        return Ended(
            Outcome.REFUSED,
            error=f"the {what} holds what looks like a credential at {where} and is not stored",
            hint=_HINT,
        )

    def _credentials(self, what: str, shown: Mapping[str, Any], searched: Any) -> Iterator[str]:
        root = "/request" if what == "request" else "/response"
        yield from credentials(shown, self._redaction.allow, root)
        if isinstance(shown.get("base64"), str):
            text = base64.b64decode(shown["base64"]).decode("latin-1")
            yield from credentials(text, self._redaction.allow, f"{root}/base64")
        if isinstance(searched, list):
            yield from credentials(searched[1], self._redaction.allow, f"{root}/text, assembled: ")


def _may_hold_one(value: Any) -> bool:
    try:
        data = orjson.dumps(value)
    except TypeError:
        return True  # integers beyond 64 bits, halves of characters: looked at one by one
    if (b"J" in data and b"eyJ" in data) or (b"\\" in data and b"\\u" in data):
        return True
    return any(mark in data for mark in _MARKS) or any(
        word.endswith(_STEMS) for word in data.replace(b"_", b"-").split(b"-")[:-1]
    )


def _is_in_pieces(text: Any) -> bool:
    """Tell whether a text is a stream: of events, or of JSON values one a line."""
    if not isinstance(text, str):
        return False
    lines = [line for line in text.splitlines() if line.strip()] if text.lstrip().startswith("{") else []
    return looks_like_stream(text) or (len(lines) > 1 and all(line.strip().endswith("}") for line in lines))


def _loosely(text: str) -> Any:
    """Return the value of a body that is JSON to lenient readers alone (NaN, a member given twice)."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _whole(document: Mapping[str, Any], response: Mapping[str, Any]) -> Any:
    """Return the body that a stream spells out, or ``None`` where there is none."""
    try:
        return dialects.assembled(document, response)
    except ValueError:
        return None  # what cannot be assembled is hashed and read as the text it is
