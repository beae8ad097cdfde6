"""OpenAI chat bodies on their way into another dialect.

A case is written once, as a body of chat completions, and every chat dialect gets what it means. Members of the case
replace whole members of the target's params, in the names of chat completions, before anything is translated. Members of
params that chat completions does not know are the dialect's own and go as they are. What the dialect has no place for is
an error where the author wrote it: nothing is dropped that could change an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from golden.spot import Spot

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
# What a translation returns for a member that says what the dialect does anyway.
LEFT_OUT: Any = object()


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
