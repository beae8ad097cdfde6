"""OpenAI chat bodies as bodies of Anthropic's Messages API."""

from __future__ import annotations

from typing import Any

from golden import chat, chat_parts
from golden.chat import LEFT_OUT, Chat, Rules
from golden.spot import Spot

_CHOICES = {"auto": "auto", "none": "none", "required": "any"}


def body(given: Chat) -> dict[str, Any]:
    """Return the body of a request to ``/v1/messages``.

    Raises:
        ConfigError: a message or member cannot be expressed.
    """
    model = {} if given.model is None else {"model": given.model}
    listed = given.messages.spot.items(given.messages.value)
    leading = 0
    while leading < len(listed) and listed[leading][1].members(listed[leading][0]).get("role") in chat_parts.SYSTEM:
        leading += 1
    translated = chat.translate(given, _RULES)
    if given.value("parallel_tool_calls") is False:
        choice = translated.get("tool_choice")
        choice = {"type": "auto"} if choice is None else choice
        if choice.get("type") != "none":
            translated["tool_choice"] = {**choice, "disable_parallel_tool_use": True}
    system = _system(listed[:leading])
    return {**model, **translated, **system, "messages": _messages(listed[leading:])}


def _system(listed: list[tuple[Any, Spot]]) -> dict[str, Any]:
    if not listed:
        return {}
    contents: list[Any] = []
    for message, at in listed:
        contents.append(_text_content(at.members(message, "role", "content").get("content"), at / "content"))
    if len(contents) == 1:
        return {"system": contents[0]}
    return {"system": [block for content in contents for block in _blocks(content)]}


def _messages(listed: list[tuple[Any, Spot]]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for message, at in listed:
        role = at.members(message).get("role")
        if role == "tool":
            if not results:
                messages.append({"role": "user", "content": results})
            results.append(_result(message, at))
            continue
        results = []
        if role == "user":
            at.members(message, "role", "content")
            messages.append({"role": role, "content": _user_content(message.get("content"), at / "content")})
        elif role == "assistant":
            messages.append({"role": role, "content": _assistant_content(message, at)})
        elif role in chat_parts.SYSTEM:
            raise (at / "role").inexpressible(f"a {role} message after others")
        else:
            raise (at / "role").inexpressible(f"the role {role!r}")
    return messages


def _result(message: dict[str, Any], at: Spot) -> dict[str, Any]:
    at.members(message, "role", "content", "tool_call_id")
    call_id = (at / "tool_call_id").text(message.get("tool_call_id"))
    content = _text_content(message.get("content"), at / "content")
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def _assistant_content(message: dict[str, Any], at: Spot) -> Any:
    at.members(message, "role", "content", "tool_calls")
    called, content = chat_parts.calls(message, at), message.get("content")
    if not called:
        return _text_content(content, at / "content")
    blocks = [] if content in (None, "") else _blocks(_text_content(content, at / "content"))
    for call, spot in called:
        call_id = (spot / "id").text(call["id"])
        blocks.append(
            {"type": "tool_use", "id": call_id, "name": call["name"], "input": chat_parts.arguments_of(call, spot)}
        )
    return blocks


def _text_content(content: Any, at: Spot) -> Any:
    return content if isinstance(content, str) else [_text(part, spot) for part, spot in at.items(content)]


def _user_content(content: Any, at: Spot) -> Any:
    return content if isinstance(content, str) else [_part(part, spot) for part, spot in at.items(content)]


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text(part: Any, at: Spot) -> dict[str, Any]:
    kind = at.members(part).get("type")
    if kind != "text":
        raise at.inexpressible(f"a part of type {kind!r} here")
    return {"type": "text", "text": (at / "text").text(at.members(part, "type", "text").get("text"))}


def _part(part: Any, at: Spot) -> dict[str, Any]:
    kind = at.members(part).get("type")
    if kind == "image_url":
        at.members(part, "type", "image_url")
        return {"type": "image", "source": _image(part.get("image_url"), at / kind)}
    if kind == "file":
        at.members(part, "type", "file")
        return _document(part.get("file"), at / kind)
    return _text(part, at)


def _image(image: Any, at: Spot) -> dict[str, Any]:
    if at.members(image, "url", "detail").get("detail") not in (None, "auto"):
        raise (at / "detail").inexpressible("the detail of an image")
    url = (at / "url").text(image.get("url"))
    data = chat_parts.data_of(url)
    if data is not None:
        return {"type": "base64", "media_type": data[0], "data": data[1]}
    if not url.lower().startswith(("https://", "http://")):
        raise (at / "url").inexpressible("a URL that is neither http(s) nor base64 data")
    return {"type": "url", "url": url}


def _document(file: Any, at: Spot) -> dict[str, Any]:
    at.members(file, "file_data", "filename")
    data = chat_parts.data_of((at / "file_data").text(file.get("file_data")))
    if data is None or data[0] != "application/pdf":
        raise (at / "file_data").inexpressible("a file that is no base64 data of a PDF")
    title = {} if file.get("filename") is None else {"title": file["filename"]}
    return {"type": "document", "source": {"type": "base64", "media_type": data[0], "data": data[1]}, **title}


def _tools(tools: Any, at: Spot) -> list[Any]:
    functions, native = chat_parts.functions(tools, at)
    translated: list[Any] = []
    for function in functions:
        others = {name: function[name] for name in ("description", "strict") if function.get(name) is not None}
        translated.append({"name": function["name"], **others, "input_schema": function["parameters"]})
    return [*translated, *native]


def _tool_choice(choice: Any, at: Spot) -> Any:
    if isinstance(choice, str):
        if choice not in _CHOICES:
            raise at.inexpressible(f"tool_choice {choice[:80]!r}")
        return {"type": _CHOICES[choice]}
    name = chat_parts.chosen_function(choice, at)
    return at.members(choice) if name is None else {"type": "tool", "name": name}


def _parallel(wanted: Any, at: Spot) -> Any:
    if not isinstance(wanted, bool):
        raise at.inexpressible("a parallel_tool_calls that is neither true nor false")
    return LEFT_OUT  # it stands in tool_choice


def _stop(stop: Any, at: Spot) -> Any:
    return [stop] if isinstance(stop, str) else stop


def _format(response_format: Any, at: Spot) -> Any:
    kind = at.members(response_format, "type", "json_schema").get("type")
    if kind == "text":
        return LEFT_OUT
    if kind != "json_schema":
        raise at.inexpressible(f"the response format {kind!r}")
    return {"type": "json_schema", "schema": chat_parts.schema_of(response_format, at)}


def _stream_options(options: Any, at: Spot) -> Any:
    at.members(options, "include_usage")  # usage always stands in the stream
    return LEFT_OUT


_RULES = Rules(
    renamed={
        "max_tokens": "max_tokens",
        "max_completion_tokens": "max_tokens",
        "stream": "stream",
        "temperature": "temperature",
        "top_p": "top_p",
        "user": "metadata/user_id",
    },
    made={
        "tools": ("tools", _tools),
        "tool_choice": ("tool_choice", _tool_choice),
        "parallel_tool_calls": ("", _parallel),
        "stop": ("stop_sequences", _stop),
        "response_format": ("output_config/format", _format),
        "stream_options": ("", _stream_options),
    },
    silent={"n": 1, "logprobs": False},
    foreign=frozenset({"metadata", "service_tier"}),
)
