"""The parts of an OpenAI chat body that every translator reads: functions, calls, schemas and data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from golden.spot import Spot
from snapshots import strict_json
from snapshots.errors import JsonError

SYSTEM = ("system", "developer")

_DATA_URL = re.compile(r"data:([^;,]+);base64,(.*)", re.DOTALL | re.IGNORECASE)
_NO_PARAMETERS: Mapping[str, Any] = {"type": "object", "properties": {}}


def functions(tools: Any, at: Spot) -> tuple[list[dict[str, Any]], list[Any]]:
    """Return the functions of a chat body's ``tools``, and the tools in params that are the dialect's own.

    ``parameters`` is always there: a function without has none.

    Raises:
        ConfigError: a tool of the case is no function.
    """
    found: list[dict[str, Any]] = []
    native: list[Any] = []
    for tool, spot in at.items(tools):
        if not at.own and not (isinstance(tool, dict) and isinstance(tool.get("function"), dict)):
            native.append(tool)
            continue
        if spot.members(tool).get("type") != "function":
            raise (spot / "type").inexpressible(f"a tool of type {tool.get('type')!r}")
        spot.members(tool, "type", "function")
        inner = spot / "function"
        function = inner.members(tool.get("function"), "name", "description", "parameters", "strict")
        inner.text(function.get("name"))
        parameters = function.get("parameters")
        found.append({**function, "parameters": dict(_NO_PARAMETERS) if parameters is None else parameters})
    return found, native


def chosen_function(choice: Any, at: Spot) -> str | None:
    """Return the name of the function that ``tool_choice`` demands, or ``None`` for one in the dialect's own words.

    Raises:
        ConfigError: it is no such choice.
    """
    if not at.own and not (isinstance(choice, dict) and isinstance(choice.get("function"), dict)):
        return None
    if at.members(choice).get("type") != "function":
        raise at.inexpressible(f"tool_choice of type {choice.get('type')!r}")
    return (at / "function" / "name").text((at / "function").members(choice.get("function"), "name").get("name"))


def schema_of(response_format: Mapping[str, Any], at: Spot) -> Any:
    """Return the JSON Schema of a ``response_format`` for a dialect that takes the schema alone.

    Its name is a label and ``strict`` what such a dialect always is; a description would reach the model.

    Raises:
        ConfigError: there is no schema, or a description.
    """
    inner = at / "json_schema"
    named = inner.members(response_format.get("json_schema"), "name", "schema", "strict")
    return (inner / "schema").members(named.get("schema"))


def calls(message: Mapping[str, Any], at: Spot) -> list[tuple[dict[str, Any], Spot]]:
    """Return the tool calls of an assistant's message as ``{id, name, arguments}``, each with its place.

    Raises:
        ConfigError: a call is no function's.
    """
    found: list[tuple[dict[str, Any], Spot]] = []
    listed = message.get("tool_calls")
    for call, spot in [] if listed is None else (at / "tool_calls").items(listed):
        if spot.members(call).get("type", "function") != "function":
            raise (spot / "type").inexpressible(f"a tool call of type {call.get('type')!r}")
        spot.members(call, "type", "id", "function")
        inner = spot / "function"
        function = inner.members(call.get("function"), "name", "arguments")
        name = (inner / "name").text(function.get("name"))
        found.append(({"id": call.get("id"), "name": name, "arguments": function.get("arguments", "")}, spot))
    return found


def arguments_of(call: Mapping[str, Any], at: Spot) -> dict[str, Any]:
    """Return the arguments of a tool call for a dialect that writes them as an object.

    Raises:
        ConfigError: they are the text of none.
    """
    spot = at / "function" / "arguments"
    text = spot.text(call["arguments"])
    if not text.strip():
        return {}
    try:
        value = strict_json.loads(text)
    except JsonError:
        value = None
    if not isinstance(value, dict):
        raise spot.inexpressible("arguments that are no JSON object")
    return value


def data_of(url: str) -> tuple[str, str] | None:
    """Return media type and base64 text of a ``data:`` URL, or ``None`` for any other URL."""
    found = _DATA_URL.fullmatch(url)
    return None if found is None else (found[1].lower(), found[2])
