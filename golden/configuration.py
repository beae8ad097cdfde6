"""The configuration file: ``whichclock.toml``, or ``[tool.whichclock]`` in ``pyproject.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from golden import environment, schema
from golden.place import Place
from snapshots import config_file, strict_json
from snapshots.errors import JsonError

NAME = config_file.NAME
PROJECT = config_file.PROJECT


def find_config(start: Path | None = None, explicit: Path | None = None) -> Path:
    """Return the configuration file.

    Args:
        start: the folder from which it is looked for upwards; the working directory if not given.
        explicit: the file that ``--config`` names, which is then the one.

    Raises:
        UsageError: there is none.
    """
    return config_file.find(start, explicit, hint="write one, or name it with --config FILE")


def read(config: Path, environ: Mapping[str, str]) -> tuple[dict[str, Any], Place]:
    """Return the configuration, its variables resolved and its shape judged, and its place.

    Raises:
        ConfigError: not TOML, not of the shape, or a variable is missing or must not be keyed.
    """
    raw, pointer = config_file.read(config)
    place = Place(config.name, None, pointer)
    _require_json(raw, place, hint="quote dates: JSON has none")
    _require_tables(raw, place)
    resolved = environment.resolve(raw, environ, place)
    _require_json(resolved, place, hint="a variable holds bytes that are no text")
    schema.require(resolved, "config", place)
    return resolved, place


def _require_json(value: Any, place: Place, hint: str) -> None:
    try:
        strict_json.check(value)
    except JsonError as error:
        raise place.fault(error.pointer or "", error.reason, hint=hint) from None


def _require_tables(raw: Any, place: Place) -> None:
    # The rules about variables look into targets before the schema has judged their shape.
    targets = raw.get("targets", {})
    if not isinstance(targets, dict):
        raise place.fault("/targets", f"found {schema.shown(targets)}, expected a mapping")
