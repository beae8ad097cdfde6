"""Requests for embeddings: ``input`` is what the case says, or the one text that it asks about."""

from __future__ import annotations

from typing import Any

from golden.chat import Chat

_MEMBERS = frozenset({"dimensions", "encoding_format", "user"})


def body(given: Chat) -> dict[str, Any]:
    """Return the body of a request to ``/embeddings`` for messages that are one text of the user.

    Raises:
        ConfigError: they are anything else, or a member of the case has no place.
    """
    spot = given.messages.spot
    messages = spot.items(given.messages.value)
    if len(messages) != 1:
        raise spot.inexpressible(f"a list of {len(messages)} messages")
    message, at = messages[0]
    if at.members(message, "role", "content").get("role") != "user" or not isinstance(message.get("content"), str):
        raise at.inexpressible("anything but one text of the user")
    for name, member in given.members.items():
        if member.spot.own and name not in _MEMBERS and member.value is not None:
            raise member.spot.inexpressible(repr(name[:80]))
    model = {} if given.model is None else {"model": given.model}
    return {**model, **{name: member.value for name, member in given.members.items()}, "input": message["content"]}
