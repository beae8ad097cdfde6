"""What a new store gets once: files that keep git from touching its snapshots and from seeing what is not data."""

from __future__ import annotations

import os
from pathlib import Path

from snapshots import staging
from snapshots.errors import StoreError

# -text: changed line ends are no damage, but every file would differ. The diff driver is only named here:
# git config diff.whichclock.textconv "whichclock snapshots show --textconv"
GITATTRIBUTES = "sha256/** -text linguist-generated diff=whichclock\n"
GITIGNORE = "tmp/\nlog/\n"


def prepare(root: Path) -> None:
    """Make a new store's two git files and its folder, and clear out what killed captures left in ``tmp/``.

    A store that has its folder is left as it is, edits included. The folder comes last: a run that dies before leaves a
    store that the next one finishes.

    Raises:
        StoreError: the folder cannot be made or written.
    """
    staging.sweep(root / "tmp")
    if (root / "sha256").is_dir():
        return
    try:
        root.mkdir(parents=True, exist_ok=True)
        for name, text in ((".gitattributes", GITATTRIBUTES), (".gitignore", GITIGNORE)):
            if not (root / name).exists():
                _write_whole(root / name, text)
        (root / "sha256").mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot make the store {root.name}: {error.strerror or error}",
            hint=f"check space and permissions of {root}",
        ) from error


def _write_whole(path: Path, text: str) -> None:
    """Write a small file so that half of it never stands under its name."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
