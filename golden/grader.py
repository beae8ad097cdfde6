"""The grader decorator. A grader is a pure function: a read-only envelope (and, if it takes one, the case) in, finding codes out.

A grader that needs another answer first (a judge's, two embeddings, an external checker's) declares who asks for it::

    def ask_judge(envelope, case):
        return {"verdict": {"target": "judge", "request": {"messages": [...]}}}

    @grader(asks=ask_judge)
    def rude(envelope, case, answers):
        return {"rude"} if answers["verdict"]["text"] == "rude" else set()
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, overload

MARK = "__whichclock_grader__"
CODE = re.compile(r"[a-z][a-z0-9_]*")
_Function = TypeVar("_Function", bound=Callable[..., Any])
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_PLAIN = "a grader is a function of (envelope) or (envelope, case)"
_ASKING = "a grader that asks is a function of (envelope, answers) or (envelope, case, answers)"
_ASKS = "asks is a function of (envelope), (envelope, case) or (envelope, case, answers)"


@dataclass(frozen=True, slots=True)
class Asks:
    """What a grader declares about its own requests.

    Attributes:
        function: returns the requests of a round, by name.
        salt: the grader's own salt; it stands in the key of its requests.
        usable: tells whether an answer can be read by the grader as it is today; ``None`` takes every answer.
    """

    function: Callable[..., Any]
    salt: str | None = None
    usable: Callable[..., Any] | None = None


@overload
def grader(function: _Function) -> _Function: ...
@overload
def grader(
    *, asks: Callable[..., Any] | None = None, salt: str | None = None, usable: Callable[..., Any] | None = None
) -> Callable[[_Function], _Function]: ...
def grader(
    function: Callable[..., Any] | None = None,
    *,
    asks: Callable[..., Any] | None = None,
    salt: str | None = None,
    usable: Callable[..., Any] | None = None,
) -> Any:
    """Mark a function as a grader; its name is what cases list under ``graders``.

    The function is returned unchanged, so that it can be called and tested like any other. It takes ``(envelope)`` or
    ``(envelope, case)`` and returns a set, list or tuple of finding codes, or a mapping from code to evidence. A grader that
    asks takes ``answers`` besides, last: a mapping from the names that ``asks`` gave to envelopes.

    Args:
        function: the grader, where the decorator is used without arguments.
        asks: a pure function of ``(envelope)``, ``(envelope, case)`` or ``(envelope, case, answers)`` that returns
            ``{name: {"target": …, "request": {…}}}``: a chat body, an embeddings body, or what an exec or http target takes.
            ``answers`` holds what earlier rounds were answered; there are three rounds at most. ``{}`` asks for nothing.
        salt: the grader's own salt, part of the key of its requests.
        usable: a pure function of an answer's envelope; a recorded answer for which it returns false or raises is asked again.

    Raises:
        TypeError: the object, ``asks`` or ``usable`` is no such function, or ``salt`` is no text.
    """
    if function is None and asks is None:
        raise TypeError("grader: salt and usable belong to asks; write @grader, or @grader(asks=…)")
    declared = None if asks is None else _asks(asks, salt, usable)

    def mark(marked: Callable[..., Any]) -> Callable[..., Any]:
        if declared is None:
            takes_case(marked)
        elif count(marked) not in (2, 3):
            raise TypeError(_ASKING)
        setattr(marked, MARK, declared or True)
        return marked

    return mark if function is None else mark(function)


def _asks(function: Callable[..., Any], salt: str | None, usable: Callable[..., Any] | None) -> Asks:
    if count(function) not in (1, 2, 3):
        raise TypeError(_ASKS)
    if salt is not None and not isinstance(salt, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- user code
        raise TypeError("the salt of a grader is a text")
    if usable is not None and count(usable) != 1:
        raise TypeError("usable is a function of (answer)")
    return Asks(function, salt, usable)


def count(function: Callable[..., Any]) -> int:
    """Return how many arguments a function takes by position, or -1 where it cannot be called so."""
    parameters = _positional(function)
    return -1 if parameters is None else len(parameters)


def _positional(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is inspect.Parameter.KEYWORD_ONLY and p.default is inspect.Parameter.empty for p in parameters):
        return None
    return [p for p in parameters if p.kind in _POSITIONAL]


def takes_case(function: Callable[..., Any]) -> bool:
    """Tell whether a grader takes the case besides the envelope.

    Raises:
        TypeError: it takes neither one nor two positional arguments.
    """
    positional = _positional(function)
    required = [p for p in positional or () if p.default is inspect.Parameter.empty]
    if not positional or len(required) > 2:
        raise TypeError(_PLAIN)
    return len(required) == 2 or (len(positional) >= 2 and positional[1].name == "case")
