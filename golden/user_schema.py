"""JSON Schemas in checks: read and judged at load, so that grading cannot trip over them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from golden import project_path, schema, yaml_text
from golden.place import Place
from snapshots import strict_json
from snapshots.errors import ConfigError, JsonError
from snapshots.pointer import escape, look_up

# Under these keywords stand values, not schemas: a "$ref" in there refers to nothing.
_DATA = frozenset({"const", "enum", "default", "examples"})
_NAMED_SCHEMAS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def read_value(path: Path, file: str) -> Any:
    """Return the JSON value that a JSON or YAML file holds.

    Raises:
        ConfigError: it is not of its format.
    """
    place = Place(file)
    text = project_path.read_text(path, place, "")
    try:
        if path.suffix.lower() in (".yaml", ".yml"):
            value = yaml_text.read(text.removeprefix("\ufeff"), file).value
            strict_json.check(value)
            return value
        return strict_json.loads(text)
    except JsonError as error:
        raise ConfigError(f"{file}: {error.message}", hint=error.hint) from None


def require_sound(value: Any, place: Place, pointer: str) -> None:
    """Refuse a value that is no JSON Schema, or one that could not be applied offline.

    Raises:
        ConfigError: not valid under its meta-schema, an unknown dialect, a pattern that does not compile, a reference
            that leads outside the schema or nowhere.
    """
    if not isinstance(value, dict | bool):
        raise place.fault(pointer, f"found {schema.shown(value)}, expected a JSON Schema")
    try:
        meta = schema.validator_of_schemas(value)
    except ConfigError as error:
        raise place.fault(pointer, error.message, hint=error.hint) from None
    for error in meta.iter_errors(value):
        at = pointer + "".join(f"/{escape(str(part))}" for part in error.absolute_path)
        raise place.fault(at, f"no JSON Schema: {error.message[:200]}")
    parts = list(_parts(value, "", ""))
    ids = {base for _, _, base in parts}
    anchors = {part.get(name) for part, _, _ in parts for name in ("$anchor", "$dynamicAnchor")}
    for part, at, base in parts:
        _require_patterns(part, place, pointer + at)
        for keyword in _REFERENCES:
            target = part.get(keyword)
            if isinstance(target, str):
                _require_inside(value, urljoin(base, target), ids, anchors, place, f"{pointer}{at}/{keyword}")


def _parts(value: Any, at: str, base: str) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield each schema object with its pointer and its base URI."""
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from _parts(item, f"{at}/{i}", base)
    if not isinstance(value, dict):
        return
    own = value.get("$id", value.get("id"))
    if isinstance(own, str):
        base = urldefrag(urljoin(base, own)).url
    yield value, at, base
    for name, item in value.items():
        here = f"{at}/{escape(name)}"
        if name in _NAMED_SCHEMAS and isinstance(item, dict):
            for member, inner in item.items():
                yield from _parts(inner, f"{here}/{escape(member)}", base)
        elif name not in _DATA:
            yield from _parts(item, here, base)


def _require_patterns(part: dict[str, Any], place: Place, at: str) -> None:
    named = part.get("patternProperties")
    patterns = [(f"{at}/patternProperties", p) for p in named] if isinstance(named, dict) else []
    if isinstance(part.get("pattern"), str):
        patterns.append((f"{at}/pattern", part["pattern"]))
    for where, pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise place.fault(where, f"pattern {pattern[:80]!r} does not compile: {error}") from None


def _require_inside(root: Any, target: str, ids: set[str], anchors: set[Any], place: Place, at: str) -> None:
    url, fragment = urldefrag(target)
    if url and url not in ids:
        raise place.fault(
            at,
            f"reference {target[:120]!r} leads outside the schema",
            hint="copy what it names into $defs; nothing is fetched",
        )
    simple = len(ids) == 1 and not url
    if fragment.startswith("/") and simple and not look_up(root, unquote(fragment))[0]:
        raise place.fault(at, f"reference {target[:120]!r} leads nowhere")
    if (
        fragment
        and not fragment.startswith("/")
        and simple
        and fragment not in anchors
        and f"#{fragment}" not in _ids(root)
    ):
        raise place.fault(at, f"reference {target[:120]!r} leads nowhere")


def _ids(root: Any) -> set[str]:
    """Return the ``$id`` values as written; drafts up to 7 name anchors with them."""
    named = (part.get("$id", part.get("id")) for part, _, _ in _parts(root, "", ""))
    return {name for name in named if isinstance(name, str)}
