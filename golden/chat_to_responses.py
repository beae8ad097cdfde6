"""OpenAI chat bodies as bodies of the Responses API.

Messages become ``input`` items in their order, system messages too: ``instructions`` would move a later one to the front.
Where the two APIs have other defaults for the same thing, what chat completions would do is written out: a function is
not strict, an image has the detail ``auto``.
"""

from __future__ import annotations

from typing import Any

from golden import chat, chat_parts
from golden.chat import LEFT_OUT, Chat, Rules
from golden.spot import Spot

_SAME = (
    "metadata", "moderation", "parallel_tool_calls", "prompt_cache_key", "prompt_cache_options",
    "prompt_cache_retention", "safety_identifier", "service_tier", "store", "stream", "temperature", "top_logprobs",
    "top_p", "user",
)  # fmt: skip


def body(given: Chat) -> dict[str, Any]:
    """Return the body of a request to ``/responses``.

    Raises:
        ConfigError: a message or member cannot be expressed.
    """
    model = {} if given.model is None else {"model": given.model}
    items: list[dict[str, Any]] = []
    for message, at in given.messages.spot.items(given.messages.value):
        items += _items(message, at)
    translated = chat.translate(given, _RULES)
    return {**model, **translated, "input": items}


def _items(message: Any, at: Spot) -> list[dict[str, Any]]:
    role = at.members(message).get("role")
    if role == "tool":
        at.members(message, "role", "content", "tool_call_id")
        call_id = (at / "tool_call_id").text(message.get("tool_call_id"))
        output = _content(message.get("content"), at / "content", _input_part)
        return [{"type": "function_call_output", "call_id": call_id, "output": output}]
    if role == "assistant":
        return _assistant(message, at)
    if role not in ("system", "developer", "user"):
        raise (at / "role").inexpressible(f"the role {role!r}")
    at.members(message, "role", "content")
    return [{"role": role, "content": _content(message.get("content"), at / "content", _input_part)}]


def _assistant(message: dict[str, Any], at: Spot) -> list[dict[str, Any]]:
    at.members(message, "role", "content", "refusal", "tool_calls")
    called = chat_parts.calls(message, at)
    content, refusal = message.get("content"), message.get("refusal")
    items: list[dict[str, Any]] = []
    if refusal is not None:
        parts = [] if content is None else _parts(content, at / "content", _output_part)
        parts.append({"type": "refusal", "refusal": (at / "refusal").text(refusal)})
        items.append({"role": "assistant", "content": parts})
    elif not (called and content in (None, "")):
        items.append({"role": "assistant", "content": _content(content, at / "content", _output_part)})
    for call, spot in called:
        call_id = (spot / "id").text(call["id"])
        arguments = (spot / "function" / "arguments").text(call["arguments"])
        items.append({"type": "function_call", "call_id": call_id, "name": call["name"], "arguments": arguments})
    return items


def _content(content: Any, at: Spot, part: Any) -> Any:
    return content if isinstance(content, str) else _parts(content, at, part)


def _parts(content: Any, at: Spot, part: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [part({"type": "text", "text": content}, at)]
    return [part(item, spot) for item, spot in at.items(content)]


def _output_part(part: Any, at: Spot) -> dict[str, Any]:
    kind = at.members(part).get("type")
    if kind == "refusal":
        return {"type": "refusal", "refusal": at.text(at.members(part, "type", "refusal").get("refusal"))}
    if kind != "text":
        raise at.inexpressible(f"a part of type {kind!r}")
    return {"type": "output_text", "text": at.text(at.members(part, "type", "text").get("text"))}


def _input_part(part: Any, at: Spot) -> dict[str, Any]:
    kind = at.members(part).get("type")
    if kind == "text":
        return {"type": "input_text", "text": at.text(at.members(part, "type", "text").get("text"))}
    if kind == "image_url":
        at.members(part, "type", "image_url")
        image = (at / kind).members(part.get("image_url"), "url", "detail")
        detail = image.get("detail")
        url = (at / kind / "url").text(image.get("url"))
        return {"type": "input_image", "image_url": url, "detail": "auto" if detail is None else detail}
    if kind == "file":
        at.members(part, "type", "file")
        return {"type": "input_file", **(at / kind).members(part.get("file"), "file_data", "file_id", "filename")}
    raise at.inexpressible(f"a part of type {kind!r}")


def _tools(tools: Any, at: Spot) -> list[Any]:
    functions, native = chat_parts.functions(tools, at)
    return [*({"type": "function", "strict": False, **function} for function in functions), *native]


def _tool_choice(choice: Any, at: Spot) -> Any:
    if isinstance(choice, str):
        return choice
    if isinstance(choice, dict) and isinstance(choice.get("allowed_tools"), dict):
        allowed = (at / "allowed_tools").members(choice["allowed_tools"], "mode", "tools")
        named = (at / "allowed_tools" / "tools").items(allowed.get("tools"))
        tools = [{"type": "function", "name": chat_parts.chosen_function(tool, spot)} for tool, spot in named]
        return {"type": "allowed_tools", "mode": allowed.get("mode"), "tools": tools}
    name = chat_parts.chosen_function(choice, at)
    return choice if name is None else {"type": "function", "name": name}


def _format(response_format: Any, at: Spot) -> Any:
    if at.members(response_format).get("type") != "json_schema":
        return at.members(response_format, "type")
    at.members(response_format, "type", "json_schema")
    known = "name", "description", "schema", "strict"
    return {"type": "json_schema", **(at / "json_schema").members(response_format.get("json_schema"), *known)}


def _stream_options(options: Any, at: Spot) -> Any:
    # Usage always stands in the last event.
    known = at.members(options, "include_usage", "include_obfuscation")
    return {name: value for name, value in known.items() if name != "include_usage"} or LEFT_OUT


def _logprobs(wanted: Any, at: Spot) -> Any:
    if not isinstance(wanted, bool):
        raise at.inexpressible("a logprobs that is neither true nor false")
    return {"include": ["message.output_text.logprobs"]} if wanted else LEFT_OUT


_RULES = Rules(
    renamed={
        **{name: name for name in _SAME},
        "max_tokens": "max_output_tokens",
        "max_completion_tokens": "max_output_tokens",
        "reasoning_effort": "reasoning/effort",
        "verbosity": "text/verbosity",
    },
    made={
        "tools": ("tools", _tools),
        "tool_choice": ("tool_choice", _tool_choice),
        "response_format": ("text/format", _format),
        "stream_options": ("stream_options", _stream_options),
        "logprobs": ("", _logprobs),
    },
    silent={"n": 1},
)
