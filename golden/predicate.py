"""Whether a value fits one of our own schemas, fast: the schema compiled to plain functions.

jsonschema takes 160 µs a value and 76 ms to import. It stays the judge of what is wrong (``golden.schema``); this only
says yes quickly. Every keyword that our schemas use is here, and an unknown one fails at compile time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Predicate = Callable[[Any], bool]

_SILENT = frozenset({"$schema", "$defs", "$id", "title", "description", "examples", "default"})


def compile_schema(schema: Mapping[str, Any]) -> Predicate:
    """Return the function that tells whether a JSON value fits the schema.

    Raises:
        ValueError: the schema holds a keyword that is not compiled here.
    """
    return _compile(schema, schema)


def _compile(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Predicate:
    parts: list[Predicate] = []
    for keyword, argument in schema.items():
        if keyword in _SILENT or (keyword == "additionalProperties" and "properties" in schema):
            continue
        if keyword == "properties":
            parts.append(_properties(argument, schema.get("additionalProperties", True), root))
        elif keyword in _MAKERS:
            parts.append(_MAKERS[keyword](argument, root))
        else:
            raise ValueError(f"keyword {keyword!r} is not compiled")
    if len(parts) == 1:
        return parts[0]
    every = tuple(parts)

    def fits(value: Any) -> bool:
        for part in every:  # noqa: SIM110 -- a loop is twice as fast as all() over a generator
            if not part(value):
                return False
        return True

    return fits


def _is_number(value: Any) -> bool:
    return type(value) is int or type(value) is float


def _is_integer(value: Any) -> bool:
    return type(value) is int or (type(value) is float and value.is_integer())


_TYPES: dict[str, Predicate] = {
    "string": lambda v: type(v) is str,
    "object": lambda v: type(v) is dict,
    "array": lambda v: type(v) is list,
    "number": _is_number,
    "integer": _is_integer,
    "boolean": lambda v: type(v) is bool,
    "null": lambda v: v is None,
}


def _properties(known: Mapping[str, Any], others: Any, root: Mapping[str, Any]) -> Predicate:
    rules = {name: _compile(rule, root) for name, rule in known.items()}
    closed = others is False

    def fits(value: Any) -> bool:
        if type(value) is not dict:
            return True
        for name, item in value.items():
            rule = rules.get(name)
            if rule is None:
                if closed:
                    return False
            elif not rule(item):
                return False
        return True

    return fits


def _values(rule: Any, root: Mapping[str, Any]) -> Predicate:
    each = _compile(rule, root)
    return lambda v: type(v) is not dict or all(map(each, v.values()))


def _names(rule: Any, root: Mapping[str, Any]) -> Predicate:
    each = _compile(rule, root)
    return lambda v: type(v) is not dict or all(map(each, v))


def _items(rule: Any, root: Mapping[str, Any]) -> Predicate:
    each = _compile(rule, root)
    return lambda v: type(v) is not list or all(map(each, v))


def _required(names: list[str], _: Mapping[str, Any]) -> Predicate:
    return lambda v: type(v) is not dict or all(name in v for name in names)


def _any_of(rules: list[Any], root: Mapping[str, Any]) -> Predicate:
    options = [_compile(rule, root) for rule in rules]
    return lambda v: any(option(v) for option in options)


def _one_of(rules: list[Any], root: Mapping[str, Any]) -> Predicate:
    options = [_compile(rule, root) for rule in rules]
    return lambda v: sum(option(v) for option in options) == 1


def _not(rule: Any, root: Mapping[str, Any]) -> Predicate:
    refused = _compile(rule, root)
    return lambda v: not refused(v)


def _reference(pointer: str, root: Mapping[str, Any]) -> Predicate:
    part: Any = root
    for name in pointer.removeprefix("#/").split("/"):
        part = part[name]
    return _compile(part, root)


def _pattern(pattern: str, _: Mapping[str, Any]) -> Predicate:
    search = re.compile(pattern).search
    return lambda v: type(v) is not str or search(v) is not None


_MAKERS: dict[str, Callable[[Any, Mapping[str, Any]], Predicate]] = {
    "$ref": _reference,
    "additionalProperties": _values,
    "anyOf": _any_of,
    # Only texts are enumerated and named; equality of JSON numbers would need more.
    "const": lambda text, _: lambda v: type(v) is str and v == text,
    "enum": lambda texts, _: lambda v: type(v) is str and v in texts,
    "exclusiveMinimum": lambda n, _: lambda v: not _is_number(v) or v > n,
    "items": _items,
    "maxProperties": lambda n, _: lambda v: type(v) is not dict or len(v) <= n,
    "maximum": lambda n, _: lambda v: not _is_number(v) or v <= n,
    "minItems": lambda n, _: lambda v: type(v) is not list or len(v) >= n,
    "minLength": lambda n, _: lambda v: type(v) is not str or len(v) >= n,
    "minProperties": lambda n, _: lambda v: type(v) is not dict or len(v) >= n,
    "minimum": lambda n, _: lambda v: not _is_number(v) or v >= n,
    "not": _not,
    "oneOf": _one_of,
    "pattern": _pattern,
    "propertyNames": _names,
    "required": _required,
    "type": lambda name, _: _TYPES[name],
    # Used for lists of texts.
    "uniqueItems": lambda _, __: lambda v: type(v) is not list or len(v) == len({repr(i) for i in v}),
}
