"""Files that are on their way into the store: written whole under a temporary name, then linked, or thrown away."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
from dataclasses import dataclass
from pathlib import Path

ABANDONED_S = 24 * 3600
"""Nobody writes one snapshot for so long: what is older in ``tmp/`` was left by a process that was killed."""
_TEMPORARY = re.compile(r"[0-9]+-[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Staged:
    """A file that is written but has no name in the store yet."""

    temporary: str
    name: str

    def discard(self) -> None:
        """Remove the temporary file, if it is still there."""
        with contextlib.suppress(OSError):
            os.unlink(self.temporary)


def write(folder: str, name: str, data: bytes) -> Staged:
    """Write a new temporary file in a folder. Raises ``OSError``, and then leaves none."""
    path = os.path.join(folder, f"{os.getpid()}-{os.urandom(8).hex()}")
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
    except BaseException:
        os.unlink(path)
        raise
    finally:
        os.close(handle)
    return Staged(path, name)


def link(staged: Staged, final: str) -> None:
    """Give a staged file its final path, unless one of that name, that is, of the same bytes, is there.

    Raises ``OSError``; the temporary name is gone in any case.
    """
    try:
        os.link(staged.temporary, final)
    except FileExistsError:
        return
    except OSError as error:
        # Some file systems know no hard links. A rename may then replace a file of the same name, that is, of the same bytes.
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
            raise
        os.rename(staged.temporary, final)
    finally:
        staged.discard()


def sweep(folder: Path) -> None:
    """Remove temporary files that were abandoned. Other names are left alone: the folder may be somebody's own."""
    with contextlib.suppress(OSError):  # what cannot be swept harms nobody
        for entry in os.scandir(folder):
            if _TEMPORARY.fullmatch(entry.name) and _is_abandoned(entry.stat(follow_symlinks=False)):
                os.unlink(entry.path)


def _is_abandoned(facts: os.stat_result) -> bool:
    return stat.S_ISREG(facts.st_mode) and time.time() - facts.st_mtime > ABANDONED_S
