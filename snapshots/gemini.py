"""Gemini's generated content, whole and streamed: recognise, answer rule ``gemini/1``, read.

A stream comes as server-sent events (``alt=sse``) or as one JSON list of chunks; both are joined first. ``gemini/1`` leaves out what
differs between two identical answers: the ids of response, calls and code, times, the reported model and its status, usage, log
probabilities and other scores, signatures of thoughts, tokens to go on with, and the links of grounding, which lead through a redirect
that is made anew for each call. Parts, finish reasons, safety labels, titles of sources and every member that is not named stay. The
published rule is never edited.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snapshots.events import body_of
from snapshots.gemini_stream import assemble, joined
from snapshots.members import count, is_list_of_objects, mapping, path_of, text, total, unknown, wanted, word
from snapshots.reading import Choice, Reading, ToolCall
from snapshots.volatile import without

RULE = "gemini/1"
READER = "gemini"
READER_NUMBER = 1
LEFT_OUT = (
    "/responseId", "/createTime", "/modelVersion", "/modelStatus", "/usageMetadata",
    "/promptFeedback/safetyRatings/*/probabilityScore", "/promptFeedback/safetyRatings/*/severityScore",
    "/candidates/*/avgLogprobs", "/candidates/*/logprobsResult", "/candidates/*/tokenCount", "/candidates/*/continuationToken",
    "/candidates/*/safetyRatings/*/probabilityScore", "/candidates/*/safetyRatings/*/severityScore",
    "/candidates/*/content/parts/*/thoughtSignature", "/candidates/*/content/parts/*/functionCall/id",
    "/candidates/*/content/parts/*/executableCode/id", "/candidates/*/content/parts/*/codeExecutionResult/id",
    "/candidates/*/content/parts/*/toolCall/id", "/candidates/*/content/parts/*/toolResponse/id",
    "/candidates/*/groundingMetadata/searchEntryPoint", "/candidates/*/groundingMetadata/retrievalMetadata",
    "/candidates/*/groundingMetadata/googleMapsWidgetContextToken",
    "/candidates/*/groundingMetadata/groundingChunks/*/web/uri",
    "/candidates/*/groundingMetadata/groundingSupports/*/confidenceScores",
)  # fmt: skip

_WHOLE, _STREAM = ":generateContent", ":streamGenerateContent"
_FILTERED = frozenset(
    {
        "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
        "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
    }
)  # fmt: skip

_NUMBERED = {1: "STOP", 2: "MAX_TOKENS", 3: "SAFETY", 4: "RECITATION", 5: "OTHER"}


def recognises(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether a response is generated content, whole or streamed, or says why the prompt was blocked."""
    if not path_of(request).endswith((_WHOLE, _STREAM)):
        return False
    body = whole(response)
    if not isinstance(body, dict):
        return False
    return is_list_of_objects(body["candidates"]) if "candidates" in body else bool(_block_reason(body))


def _block_reason(body: Mapping[str, Any]) -> str | None:
    value = mapping(body.get("promptFeedback")).get("blockReason")
    return str(value) if isinstance(value, int) else word(value)


def _reason(value: Any) -> str | None:
    """Return a reason as a word. Servers that are asked to do so number them; only the first numbers mean the same everywhere."""
    if isinstance(value, int) and not isinstance(value, bool):
        return _NUMBERED.get(value, str(value))
    return word(value)


def answer(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preimage of the answer hash under ``gemini/1``; a stream is joined first."""
    return {"status": response["status"], "body": without(whole(response), LEFT_OUT)}


def is_complete(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether an answer was received to its end.

    A stream has no error, and a finish reason for each candidate: a list, which says where it ends, for all that there are, and
    events for as many as were asked for.
    """
    body = whole(response)
    if not isinstance(body, dict) or body.get("error"):
        return False
    candidates = body.get("candidates")
    if not candidates:
        return bool(_block_reason(body))
    if isinstance(response.get("body"), dict):
        return True
    finished = all(_reason(candidate.get("finishReason")) for candidate in candidates)
    return finished and ("body" in response or len(candidates) >= _wanted(request))


def _wanted(request: Mapping[str, Any]) -> int:
    # Servers take names with underscores too.
    places = ("generationConfig", "candidateCount"), ("generation_config", "candidate_count")
    return max(wanted(request, outer, inner) for outer, _ in places for _, inner in places)


def whole(response: Mapping[str, Any]) -> Any:
    """Return the body of a response, joined where it is a stream in either form, or ``None`` where it is neither."""
    body = body_of(response, assemble)
    if not isinstance(body, list):
        return body
    try:
        return joined(body)
    except ValueError:
        return None


def read(response: Mapping[str, Any]) -> Reading:
    """Read generated content into the uniform envelope fields. Thinking counts as output, what tools put in as input.

    Raises:
        UnreadableSnapshot: a member has a type that this dialect does not know; the pointer names it.
    """
    body = whole(response)
    if not isinstance(body, dict):
        return unknown(READER, "neither content nor a stream of it", "/text" if "text" in response else "/body")
    usage = mapping(body.get("usageMetadata"))
    return Reading(
        choices=_choices(body),
        model=word(body.get("modelVersion")),
        input_tokens=total(usage.get("promptTokenCount"), usage.get("toolUsePromptTokenCount")),
        output_tokens=_output_tokens(usage),
        cached_tokens=count(usage.get("cachedContentTokenCount")),
        explained=any(_is_other(part) for part in _all_parts(body)),
    )


def _output_tokens(usage: Mapping[str, Any]) -> int | None:
    said, thought = count(usage.get("candidatesTokenCount")), count(usage.get("thoughtsTokenCount"))
    return None if said is None and thought is None else total(said or 0, thought)


def _choices(body: Mapping[str, Any]) -> tuple[Choice, ...]:
    candidates = body.get("candidates")
    if not candidates:
        reason = _block_reason(body) or unknown(
            READER, "neither a candidate nor the reason for none", "/body/candidates"
        )
        return (Choice("", (), True, text(body["promptFeedback"].get("blockReasonMessage")), reason, ""),)
    if not is_list_of_objects(candidates):
        return unknown(READER, "candidates that are no list of objects", "/body/candidates")
    return tuple(_choice(candidate, f"/body/candidates/{i}") for i, candidate in enumerate(candidates))


def _choice(candidate: Mapping[str, Any], at: str) -> Choice:
    parts = _parts(candidate)
    if parts is None:
        return unknown(READER, "parts that are no list of objects", f"{at}/content/parts")
    texts = [part for part in parts if isinstance(part.get("text"), str)]
    calls = [
        _call(part["functionCall"], f"{at}/content/parts/{i}/functionCall")
        for i, part in enumerate(parts)
        if "functionCall" in part
    ]
    reason = _reason(candidate.get("finishReason"))
    refusal = reason in _FILTERED
    return Choice(
        "".join(part["text"] for part in texts if not part.get("thought")),
        tuple(calls),
        refusal,
        text(candidate.get("finishMessage")) if refusal else "",
        reason,
        "".join(part["text"] for part in texts if part.get("thought")),
    )


def _parts(candidate: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the parts of a candidate, none where it has none, or ``None`` where they are something else."""
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else content
    return [] if parts is None else parts if is_list_of_objects(parts) else None


def _all_parts(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [part for candidate in body.get("candidates") or () for part in _parts(candidate) or ()]


def _is_other(part: Mapping[str, Any]) -> bool:
    """Tell whether a part is neither text nor a call: an image, code that was run, a kind that came later."""
    return bool(part) and not ({"text", "functionCall", "thought", "thoughtSignature"} & part.keys())


def _call(call: Any, at: str) -> ToolCall:
    name, arguments = mapping(call).get("name"), mapping(call).get("args")
    if not isinstance(name, str):
        return unknown(READER, "a call without a name", f"{at}/name")
    if arguments is not None and not isinstance(arguments, dict):
        return unknown(READER, "arguments that are no object", f"{at}/args")
    return ToolCall(name, arguments or {}, None)
