"""Source bundles unpacked: an old grader's code, runnable again."""

from __future__ import annotations

import base64
from pathlib import Path, PurePosixPath
from typing import Any

from snapshots import strict_json
from snapshots.errors import JsonError


def unpack(sources: Path, digests: frozenset[str], folder: Path) -> list[Path] | None:
    """Write the files of some source bundles under a folder.

    Args:
        sources: the folder of bundles, one file for each digest.
        digests: the digests whose code is wanted.
        folder: where to write.

    Returns:
        The grader modules, or ``None`` where a bundle is missing, damaged, or two disagree about a file.
    """
    entries: list[Path] = []
    written: dict[str, bytes] = {}
    for digest in sorted(digests):
        bundle = read(sources / f"{digest}.json")
        if bundle is None:
            return None
        for name, content in bundle["files"].items():
            data = _bytes(content)
            # A bundle is data from a repository: its names must stay inside the folder.
            if (
                data is None
                or not _is_inside(name)
                or written.setdefault(name, data) != data
                or not _written(folder / name, data)
            ):
                return None
        if bundle["entry"] not in bundle["files"]:
            return None
        entries.append(folder / bundle["entry"])
    return sorted(set(entries))


def _written(path: Path, data: bytes) -> bool:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError:
        return False  # a name that no file can have, or that another file has as its folder
    return True


def read(path: Path) -> dict[str, Any] | None:
    """Return a source bundle, or ``None`` where it is missing or damaged."""
    try:
        bundle = strict_json.loads(path.read_bytes())
    except (OSError, JsonError):
        return None
    if (
        not isinstance(bundle, dict)
        or not isinstance(bundle.get("files"), dict)
        or not isinstance(bundle.get("entry"), str)
    ):
        return None
    return bundle


def _bytes(content: Any) -> bytes | None:
    if isinstance(content, str):
        return content.encode()
    if isinstance(content, dict) and isinstance(content.get("base64"), str):
        try:
            return base64.b64decode(content["base64"], validate=True)
        except ValueError:
            return None
    return None


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    plain = path.name not in ("", ".", "..") and not path.is_absolute() and ".." not in path.parts
    return plain and not any(c in name for c in "\\:\0")
