"""The configuration file: ``whichclock.toml``, or ``[tool.whichclock]`` in ``pyproject.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from golden import environment, schema
from golden.place import Place
from golden.project_path import read_text
from snapshots import strict_json
from snapshots.errors import ConfigError, JsonError, UsageError

NAME = "whichclock.toml"
PROJECT = "pyproject.toml"


def find_config(start: Path | None = None, explicit: Path | None = None) -> Path:
    """Return the configuration file.

    Args:
        start: the folder from which it is looked for upwards; the working directory if not given.
        explicit: the file that ``--config`` names, which is then the one.

    Raises:
        UsageError: there is none.
    """
    if explicit is not None:
        if not explicit.is_file():
            raise UsageError(f"no configuration file {explicit}")
        return explicit
    folder = (start or Path()).resolve()
    for candidate in (folder, *folder.parents):
        if (candidate / NAME).is_file():
            return candidate / NAME
        project = candidate / PROJECT
        if project.is_file() and _table(_toml(project), project) is not None:
            return project
    raise UsageError(
        f"no {NAME} here or above, and no [tool.whichclock] in a {PROJECT}",
        hint="write one, or name it with --config FILE",
    )


def read(config: Path, environ: Mapping[str, str]) -> tuple[dict[str, Any], Place]:
    """Return the configuration, its variables resolved and its shape judged, and its place.

    Raises:
        ConfigError: not TOML, not of the shape, or a variable is missing or must not be keyed.
    """
    document = _toml(config)
    place = Place(config.name)
    raw: Any = document
    if config.name == PROJECT:
        raw = _table(document, config)
        place = Place(config.name, None, "/tool/whichclock")
        if raw is None:
            raise ConfigError(f"{config.name}: no table [tool.whichclock]")
    _require_json(raw, place, hint="quote dates: JSON has none")
    _require_tables(raw, place)
    resolved = environment.resolve(raw, environ, place)
    _require_json(resolved, place, hint="a variable holds bytes that are no text")
    schema.require(resolved, "config", place)
    return resolved, place


def _toml(path: Path) -> dict[str, Any]:
    text = read_text(path, Place(path.name), "")
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path.name}: not TOML: {error}") from None


def _table(document: dict[str, Any], path: Path) -> Any:
    tool = document.get("tool", {})
    found = tool.get("whichclock") if isinstance(tool, dict) else None
    if found is not None and not isinstance(found, dict):
        raise ConfigError(f"{path.name}: tool.whichclock is no table")
    return found


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
