"""Any other JSON over HTTP: answer rule ``http/1``, and the reader that takes the text from where a target says.

``http/1`` leaves out the members that ``response.volatile`` names: JSON pointers, which capture wrote beside the body as the target
declared them. A file so holds all that is needed to verify it. Status, body and every other member count.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from snapshots.errors import JsonError, UnreadableSnapshot
from snapshots.pointer import look_up
from snapshots.reading import Choice, Reading
from snapshots.volatile import without

RULE = "http/1"
READER = "http"
READER_NUMBER = 1


def answer(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preimage of the answer hash under ``http/1``.

    Raises:
        JsonError: ``volatile`` holds something else than pointers.
    """
    kept = {name: response[name] for name in ("status", "body", "text", "base64") if name in response}
    volatile = response["volatile"]
    if not isinstance(volatile, list):
        raise JsonError("volatile is no list of JSON pointers", pointer="/volatile")
    return {**kept, "body": without(kept["body"], volatile)} if "body" in kept else kept


def read(response: Mapping[str, Any], select: str) -> Reading:
    """Read the part of a body that a JSON pointer names: a text as it is, null as no text, anything else as compact JSON.

    Raises:
        UnreadableSnapshot: the body is no JSON, or the pointer names nothing in it.
    """
    if "body" not in response:
        raise UnreadableSnapshot("select needs a JSON body, and this is none", reader=READER, pointer=select)
    found, value = look_up(response["body"], select)
    if not found:
        raise UnreadableSnapshot("the answer has no such part", reader=READER, pointer=select)
    choice = Choice(as_text(value), (), False, "", None, "")
    return Reading(choices=(choice,), model=None, input_tokens=None, output_tokens=None)


def as_text(value: Any) -> str:
    """Return a JSON value as the text that graders see: a text as it is, null as no text, anything else as compact JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
