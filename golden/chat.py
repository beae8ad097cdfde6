"""OpenAI chat bodies on their way into another dialect.

A case is written once, as a body of chat completions, and every chat dialect gets what it means. Members of the case
replace whole members of the target's params, in the names of chat completions, before anything is translated. Members of
params that chat completions does not know are the dialect's own and go as they are. What the dialect has no place for is
an error where the author wrote it: nothing is dropped that could change an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from golden.spot import Spot
from snapshots import strict_json
from snapshots.errors import JsonError

# The members of a body of chat completions, but for model and messages.
NAMES = frozenset(
    {
        "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs",
        "max_completion_tokens", "max_tokens", "metadata", "modalities", "moderation", "n", "parallel_tool_calls",
        "prediction", "presence_penalty", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention",
        "reasoning_effort", "response_format", "safety_identifier", "seed", "service_tier", "stop", "store",
        "stream", "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user",
        "verbosity", "web_search_options",
    }
)  # fmt: skip
# Two names of chat completions for one limit: the case's wins over the one in params, whichever it uses.
LIMITS = ("max_tokens", "max_completion_tokens")
SYSTEM = ("system", "developer")
# What a translation returns for a member that says what the dialect does anyway.
LEFT_OUT: Any = object()

_DATA_URL = re.compile(r"data:([^;,]+);base64,(.*)", re.DOTALL | re.IGNORECASE)
_NO_PARAMETERS: Mapping[str, Any] = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a chat body and where it stands."""

    value: Any
    spot: Spot


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat body: model, messages, and all other members in the author's order."""

    model: Any
    messages: Member
    members: Mapping[str, Member]

    def value(self, name: str) -> Any:
        """Return the value of a member, or ``None``."""
        return self.members[name].value if name in self.members else None

    def with_messages_at(self, spot: Spot) -> Chat:
        """Return the body with its messages from another place: those of a prompt."""
        return Chat(self.model, Member(self.messages.value, spot), self.members)


@dataclass(frozen=True, slots=True)
class Rules:
    """How a dialect writes the members of a chat body.

    Attributes:
        renamed: chat name → path in the dialect's body (``reasoning/effort``); the value stays.
        made: chat name → path and the function that writes the value; below a path that ends in ``/`` its members go,
            and with an empty path into the body itself.
        silent: chat name → the value that says what the dialect does anyway.
        foreign: chat names that mean something else in the dialect; in params they are the dialect's own.
    """

    renamed: Mapping[str, str]
    made: Mapping[str, tuple[str, Callable[[Any, Spot], Any]]]
    silent: Mapping[str, Any] = field(default_factory=dict[str, Any])
    foreign: frozenset[str] = frozenset()


def merged(params: Mapping[str, Any], own: Mapping[str, Any], case: Spot, target: Spot) -> Chat:
    """Return the chat body of a case over the params of a target.

    Args:
        params: the target's params, its model among them.
        own: the case's own members.
        case: where the case's members stand.
        target: where the params stand.

    Raises:
        ConfigError: there are no messages, or two limits of tokens that differ.
    """
    found = {n: Member(v, case / n if n in own else target / n) for n, v in {**params, **own}.items()}
    if "messages" not in found:
        raise case.fault("no member 'messages'")
    one, other = (found.get(name) for name in LIMITS)
    if one is not None and other is not None:
        if one.spot.own == other.spot.own and one.value != other.value:
            raise other.spot.fault("max_tokens and max_completion_tokens are two limits", hint="keep one of them")
        del found[LIMITS[0] if other.spot.own else LIMITS[1]]
    model, messages = found.pop("model", None), found.pop("messages")
    return Chat(None if model is None else model.value, messages, found)


def translate(chat: Chat, rules: Rules) -> dict[str, Any]:
    """Return the members of the dialect's body, but for model and messages.

    Raises:
        ConfigError: a member cannot be expressed.
    """
    body: dict[str, Any] = {}
    for name, member in chat.members.items():
        _translate_one(name, member, rules, body)
    return body


def _translate_one(name: str, member: Member, rules: Rules, body: dict[str, Any]) -> None:
    value, spot = member.value, member.spot
    if name in rules.renamed:
        _put(body, rules.renamed[name], value)
    elif name in rules.made:
        path, function = rules.made[name]
        made = value if value is None else function(value, spot)
        if made is not LEFT_OUT:
            _put(body, path, made)
    elif not spot.own and (name not in NAMES or name in rules.foreign):
        _put_below(body, name, value)
    elif value is not None and not _same(rules.silent.get(name, LEFT_OUT), value):
        raise spot.inexpressible(repr(name[:80]))


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def _put(body: dict[str, Any], path: str, value: Any) -> None:
    """Set a member; the dialect's own members beside it stay."""
    *outer, last = path.split("/")
    for name in outer:
        inner = body.get(name)
        body[name] = body = dict(inner) if isinstance(inner, dict) else {}
    if last:
        body[last] = value
    elif value is not None:
        body.update(value)


def _put_below(body: dict[str, Any], name: str, value: Any) -> None:
    """Set a member of the dialect's own; what has been translated into it stays."""
    there = body.get(name)
    if isinstance(there, dict) and isinstance(value, dict):
        body[name] = {**value, **there}
    else:
        body.setdefault(name, value)


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
