"""Paths into a JSON value as people write them: the singular queries of RFC 9535 (JSONPath), which name one value or none.

``$.items[0]['unit price']``: names behind a dot or quoted in brackets, and indices, from the end where they are negative.
Wildcards, slices, filters and ``..`` name several values and are refused, so that a check is about one value.
"""

from __future__ import annotations

import functools
import json
import re
from typing import Any

Step = str | int

_FIRST = "A-Za-z_\u0080-\ud7ff\ue000-\U0010ffff"
_BLANK = r"[ \t\n\r]*"
_STEP = (
    rf"{_BLANK}(?:\.(?P<short>[{_FIRST}][{_FIRST}0-9]*)"
    rf"|\[{_BLANK}(?:(?P<index>0|-?[1-9][0-9]{{0,15}})"
    r"|\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>(?:[^'\\]|\\.)*)'"
    rf"){_BLANK}\])"
)
_QUOTES = r"\\.|\""


@functools.cache
def parse(path: str) -> tuple[Step, ...]:
    """Return the steps of a path: names and indices.

    Raises:
        ValueError: it is no singular query.
    """
    if not path.startswith("$"):
        raise ValueError("it does not begin with $")
    pattern = re.compile(_STEP)  # not at import: that costs more than all paths of most suites
    steps: list[Step] = []
    at = 1
    while at < len(path):
        step = pattern.match(path, at)
        if step is None:
            raise ValueError(f"{path[at : at + 20]!r} is no name and no index")
        if step["index"] is not None:
            steps.append(int(step["index"]))
        elif step["short"] is not None:
            steps.append(step["short"])
        else:
            steps.append(_name(step))
        at = step.end()
    return tuple(steps)


def _name(step: re.Match[str]) -> str:
    quoted = step["double"]
    if quoted is None:
        # The same escapes but for the quotes, which change places.
        quoted = re.sub(_QUOTES, lambda m: {'"': '\\"', "\\'": "'"}.get(m[0], m[0]), step["single"], flags=re.DOTALL)
    try:
        return json.loads(f'"{quoted}"')
    except json.JSONDecodeError:
        raise ValueError(f"{step[0].strip()[:20]!r} has an escape that JSON does not know") from None


def find(value: Any, path: str) -> tuple[bool, Any]:
    """Return ``(True, part)`` for the part that a path names, or ``(False, None)`` where there is none.

    Raises:
        ValueError: the path is no singular query.
    """
    for step in parse(path):
        kind = dict if isinstance(step, str) else list
        found, value = _step(value, step) if isinstance(value, kind) else (False, None)
        if not found:
            return False, None
    return True, value


def _step(container: Any, step: Any) -> tuple[bool, Any]:
    is_there = step in container if isinstance(step, str) else -len(container) <= step < len(container)
    return is_there, container[step] if is_there else None
