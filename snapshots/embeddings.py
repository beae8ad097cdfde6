"""Embeddings as OpenAI's API spells them: recognise, answer rule ``embeddings/1``, read.

``embeddings/1`` leaves out ``/id /created /model /usage``. Vectors are compared as they came, lists and base64 alike. An embedding has no
text; graders find the vectors in ``raw``. The published rule is never edited.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snapshots.members import count, mapping, path_of, unknown, word
from snapshots.reading import Choice, Reading
from snapshots.volatile import without

RULE = "embeddings/1"
READER = "embeddings"
READER_NUMBER = 1
LEFT_OUT = ("/id", "/created", "/model", "/usage")

_PATH = "/embeddings"


def recognises(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether a response is a list of embeddings."""
    return path_of(request).endswith(_PATH) and _vectors(response) is not None


def _vectors(response: Mapping[str, Any]) -> list[Any] | None:
    data = mapping(response.get("body")).get("data")
    if not isinstance(data, list):
        return None
    return data if all(isinstance(mapping(item).get("embedding"), list | str) for item in data) else None


def answer(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preimage of the answer hash under ``embeddings/1``."""
    return {"status": response["status"], "body": without(response["body"], LEFT_OUT)}


def is_complete(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether there is an embedding at all; a body comes whole or not at all."""
    return bool(_vectors(response))


def read(response: Mapping[str, Any]) -> Reading:
    """Read embeddings into the uniform envelope fields: an answer without text that is not empty.

    Raises:
        UnreadableSnapshot: the body holds no embeddings.
    """
    if _vectors(response) is None:
        return unknown(READER, "no embeddings", "/body/data")
    body = mapping(response.get("body"))
    usage = mapping(body.get("usage"))
    prompt = count(usage.get("prompt_tokens"))
    return Reading(
        choices=(Choice("", (), False, "", None, ""),),
        model=word(body.get("model")),
        # Some servers count only the total, which is the input.
        input_tokens=count(usage.get("total_tokens")) if prompt is None else prompt,
        output_tokens=None,
        explained=True,
    )
