"""JSON values written as YAML that people like to read and that our own reader gives back as they were."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

# Names that no reader could take for anything but text.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_PLAIN = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
# What a block of lines can hold as it is: nothing that a reader breaks, drops or refuses.
_LINES = re.compile("[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*")
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_INDENT = "  "


def written(value: Any) -> str:
    """Return a JSON value as a YAML document."""
    return "".join(f"{line}\n" if line else "\n" for line in _block(value, ""))


def _block(value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _entry(f"{indent}{_name(name)}:", item, indent)
    elif isinstance(value, list) and value:
        for item in value:
            yield from _entry(f"{indent}-", item, indent)
    else:
        yield indent + _scalar(value)


def _entry(head: str, item: Any, indent: str) -> Iterator[str]:
    if isinstance(item, dict | list) and item:
        below = list(_block(item, indent + _INDENT))
        if head.endswith("-") and isinstance(item, dict):
            first, *below = below
            yield f"{head} {first.removeprefix(indent + _INDENT)}"
        else:
            yield head
        yield from below
    elif isinstance(item, str) and _is_lines(item):
        yield f"{head} |{len(_INDENT)}{'' if item.endswith(chr(10)) else '-'}"
        yield from (f"{indent}{_INDENT}{line}" if line else "" for line in item.removesuffix("\n").split("\n"))
    else:
        yield f"{head} {_scalar(item)}"


def _is_lines(text: str) -> bool:
    """Tell whether a text of several lines may stand in a block, which says in one sign whether it ends with a line end."""
    body = text.removesuffix("\n")
    return "\n" in body and not body.endswith("\n") and _LINES.fullmatch(text) is not None


def _name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) and name.lower() not in _NOT_PLAIN else _scalar(name)


def _scalar(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
