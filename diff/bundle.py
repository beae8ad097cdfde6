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
        bundle = _read(sources / f"{digest}.json")
        if bundle is None:
            return None
        for name, content in bundle["files"].items():
            data = _bytes(content)
            # A bundle is data from a repository: its names must stay inside the folder.
            if data is None or not _is_inside(name) or written.setdefault(name, data) != data:
                return None
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        if bundle["entry"] not in bundle["files"]:
            return None
        entries.append(folder / bundle["entry"])
    return sorted(set(entries))


def _read(path: Path) -> dict[str, Any] | None:
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
        return base64.b64decode(content["base64"])
    return None


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return (
        not path.is_absolute() and ".." not in path.parts and "\\" not in name and ":" not in name and "\0" not in name
    )
