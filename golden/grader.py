"""The grader decorator. A grader is a pure function: a read-only envelope (and, if it takes one, the case) in, finding codes out."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

MARK = "__whichclock_grader__"
CODE = re.compile(r"[a-z][a-z0-9_]*")
_Function = TypeVar("_Function", bound=Callable[..., Any])


def grader(function: _Function) -> _Function:
    """Mark a function as a grader; its name is what cases list under ``graders``.

    The function is returned unchanged, so that it can be called and tested like any other. It takes ``(envelope)`` or
    ``(envelope, case)`` and returns a set, list or tuple of finding codes, or a mapping from code to evidence.

    Raises:
        TypeError: the object is no function of one or two positional parameters.
    """
    takes_case(function)
    setattr(function, MARK, True)
    return function


def takes_case(function: Callable[..., Any]) -> bool:
    """Tell whether a grader takes the case besides the envelope.

    Raises:
        TypeError: it takes neither one nor two positional arguments.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise TypeError("a grader is a function of (envelope) or (envelope, case)") from None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [p for p in parameters if p.kind in kinds and p.default is inspect.Parameter.empty]
    keyword_only = [
        p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY and p.default is inspect.Parameter.empty
    ]
    positional = [p for p in parameters if p.kind in kinds]
    if keyword_only or not positional or len(required) > 2:
        raise TypeError("a grader is a function of (envelope) or (envelope, case)")
    return len(required) == 2 or (len(positional) >= 2 and positional[1].name == "case")
