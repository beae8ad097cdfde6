"""What a new store gets once: files that keep git from touching its snapshots and from seeing what is not data."""

from __future__ import annotations

from pathlib import Path

from snapshots.errors import StoreError

# -text: changed line ends are no damage, but every file would differ. The diff driver is only named here:
# git config diff.whichclock.textconv "whichclock snapshots show --textconv"
GITATTRIBUTES = "sha256/** -text linguist-generated diff=whichclock\n"
GITIGNORE = "tmp/\nlog/\n"


def prepare(root: Path) -> None:
    """Make a new store's folder and its two git files. A store that has snapshots is left as it is, edits included.

    Raises:
        StoreError: the folder cannot be made or written.
    """
    if (root / "sha256").is_dir():
        return
    try:
        (root / "sha256").mkdir(parents=True, exist_ok=True)
        for name, text in ((".gitattributes", GITATTRIBUTES), (".gitignore", GITIGNORE)):
            if not (root / name).exists():
                (root / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise StoreError(
            f"cannot make the store {root.name}: {error.strerror or error}",
            hint=f"check space and permissions of {root}",
        ) from error
