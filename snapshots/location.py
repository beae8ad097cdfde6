"""Where the store is: the option, the variable, or the ``snapshots`` key of the nearest configuration.

Read without the suite, so that snapshots can be looked at where cases or graders are broken or absent.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snapshots.errors import ConfigError, UsageError

_VARIABLE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def existing_store(option: Path | None = None, *, config: Path | None = None) -> Path:
    """Return the folder of the store as ``store_folder`` does, if it is there.

    Raises:
        UsageError: there is no such folder: a check of nothing is no success.
    """
    folder = store_folder(option, config=config)
    if not folder.is_dir():
        raise UsageError(
            f"there is no store at {folder}", hint="whichclock capture makes one; --snapshots DIR names another"
        )
    return folder


def store_folder(
    option: Path | None = None,
    *,
    config: Path | None = None,
    start: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Path:
    """Return the folder of the store, which need not exist.

    Args:
        option: what ``--snapshots`` names; it wins over everything.
        config: the configuration file; ``None`` looks upwards from ``start``.
        start: where to look from; the working directory if not given.
        environ: the environment; the process's own if not given.

    Raises:
        UsageError: no configuration is found.
        ConfigError: the configuration is no TOML, or its ``snapshots`` is no text.
    """
    environ = os.environ if environ is None else environ
    if option is not None:
        return option
    if environ.get("WHICHCLOCK_SNAPSHOTS"):
        return Path(environ["WHICHCLOCK_SNAPSHOTS"])
    if config is not None:
        return _folder(config, _table(config) or {}, environ)
    here = (start or Path()).resolve()
    for folder in (here, *here.parents):
        for name in ("whichclock.toml", "pyproject.toml"):
            table = _table(folder / name) if (folder / name).is_file() else None
            if table is not None:
                return _folder(folder / name, table, environ)
    raise UsageError(
        "no whichclock.toml here or above, and no [tool.whichclock] in a pyproject.toml",
        hint="name the store with --snapshots DIR",
    )


def _table(path: Path) -> dict[str, Any] | None:
    try:
        document: Any = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read {path.name}: {error.strerror or error}") from None
    except ValueError as error:
        raise ConfigError(f"{path.name}: not TOML: {error}") from None
    if path.name != "pyproject.toml":
        return document
    tool = document.get("tool", {})
    return tool.get("whichclock") if isinstance(tool, dict) else None


def _folder(config: Path, table: dict[str, Any], environ: Mapping[str, str]) -> Path:
    text = table.get("snapshots", "snapshots")
    if not isinstance(text, str):
        raise ConfigError(f"{config.name}: found no text at /snapshots, expected the path of a folder")

    def value(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        if name not in environ and default is None:
            raise ConfigError(f"{config.name}: ${{env:{name}}} at /snapshots is not set", hint=f"set {name}")
        return environ.get(name, default or "")

    return config.resolve().parent / _VARIABLE.sub(value, text)
