"""OpenAI chat bodies as bodies of Gemini's ``generateContent``. Model and ``stream`` stand in its path, not in its body.

The ids of tool calls are left out: a function's answer names the function, and answers keep the order of the calls.
"""

from __future__ import annotations

from typing import Any

from golden import chat, chat_parts
from golden.chat import LEFT_OUT, Chat, Rules
from golden.spot import Spot

_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
_CONFIG = "generationConfig"


def body(given: Chat) -> dict[str, Any]:
    """Return the body of a request to ``:generateContent``.

    Raises:
        ConfigError: a message or member cannot be expressed.
    """
    listed = given.messages.spot.items(given.messages.value)
    leading = 0
    while leading < len(listed) and listed[leading][1].members(listed[leading][0]).get("role") in chat_parts.SYSTEM:
        leading += 1
    system: list[dict[str, Any]] = []
    for message, at in listed[:leading]:
        system += _texts(at.members(message, "role", "content").get("content"), at / "content")
    translated = chat.translate(given, _RULES)
    instruction = {"systemInstruction": {"parts": system}} if leading else {}
    return {**translated, **instruction, "contents": _contents(listed[leading:])}


def _contents(listed: list[tuple[Any, Spot]]) -> list[dict[str, Any]]:
    contents: list[dict[str, Any]] = []
    names: dict[Any, str] = {}
    answers: list[dict[str, Any]] = []
    for message, at in listed:
        role = at.members(message).get("role")
        if role == "tool":
            if not answers:
                contents.append({"role": "user", "parts": answers})
            answers.append(_function_response(message, names, at))
            continue
        answers = []
        if role == "user":
            at.members(message, "role", "content")
            contents.append({"role": "user", "parts": _parts(message.get("content"), at / "content")})
        elif role == "assistant":
            contents.append({"role": "model", "parts": _model_parts(message, names, at)})
        elif role in chat_parts.SYSTEM:
            raise (at / "role").inexpressible(f"a {role} message after others")
        else:
            raise (at / "role").inexpressible(f"the role {role!r}")
    return contents


def _function_response(message: dict[str, Any], names: dict[Any, str], at: Spot) -> dict[str, Any]:
    at.members(message, "role", "content", "tool_call_id")
    call_id = (at / "tool_call_id").text(message.get("tool_call_id"))
    if call_id not in names:
        raise (at / "tool_call_id").fault(f"no tool call before it has the id {call_id[:80]!r}")
    text = "".join(part["text"] for part in _texts(message.get("content"), at / "content"))
    return {"functionResponse": {"name": names[call_id], "response": {"output": text}}}


def _model_parts(message: dict[str, Any], names: dict[Any, str], at: Spot) -> list[dict[str, Any]]:
    at.members(message, "role", "content", "tool_calls")
    called, content = chat_parts.calls(message, at), message.get("content")
    parts = [] if called and content in (None, "") else _texts(content, at / "content")
    for call, spot in called:
        names[(spot / "id").text(call["id"])] = call["name"]
        parts.append({"functionCall": {"name": call["name"], "args": chat_parts.arguments_of(call, spot)}})
    return parts


def _texts(content: Any, at: Spot) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"text": content}]
    return [_text(part, spot) for part, spot in at.items(content)]


def _parts(content: Any, at: Spot) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"text": content}]
    return [_part(part, spot) for part, spot in at.items(content)]


def _text(part: Any, at: Spot) -> dict[str, Any]:
    kind = at.members(part).get("type")
    if kind != "text":
        raise at.inexpressible(f"a part of type {kind!r} here")
    return {"text": (at / "text").text(at.members(part, "type", "text").get("text"))}


def _part(part: Any, at: Spot) -> dict[str, Any]:
    kind = at.members(part).get("type")
    if kind == "image_url":
        image = (at / kind).members(at.members(part, "type", kind).get(kind), "url", "detail")
        if image.get("detail") not in (None, "auto"):
            raise (at / kind / "detail").inexpressible("the detail of an image")
        return _inline(image.get("url"), at / kind / "url")
    if kind == "file":
        file = (at / kind).members(at.members(part, "type", kind).get(kind), "file_data", "filename")
        if file.get("filename") is not None:
            raise (at / kind / "filename").inexpressible("the name of a file")
        return _inline(file.get("file_data"), at / kind / "file_data")
    if kind == "input_audio":
        audio = (at / kind).members(at.members(part, "type", kind).get(kind), "data", "format")
        media_type = f"audio/{(at / kind / 'format').text(audio.get('format'))}"
        return {"inlineData": {"mimeType": media_type, "data": (at / kind / "data").text(audio.get("data"))}}
    return _text(part, at)


def _inline(url: Any, at: Spot) -> dict[str, Any]:
    data = chat_parts.data_of(at.text(url))
    if data is None:
        raise at.inexpressible("a URL that is no base64 data")
    return {"inlineData": {"mimeType": data[0], "data": data[1]}}


def _tools(tools: Any, at: Spot) -> list[Any]:
    functions, native = chat_parts.functions(tools, at)
    declarations: list[dict[str, Any]] = []
    for i, function in enumerate(functions):
        if function.get("strict"):
            raise (at / i / "function" / "strict").inexpressible("strict")
        about = {} if function.get("description") is None else {"description": function["description"]}
        declarations.append({"name": function["name"], **about, "parametersJsonSchema": function["parameters"]})
    return [*([{"functionDeclarations": declarations}] if declarations else []), *native]


def _tool_choice(choice: Any, at: Spot) -> Any:
    if isinstance(choice, str):
        if choice not in _MODES:
            raise at.inexpressible(f"tool_choice {choice[:80]!r}")
        return {"mode": _MODES[choice]}
    name = chat_parts.chosen_function(choice, at)
    if name is None:
        raise at.inexpressible("a tool_choice in other words")
    return {"mode": "ANY", "allowedFunctionNames": [name]}


def _stop(stop: Any, at: Spot) -> Any:
    return [stop] if isinstance(stop, str) else stop


def _format(response_format: Any, at: Spot) -> Any:
    kind = at.members(response_format, "type", "json_schema").get("type")
    if kind == "text":
        return {"responseMimeType": "text/plain"}
    if kind == "json_object":
        return {"responseMimeType": "application/json"}
    if kind == "json_schema":
        schema = chat_parts.schema_of(response_format, at)
        return {"responseMimeType": "application/json", "responseJsonSchema": schema}
    raise at.inexpressible(f"the response format {kind!r}")


def _stream(stream: Any, at: Spot) -> Any:
    if not isinstance(stream, bool):
        raise at.inexpressible("a stream that is neither true nor false")
    return LEFT_OUT  # it stands in the path


def _stream_options(options: Any, at: Spot) -> Any:
    at.members(options, "include_usage")  # usage always stands in the stream
    return LEFT_OUT


_RULES = Rules(
    renamed={
        "temperature": f"{_CONFIG}/temperature",
        "top_p": f"{_CONFIG}/topP",
        "max_tokens": f"{_CONFIG}/maxOutputTokens",
        "max_completion_tokens": f"{_CONFIG}/maxOutputTokens",
        "seed": f"{_CONFIG}/seed",
        "presence_penalty": f"{_CONFIG}/presencePenalty",
        "frequency_penalty": f"{_CONFIG}/frequencyPenalty",
        "n": f"{_CONFIG}/candidateCount",
        "logprobs": f"{_CONFIG}/responseLogprobs",
        "top_logprobs": f"{_CONFIG}/logprobs",
    },
    made={
        "stop": (f"{_CONFIG}/stopSequences", _stop),
        "response_format": (f"{_CONFIG}/", _format),
        "tools": ("tools", _tools),
        "tool_choice": ("toolConfig/functionCallingConfig", _tool_choice),
        "stream": ("", _stream),
        "stream_options": ("", _stream_options),
    },
    silent={"parallel_tool_calls": True},
)
