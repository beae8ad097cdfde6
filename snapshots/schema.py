"""The JSON Schema of a snapshot file, and its validator over a closed registry: nothing is ever fetched."""

from __future__ import annotations

import functools
import importlib.resources
from typing import Any

import orjson

from snapshots.pointer import escape


@functools.cache
def validator() -> Any:
    """Return the validator of snapshot files."""
    from jsonschema import validators
    from referencing import Registry

    text = importlib.resources.files("snapshots").joinpath("schemas", "snapshot.schema.json").read_bytes()
    schema = orjson.loads(text)
    return validators.validator_for(schema)(schema, registry=Registry())


def first_error(value: Any) -> str | None:
    """Return what is wrong with a file's value by the schema, at its JSON pointer, or ``None``."""
    error = next(iter(sorted(validator().iter_errors(value), key=lambda e: [str(p) for p in e.absolute_path])), None)
    if error is None:
        return None
    pointer = "".join(f"/{escape(str(part))}" for part in error.absolute_path)
    return f"{error.message[:200]} at {pointer or 'the top'}"
