"""The configuration file as TOML: where it is, and the table in it that is ours. What the table means is golden's to say."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from snapshots.errors import ConfigError, UsageError

NAME = "whichclock.toml"
PROJECT = "pyproject.toml"
POINTER = "/tool/whichclock"
"""Where our table stands in a ``pyproject.toml``."""


def find(start: Path | None = None, explicit: Path | None = None, *, hint: str) -> Path:
    """Return the configuration file.

    Args:
        start: the folder from which it is looked for upwards; the working directory if not given.
        explicit: the file that ``--config`` names, which is then the one.
        hint: what to do where there is none.

    Raises:
        UsageError: there is none.
        ConfigError: a ``pyproject.toml`` on the way cannot be read.
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
    raise UsageError(f"no {NAME} here or above, and no [tool.whichclock] in a {PROJECT}", hint=hint)


def read(config: Path) -> tuple[dict[str, Any], str]:
    """Return our table of a configuration file, and its JSON pointer in the file.

    Raises:
        ConfigError: it cannot be read, is no TOML, or holds no table of ours.
    """
    document = _toml(config)
    if config.name != PROJECT:
        return document, ""
    table = _table(document, config)
    if table is None:
        raise ConfigError(f"{config.name}: no table [tool.whichclock]")
    return table, POINTER


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"cannot read {path.name}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path.name}: it is not UTF-8: byte {error.start}", hint="save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path.name}: not TOML: {error}") from None


def _table(document: dict[str, Any], path: Path) -> dict[str, Any] | None:
    tool = document.get("tool", {})
    found = tool.get("whichclock") if isinstance(tool, dict) else None
    if found is not None and not isinstance(found, dict):
        raise ConfigError(f"{path.name}: tool.whichclock is no table", hint="write [tool.whichclock] and keys below it")
    return found
