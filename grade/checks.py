"""Built-in checks: data in the case. A check emits its code only when it is violated.

Each check is one function of (envelope, argument) that returns ``None`` when it holds, or the evidence of the violation. The number
beside its name enters the grader digest: whoever changes what a check does bumps the number, and a test holds them to it.

A check that forbids something never holds on an answer without text: an empty answer proves nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from snapshots import strict_json
from snapshots.envelope import Envelope
from snapshots.errors import JsonError
from snapshots.pointer import escape

Violation = Any
_EMPTY = {"answer": "empty"}


@dataclass(frozen=True, slots=True)
class Check:
    """A built-in check: its finding code, its rule's number and the rule."""

    code: str
    number: int
    rule: Callable[[Envelope, Any], Violation]


def _folded(text: str, argument: Any) -> str:
    return text.casefold() if isinstance(argument, Mapping) and argument.get("ignore_case") else text


def _wanted(argument: Any) -> tuple[str, list[str]]:
    """Return the quantifier and the texts of a contains argument."""
    if isinstance(argument, str):
        return "all", [argument]
    if isinstance(argument, list):
        return "all", [str(t) for t in argument]
    for name in ("any", "all"):
        if name in argument:
            return name, list(argument[name])
    return "all", [argument["text"]]


def _contains(envelope: Envelope, argument: Any) -> Violation:
    """``text_missing``: the text does not contain the wanted text (all of them, or any of them)."""
    quantifier, wanted = _wanted(argument)
    text = _folded(envelope["text"], argument)
    missing = [w for w in wanted if _folded(w, argument) not in text]
    holds = not missing if quantifier == "all" else len(missing) < len(wanted)
    return None if holds else {"missing": missing}


def _not_contains(envelope: Envelope, argument: Any) -> Violation:
    """``text_forbidden``: the text contains a forbidden text, or the answer has neither text nor a tool call."""
    if not envelope["text"] and not envelope["tool_calls"]:
        return _EMPTY
    quantifier, forbidden = _wanted(argument)
    text = _folded(envelope["text"], argument)
    found = [w for w in forbidden if _folded(w, argument) in text]
    violated = (
        len(found) == len(forbidden)
        if quantifier == "all" and isinstance(argument, Mapping) and "all" in argument
        else found
    )
    return {"found": found} if violated else None


def _equals(envelope: Envelope, argument: Any) -> Violation:
    """``text_differs``: the text is not the wanted one."""
    options: Mapping[str, Any] = argument if isinstance(argument, Mapping) else {"text": argument}
    text, wanted = envelope["text"], options["text"]
    if options.get("strip"):
        text, wanted = text.strip(), wanted.strip()
    return None if _folded(text, options) == _folded(wanted, options) else {"expected": wanted}


_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}


def _regex(envelope: Envelope, argument: Any) -> Violation:
    """``pattern_missing``: the pattern is found nowhere in the text."""
    options: Mapping[str, Any] = argument if isinstance(argument, Mapping) else {"pattern": argument}
    flags = re.NOFLAG
    for letter in options.get("flags", ""):
        flags |= _FLAGS[letter]
    return None if re.search(options["pattern"], envelope["text"], flags) else {"pattern": options["pattern"]}


_validators: dict[str, Any] = {}


def schema_validator(schema: Any) -> Any:
    """Return the compiled validator of a schema; compiling reads files and is done before the world is closed."""
    key = json.dumps(schema, sort_keys=True)
    if key not in _validators:
        from golden.schema import validator  # late: jsonschema costs more than a hundred gradings

        _validators[key] = validator(schema)
    return _validators[key]


def _json_schema(envelope: Envelope, schema: Any) -> Violation:
    """``schema_violated``: the text is no JSON, or not JSON of this schema (draft 2020-12 unless ``$schema`` says otherwise)."""
    try:
        value = strict_json.loads(envelope["text"])
    except JsonError as error:
        return {"reason": error.message[:200]}
    errors = sorted(schema_validator(schema).iter_errors(value), key=lambda e: [str(p) for p in e.absolute_path])
    if not errors:
        return None
    pointer = "".join(f"/{escape(str(p))}" for p in errors[0].absolute_path)
    return {"pointer": pointer, "keyword": str(errors[0].validator), "violations": len(errors)}


def _tool_called(envelope: Envelope, argument: Any) -> Violation:
    """``tool_not_called``: no call of that tool has these arguments (a subset is enough)."""
    name = argument if isinstance(argument, str) else argument["name"]
    wanted: Mapping[str, Any] = {} if isinstance(argument, str) else argument.get("arguments", {})
    calls = envelope["tool_calls"]
    for call in calls:
        if call["name"] == name and all(
            k in call["arguments"] and _same(call["arguments"][k], v) for k, v in wanted.items()
        ):
            return None
    return {"called": [c["name"] for c in calls]}


def _same(found: Any, wanted: Any) -> bool:
    # JSON has one kind of number but true is none of them.
    return isinstance(found, bool) == isinstance(wanted, bool) and found == wanted


def _not_tool_called(envelope: Envelope, name: Any) -> Violation:
    """``forbidden_tool_called``: the tool was called, or the answer is empty."""
    calls = [c["name"] for c in envelope["tool_calls"]]
    if name in calls:
        return {"calls": calls.count(name)}
    return None if calls or envelope["text"] or envelope["refusal"] else _EMPTY


def _allowed_tools(envelope: Envelope, allowed: Any) -> Violation:
    """``tool_not_allowed``: a tool outside the case's ``allowed_tools`` was called."""
    others = sorted({c["name"] for c in envelope["tool_calls"]} - set(allowed))
    return {"called": others} if others else None


def _max_tokens(envelope: Envelope, limit: Any) -> Violation:
    """``too_many_tokens``: more output tokens than the limit, or the answer does not say how many."""
    used = envelope["usage"]["output_tokens"]
    return {"output_tokens": used} if used is None or used > limit else None


def _finish_reason(envelope: Envelope, argument: Any) -> Violation:
    """``unexpected_finish_reason``: the answer ended for another reason."""
    wanted = [argument] if isinstance(argument, str) else list(argument)
    return None if envelope["finish_reason"] in wanted else {"finish_reason": envelope["finish_reason"]}


_CHECKS = {
    "allowed_tools": Check("tool_not_allowed", 1, _allowed_tools),
    "contains": Check("text_missing", 1, _contains),
    "equals": Check("text_differs", 1, _equals),
    "finish_reason": Check("unexpected_finish_reason", 1, _finish_reason),
    "json_schema": Check("schema_violated", 1, _json_schema),
    "max_tokens": Check("too_many_tokens", 1, _max_tokens),
    "not_contains": Check("text_forbidden", 1, _not_contains),
    "not_tool_called": Check("forbidden_tool_called", 1, _not_tool_called),
    "regex": Check("pattern_missing", 1, _regex),
    "tool_called": Check("tool_not_called", 1, _tool_called),
}
CHECKS: Mapping[str, Check] = MappingProxyType(_CHECKS)
EMPTY_ANSWER = "empty_answer"
EMPTY_ANSWER_NUMBER = 2
RESERVED_CODES = frozenset(check.code for check in CHECKS.values()) | {EMPTY_ANSWER}
