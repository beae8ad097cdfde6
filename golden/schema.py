"""JSON Schemas: the ones we ship, and the one place where validators are built.

jsonschema fetches remote references unless it is given a registry. Every validator here has an empty one: nothing is
ever fetched, and what a schema names outside itself is refused when the suite is loaded.
"""

from __future__ import annotations

import difflib
import functools
import importlib.resources
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from golden import predicate
from golden.place import Place
from snapshots.errors import ConfigError, UsageError
from snapshots.pointer import escape

# Name on the command line -> package and file. Packages are looked up by path: nothing of them is imported.
SHIPPED = {
    "config": ("golden", "config.schema.json"),
    "case": ("golden", "case.schema.json"),
    "snapshot": ("snapshots", "snapshot.schema.json"),
    "results": ("grade", "results.schema.json"),
    "diff": ("diff", "diff.schema.json"),
}


def shipped_text(name: str) -> str:
    """Return the text of a shipped schema.

    Args:
        name: ``config``, ``case``, ``snapshot``, ``results`` or ``diff``.

    Raises:
        UsageError: no schema of that name is shipped.
    """
    if name not in SHIPPED:
        near = difflib.get_close_matches(name, SHIPPED, 1)
        raise UsageError(
            f"no schema is called {name!r}; there are {', '.join(SHIPPED)}",
            hint=f"did you mean {near[0]!r}?" if near else "",
        )
    package, file = SHIPPED[name]
    # All packages are siblings, so the path leads there without importing the verb that owns the file.
    found = importlib.resources.files("golden").joinpath("..", package, "schemas", file)
    if not found.is_file():
        raise UsageError(f"the schema {name!r} is not part of this build")
    return found.read_text("utf-8")


@functools.cache
def shipped(name: str) -> dict[str, Any]:
    """Return a shipped schema as a value; callers must not change it."""
    return json.loads(shipped_text(name))


@functools.cache
def _predicate(name: str) -> predicate.Predicate:
    return predicate.compile_schema(shipped(name))


def require(value: Any, name: str, place: Place) -> None:
    """Refuse a value that does not fit a shipped schema.

    Raises:
        ConfigError: names file, line, JSON pointer, what was found and what was expected.
    """
    if _predicate(name)(value):
        return
    for error in _in_order(validator(shipped(name)).iter_errors(value)):
        pointer, what, hint = _explain(error)
        raise place.fault(pointer, what, hint=hint)


def validator(schema: Any) -> Any:
    """Return a jsonschema validator over a closed registry, of the dialect that ``$schema`` names (else 2020-12).

    Raises:
        ConfigError: ``$schema`` names a dialect that is not known here.
    """
    from referencing import Registry

    return _exact(_dialect(schema))(schema, registry=Registry())


def validator_of_schemas(schema: Any) -> Any:
    """Return the validator of schemas in the dialect that ``schema`` is written in.

    Raises:
        ConfigError: ``$schema`` names a dialect that is not known here.
    """
    from jsonschema_specifications import REGISTRY

    dialect = _dialect(schema)
    # The meta-schemas refer to each other; this registry holds them all and has no way to fetch more.
    return dialect(dialect.META_SCHEMA, registry=REGISTRY)


def _dialect(schema: Any) -> Any:
    from jsonschema import validators

    named = schema.get("$schema") if isinstance(schema, dict) else None
    unknown: Any = None
    found: Any = None
    if named is None or isinstance(named, str):
        latest = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
        found = validators.validator_for(latest if named is None else schema, default=unknown)
    if found is None:
        raise ConfigError(
            f"$schema {named!r} is no known dialect", hint="use https://json-schema.org/draft/2020-12/schema"
        )
    return found


@functools.cache
def _exact(dialect: Any) -> Any:
    """Return the dialect with ``multipleOf`` computed exactly; jsonschema divides floats."""
    from jsonschema import exceptions, validators

    def multiple_of(_: Any, factor: Any, instance: Any, __: Any) -> Iterator[Any]:
        number = isinstance(instance, int | float) and not isinstance(instance, bool)
        if number and Fraction(repr(instance)) % Fraction(repr(factor)) != 0:
            yield exceptions.ValidationError(f"{instance!r} is not a multiple of {factor!r}")

    return validators.extend(dialect, {"multipleOf": multiple_of})


def _in_order(errors: Iterator[Any]) -> list[Any]:
    """Return errors with the most telling first: unknown keys (typos) before what is missing, then by place."""
    rank = {"additionalProperties": 0, "type": 1, "anyOf": 3}
    return sorted(errors, key=lambda e: (rank.get(e.validator, 2), [str(p) for p in e.absolute_path]))


def _explain(error: Any) -> tuple[str, str, str]:
    if error.validator == "anyOf" and (meant := _errors_of_the_branch_meant(error)):
        return _explain(_in_order(iter(meant))[0])
    pointer = "".join(f"/{escape(str(part))}" for part in error.absolute_path)
    if error.validator == "additionalProperties" and error.validator_value is False:
        return _unknown_key(error, pointer)
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return pointer, f"no member {missing!r}{_of(error)}", error.schema.get("description", "")
    if _is_choice(error):
        names = [option["required"][0] for option in error.validator_value]
        found = [name for name in names if name in error.instance]
        return pointer, f"found {' and '.join(found) or 'none'}, expected exactly one of {', '.join(names)}", ""
    return pointer, f"found {shown(error.instance)}, expected {_expected(error)}", ""


def _is_choice(error: Any) -> bool:
    return error.validator == "oneOf" and all(list(o) == ["required"] for o in error.validator_value)


def _errors_of_the_branch_meant(error: Any) -> list[Any]:
    """Return the errors of the alternatives that are of the value's own type; there may be none.

    A mapping is of the type that its member ``type`` names, where the alternatives do.
    """
    of_other_type = {
        e.schema_path[0] for e in error.context if e.validator in ("type", "enum") and list(e.path) in ([], ["type"])
    }
    return [e for e in error.context if e.schema_path[0] not in of_other_type]


def _unknown_key(error: Any, pointer: str) -> tuple[str, str, str]:
    known = list(error.schema.get("properties", {}))
    name = next(key for key in error.instance if key not in known)
    near = difflib.get_close_matches(str(name), known, 1)
    hint = f"did you mean {near[0]!r}?" if near else error.schema.get("description", f"known keys: {', '.join(known)}")
    return f"{pointer}/{escape(str(name))}", f"unknown key {str(name)[:80]!r}{_of(error)}", hint


def _of(error: Any) -> str:
    """Return which alternative an error is about, where the schema says so."""
    title = error.schema.get("title", "")
    return f" of {title}" if title.startswith("a ") else ""


_TYPE_NAMES = {
    "string": "text",
    "object": "a mapping",
    "array": "a list",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}


def _expected(error: Any) -> str:
    argument = error.validator_value
    said = {
        "type": lambda: _TYPE_NAMES.get(str(argument), str(argument)),
        "enum": lambda: "one of " + ", ".join(json.dumps(a) for a in argument),
        "minimum": lambda: f"at least {argument}",
        "maximum": lambda: f"at most {argument}",
        "exclusiveMinimum": lambda: f"more than {argument}",
        "minLength": lambda: "text that is not empty",
        "minItems": lambda: "a list that is not empty",
        "minProperties": lambda: (
            "exactly one member" if error.schema.get("maxProperties") == 1 else "at least one member"
        ),
        "maxProperties": lambda: "exactly one member",
        "uniqueItems": lambda: "every item once",
    }.get(error.validator)
    if said is not None:
        return said()
    return error.schema.get("description") or error.message


def shown(value: Any) -> str:
    """Return a value as a message shows it: JSON, at most 60 characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:59] + "…"
