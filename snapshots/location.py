"""Where the store is: the option, the variable, or the ``snapshots`` key of the nearest configuration.

Read without the suite, so that snapshots can be looked at where cases or graders are broken or absent.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snapshots import config_file, variable
from snapshots.errors import ConfigError, UsageError

DEFAULT = "snapshots"
VARIABLE = "WHICHCLOCK_SNAPSHOTS"


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
        ConfigError: the configuration cannot be read, or its ``snapshots`` names no folder.
    """
    environ = os.environ if environ is None else environ
    chosen = named(option, environ)
    if chosen is not None:
        return chosen
    file = config_file.find(start, config, hint="name the store with --snapshots DIR")
    table, pointer = config_file.read(file)
    text = _resolved(table.get("snapshots", DEFAULT), file.name, f"{pointer}/snapshots", environ)
    return file.resolve().parent / text


def named(option: Path | None, environ: Mapping[str, str]) -> Path | None:
    """Return the store that wins over the configuration: the option's, else the variable's, which counts only if it is not empty."""
    if option is not None:
        return option
    return Path(environ[VARIABLE]) if environ.get(VARIABLE) else None


def _resolved(text: Any, file: str, pointer: str, environ: Mapping[str, str]) -> str:
    if not isinstance(text, str):
        raise ConfigError(f"{file}: found no text at {pointer}, expected the path of a folder")
    try:
        found = variable.references(text)
    except ValueError as error:
        raise ConfigError(f"{file}: {error} at {pointer}", hint=variable.SPELLING_HINT) from None
    for name, default in found:
        if variable.is_missing(name, default, environ):
            raise ConfigError(f"{file}: variable {name} is not set at {pointer}", hint=variable.missing_hint(name))
    resolved = variable.resolve(text, environ)
    if not resolved or "\0" in resolved:
        raise ConfigError(f"{file}: found {resolved!r} at {pointer}, expected the path of a folder")
    return resolved
