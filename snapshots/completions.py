"""OpenAI's text completions, whole and streamed: recognise, answer rule ``openai-completions/1``, read.

``openai-completions/1`` leaves out what differs between two identical answers: ``/id /created /model /system_fingerprint
/service_tier /usage /timings /time_info`` and log probabilities. Members of the body and of its choices that are null count as absent.
The published rule is never edited.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snapshots.events import PADDING, body_of, events, is_done
from snapshots.members import count, is_list_of_objects, mapping, path_of, unknown, wanted, word
from snapshots.openai_stream import has_rest
from snapshots.reading import Choice, Reading
from snapshots.volatile import without, without_nulls

RULE = "openai-completions/1"
READER = "openai-completions"
READER_NUMBER = 1
LEFT_OUT = (
    "/id", "/created", "/model", "/system_fingerprint", "/service_tier", "/usage", "/timings", "/time_info",
    "/choices/*/logprobs", "/choices/*/prompt_logprobs",
)  # fmt: skip

_PATH = "/completions"


def recognises(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether a response is a text completion, whole or streamed."""
    if not path_of(request).endswith(_PATH):
        return False
    choices = mapping(whole(response)).get("choices")
    return is_list_of_objects(choices) and bool(choices) and all(_is_text(choice) for choice in choices)


def _is_text(choice: Mapping[str, Any]) -> bool:
    return isinstance(choice.get("text"), str) and not ({"message", "delta"} & choice.keys())


def whole(response: Mapping[str, Any]) -> Any:
    """Return the body of a response, assembled where it is a stream."""
    return body_of(response, _assemble)


def _assemble(text: str) -> dict[str, Any]:
    """Return the completion that an event stream spells out; an error event stands in it as ``error``."""
    body: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for chunk in events(text):
        parts = chunk.get("choices")
        if not isinstance(parts, list | None):
            raise ValueError("choices are no list")
        for part in parts or ():
            _add(choices, part)
        _replace(body, {name: value for name, value in chunk.items() if name not in ("choices", PADDING)})
    return {**body, "choices": [choices[i] for i in sorted(choices)]}


def _add(choices: dict[int, dict[str, Any]], part: Any) -> None:
    if not isinstance(part, dict) or not isinstance(part.get("index", 0), int):
        raise ValueError("a choice is no object with a whole index")
    choice = choices.setdefault(part.get("index", 0), {"text": ""})
    said = part.get("text")
    if said is not None and not isinstance(said, str):
        raise ValueError("a text is no text")
    choice["text"] += said or ""
    # Some servers end a stream as a chat ends: with an empty delta and no text.
    rest = {name: value for name, value in part.items() if name not in ("text", "logprobs")}
    _replace(choice, {name: value for name, value in rest.items() if name != "delta" or value})


def _replace(members: dict[str, Any], newer: Mapping[str, Any]) -> None:
    members.update((name, value) for name, value in newer.items() if value is not None or name not in members)


def answer(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preimage of the answer hash under ``openai-completions/1``; a stream is assembled first."""
    return {"status": response["status"], "body": without_nulls(without(whole(response), LEFT_OUT), "choices")}


def is_complete(request: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Tell whether an answer was received to its end.

    A stream has no error event, and a finish reason for each choice: for as many as were asked for, with all that was asked for
    beside them, or for all that there are where it says itself that it is done.
    """
    body = mapping(whole(response))
    choices = body.get("choices")
    if not choices or body.get("error"):
        return False
    if "body" in response:
        return True
    if not all(mapping(choice).get("finish_reason") for choice in choices):
        return False
    return (len(choices) >= _wanted(request) and has_rest(request, body)) or is_done(str(response["text"]))


def _wanted(request: Mapping[str, Any]) -> int:
    """Return how many choices were asked for: each prompt of a list gets its own; a list of numbers is one prompt."""
    prompts = mapping(request.get("body")).get("prompt")
    if not isinstance(prompts, list) or all(isinstance(token, int) for token in prompts):
        return wanted(request, "n")
    return wanted(request, "n") * len(prompts)


def read(response: Mapping[str, Any]) -> Reading:
    """Read a text completion into the uniform envelope fields.

    Raises:
        UnreadableSnapshot: a member has a type that this dialect does not know; the pointer names it.
    """
    body = whole(response)
    choices = mapping(body).get("choices")
    if not is_list_of_objects(choices) or not choices:
        return unknown(READER, "no choice", "/body/choices" if "body" in response else "/text")
    usage = mapping(body.get("usage"))
    return Reading(
        choices=tuple(_choice(choice, f"/body/choices/{i}") for i, choice in enumerate(choices)),
        model=word(body.get("model")),
        input_tokens=count(usage.get("prompt_tokens")),
        output_tokens=count(usage.get("completion_tokens")),
        cached_tokens=count(mapping(usage.get("prompt_tokens_details")).get("cached_tokens")),
    )


def _choice(choice: Mapping[str, Any], at: str) -> Choice:
    said = choice.get("text")
    if not isinstance(said, str):
        return unknown(READER, "text that is no text", f"{at}/text")
    reason = word(choice.get("finish_reason"))
    return Choice(said, (), reason == "content_filter", "", reason, "")
