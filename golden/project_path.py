"""Paths that a suite names: relative to the project root, and never outside it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

from golden.place import Place
from snapshots.errors import ConfigError

_GLOB = frozenset("*?[")


def file_inside(root: Path, name: str, place: Place, pointer: str) -> Path:
    """Return the file ``name`` below ``root`` (a resolved folder).

    Raises:
        ConfigError: the name leads outside (``..``, absolute, a symbolic link) or names no file.
    """
    _refuse_outside(name, place, pointer)
    path = root / name
    if not _is_file(path):
        raise place.fault(pointer, f"no file {name!r}", hint=f"paths are relative to {root}")
    if not is_below(path, root):
        raise place.fault(pointer, f"{name!r} is a symbolic link to a file outside the project")
    return path


def files_matching(root: Path, pattern: str, place: Place, pointer: str) -> list[Path]:
    """Return the files below ``root`` that a glob (or a plain path) names, sorted by their relative path.

    Raises:
        ConfigError: nothing matches, or something that matches lies outside.
    """
    _refuse_outside(pattern, place, pointer)
    try:
        found = sorted({p for p in root.glob(pattern) if _is_file(p)}, key=lambda p: p.relative_to(root).as_posix())
    except (ValueError, NotImplementedError, OSError) as error:
        raise place.fault(pointer, f"{pattern!r} is no glob: {error}") from None
    if not found:
        what = "matches no file" if _GLOB & set(pattern) else "is no file"
        raise place.fault(pointer, f"{pattern!r} {what}", hint=f"paths are relative to {root}")
    for path in found:
        if not is_below(path, root):
            name = path.relative_to(root).as_posix()
            raise place.fault(
                pointer, f"{name!r}, which {pattern!r} matches, is a symbolic link to a file outside the project"
            )
    return found


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # The name is longer than any file's can be, or its folder may not be entered.
        return False


def is_below(path: Path, root: Path) -> bool:
    """Tell whether a path, its symbolic links followed, lies below a resolved folder."""
    return path.resolve().is_relative_to(root)


def read_text(path: Path, place: Place, pointer: str) -> str:
    """Return a file's UTF-8 text as it stands, line ends included.

    Raises:
        ConfigError: it cannot be read or is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise place.fault(pointer, f"{path.name!r} is not UTF-8: byte {error.start}", hint="save it as UTF-8") from None
    except OSError as error:
        raise ConfigError(f"{place.file}: cannot read {path}: {error.strerror}") from None


def _refuse_outside(name: str, place: Place, pointer: str) -> None:
    if not name or "\0" in name:
        raise place.fault(pointer, f"{name!r} is no path")
    posix = PurePosixPath(name)
    if posix.is_absolute() or PureWindowsPath(name).is_absolute() or ".." in PureWindowsPath(name).parts:
        raise place.fault(
            pointer, f"{name!r} leads outside the project", hint="name files below the configuration file's folder"
        )
