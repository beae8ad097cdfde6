"""The last look at what is about to be written: redacted by the suite's rules, and refused where a credential still shows."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from capture.result import Ended, Outcome
from golden.redaction import Redaction, credentials
from snapshots import dialects
from snapshots.errors import JsonError

# Any text that holds a credential holds one of these, or an escape that may hide it: looking for them costs next to nothing.
_MARKS = (
    b"sk-", b"sk_", b"pk-", b"pk_", b"rk-", b"rk_", b"AKIA", b"ASIA", b"AIza", b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_",
    b"github_pat_", b"glpat-", b"hf_", b"gsk_", b"xai-", b"xox", b"eyJ", b"PRIVATE KEY", b"\\u",
)  # fmt: skip
_HINT = 'if it is none, write a pattern of it under [redact] allow; kinds = ["api_key"] takes such texts out'


class Storable:
    """What may be written, by the rules of a suite."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction

    def refuse_request(self, document: Mapping[str, Any]) -> Ended | None:
        """Return the refusal of a request that holds what looks like a credential, which is then not sent either."""
        return self._refuse("request", document, document)

    def response(self, document: Mapping[str, Any], response: dict[str, Any]) -> dict[str, Any] | Ended:
        """Return a response member as it may be stored, or the refusal."""
        try:
            kept, _ = self._redaction.response(response)
        except JsonError as error:
            return Ended(Outcome.REFUSED, error=f"the answer is not stored: {error.message}")
        whole = _whole(document, kept)
        if whole is not None and self._redaction.finds(whole):
            what = "what redaction takes out is spelled over several events of the stream"
            return Ended(Outcome.REFUSED, error=f"the answer is not stored: {what}", hint="ask without stream: true")
        return self._refuse("answer", kept, [kept, whole]) or kept

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
    return any(mark in data for mark in _MARKS)


def _whole(document: Mapping[str, Any], response: Mapping[str, Any]) -> Any:
    """Return the body that a stream spells out, or ``None`` where there is none."""
    try:
        return dialects.assembled(document, response)
    except ValueError:
        return None  # what cannot be assembled is hashed and read as the text it is
