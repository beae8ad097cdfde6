"""Checks of a text that is to be JSON: at all, by a schema, and at one place in it. The text is read strictly, as a whole."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from golden import json_path
from grade.violation import Violation, brief
from snapshots import strict_json
from snapshots.envelope import Envelope
from snapshots.errors import JsonError
from snapshots.pointer import differing, escape

_KINDS: dict[str, Callable[[Any], bool]] = {
    "any": lambda v: True,
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
}
_validators: dict[str, Any] = {}


def is_json(envelope: Envelope, kind: Any) -> Violation:
    """``not_json``: the text is no JSON, or a value of another type."""
    try:
        value = strict_json.loads(envelope["text"])
    except JsonError as error:
        return {"reason": error.message[:200]}
    return None if _KINDS[kind](value) else {"found": next(k for k in _KINDS if k != "any" and _KINDS[k](value))}


def schema_validator(schema: Any) -> Any:
    """Return the compiled validator of a schema; compiling reads files and is done before the world is closed."""
    key = json.dumps(schema, sort_keys=True)
    if key not in _validators:
        from golden.schema import validator  # late: jsonschema costs more than a hundred gradings

        _validators[key] = validator(schema)
    return _validators[key]


def json_schema(envelope: Envelope, schema: Any) -> Violation:
    """``schema_violated``: the text is no JSON, or not JSON of this schema (draft 2020-12 unless ``$schema`` says otherwise)."""
    try:
        value = strict_json.loads(envelope["text"])
    except JsonError as error:
        return {"reason": error.message[:200]}
    return first_error(value, schema)


def first_error(value: Any, schema: Any) -> Violation:
    """Return where a value does not fit a schema, by the first place in order, or ``None``."""
    errors = sorted(schema_validator(schema).iter_errors(value), key=lambda e: [str(p) for p in e.absolute_path])
    if not errors:
        return None
    pointer = "".join(f"/{escape(str(p))}" for p in errors[0].absolute_path)
    return {"pointer": pointer, "keyword": str(errors[0].validator), "violations": len(errors)}


def json_value(envelope: Envelope, argument: Any) -> Violation:
    """``json_value_differs``: the text is no JSON, or what stands at the path is not as wanted."""
    try:
        value = strict_json.loads(envelope["text"])
    except JsonError as error:
        return {"reason": error.message[:200]}
    found, part = json_path.find(value, argument["path"])
    if "exists" in argument:
        return None if found == argument["exists"] else {"path": argument["path"], "exists": found}
    if not found:
        return {"path": argument["path"], "exists": False}
    return None if _holds(part, argument) else {"path": argument["path"], "found": brief(part)}


def _holds(part: Any, argument: Any) -> bool:
    if "equals" in argument:
        return next(differing(part, argument["equals"]), None) is None
    return isinstance(part, str) and re.search(argument["matches"], part) is not None
