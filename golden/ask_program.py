"""The built-in check by a program: the document of kind ``assert`` that it gets, and how its verdict is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from golden.ask_judge import Verdict, verdict_of
from golden.asking_check import is_empty, sendable
from snapshots.frozen import thaw


def subject(argument: Mapping[str, Any]) -> Any:
    """Return what the program is told to check."""
    return argument.get("config")


def requests(argument: Mapping[str, Any], kind: str | None, envelope: Mapping[str, Any]) -> dict[str, Any]:
    """Return the one request; about an empty answer no program is run."""
    del kind  # only programs are asked
    if is_empty(envelope):
        return {}
    calls = [_call(call) for call in envelope["tool_calls"]]
    judged = {"config": argument.get("config"), "output": sendable(envelope["text"] or envelope["refusal_text"])}
    return {"": {**judged, **({"tool_calls": calls} if calls else {})}}


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = call.get("arguments_text")
    given = thaw(call["arguments"]) if arguments is None else sendable(arguments)
    return {"name": sendable(call["name"]), "arguments": given}


def is_usable(envelope: Mapping[str, Any]) -> bool:
    """Tell whether an answer is a verdict."""
    return verdict(envelope) is not None


def verdict(envelope: Mapping[str, Any]) -> Verdict | None:
    """Return the verdict that a program printed, or ``None`` where it printed something else."""
    return verdict_of(envelope["raw"])
