"""Built-in checks that need an answer of their own: judge, similarity and program.

Each declares its requests exactly as a grader does, so that ``capture`` records their answers under the same keys, trials and
limits, and ``grade`` reads them frozen. Their names begin with ``check:NAME/`` and go on with the beginning of a digest of
what the check asks about. A threshold is no part of it: it is applied when the answer is read, and asks nobody again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Protocol

from golden.grader import Asks
from golden.loader import Grader
from snapshots import canonical

# Which types of targets each of them may ask.
TARGETS: Mapping[str, frozenset[str]] = {
    "judge": frozenset({"openai", "openai-responses", "anthropic", "gemini", "http", "exec"}),
    "program": frozenset({"exec"}),
    "similarity": frozenset({"embeddings"}),
}
TypeOf = Callable[[str], str | None]
_DIGITS = 12


class _Asking(Protocol):
    """A module that says what one of them asks."""

    def subject(self, argument: Mapping[str, Any]) -> Any:
        """Return what the check asks about: the part of its argument that its requests hang on."""
        ...

    def requests(self, argument: Mapping[str, Any], kind: str | None, envelope: Mapping[str, Any]) -> dict[str, Any]:
        """Return the requests by a name of the check's own; ``kind`` is the type of the target."""
        ...

    def is_usable(self, envelope: Mapping[str, Any]) -> bool:
        """Tell whether an answer is what was asked for."""
        ...


def any_asks(checks: Iterable[Mapping[str, Any]]) -> bool:
    """Tell whether one of these checks asks for anything."""
    return any(name in TARGETS for check in checks for name in check)


def graders(checks: Iterable[Mapping[str, Any]], type_of: TypeOf) -> list[Grader]:
    """Return those of the checks that ask, as graders."""
    return [grader(name, argument, type_of) for check in checks for name, argument in check.items() if name in TARGETS]


def grader(name: str, argument: Mapping[str, Any], type_of: TypeOf) -> Grader:
    """Return a check that asks as a grader; only its ``asks`` counts.

    Args:
        name: the check's name.
        argument: its argument.
        type_of: returns the type of a target by name, ``None`` where there is none.
    """
    asking = _asking(name)
    subject = canonical.digest([asking.subject(argument), argument["target"]])[:_DIGITS]
    kind = type_of(argument["target"])

    def declare(envelope: Mapping[str, Any]) -> dict[str, Any]:
        asked = asking.requests(argument, kind, envelope)
        return {f"{subject}{own}": {"target": argument["target"], "request": request} for own, request in asked.items()}

    asks = Asks(declare, usable=partial(_is_usable, asking))
    return Grader(f"check:{name}", _nothing, False, "", f"check:{name}", asks=asks, asks_takes=1)


def _asking(name: str) -> _Asking:
    from golden import ask_judge, ask_program, ask_similarity  # late: they import this module

    modules: dict[str, _Asking] = {"judge": ask_judge, "program": ask_program, "similarity": ask_similarity}
    return modules[name]


def _is_usable(asking: _Asking, envelope: Mapping[str, Any]) -> bool:
    return asking.is_usable(envelope)


def _nothing(_: Any) -> dict[str, Any]:
    return {}


def is_empty(envelope: Mapping[str, Any]) -> bool:
    """Tell whether an answer has neither text nor a tool call nor a refusal: about such a one nobody is asked."""
    return not (envelope["text"] or envelope["tool_calls"] or envelope["refusal"])


def sendable(text: str) -> str:
    """Return a model's text with nothing in it that UTF-8 cannot hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
