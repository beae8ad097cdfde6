"""Git revisions, read without touching the work tree, the index or the network."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from snapshots.errors import RefError

_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "LC_ALL": "C",
}


class Repository:
    """The git repository that a project root stands in."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.top = Path(self._text("rev-parse", "--show-toplevel").strip())
        self.prefix = PurePosixPath(root.resolve().relative_to(self.top.resolve()).as_posix())

    def commit(self, revision: str) -> str:
        """Return the full id of the commit that a revision names.

        Raises:
            RefError: it names none.
        """
        if revision.startswith("-"):
            raise RefError(f"git:{revision} names no commit")
        try:
            return self._text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").strip()
        except RefError:
            raise RefError(
                f"git:{revision} names no commit in this repository",
                hint="is it spelled right and fetched? a shallow clone lacks history: git fetch --unshallow (fetch-depth: 0 in CI)",
            ) from None

    def extract(self, commit: str, to: Path, *, without: PurePosixPath | None = None) -> None:
        """Write the project's files of a commit, raw as git stores them, under a folder; ``without`` names a folder to leave out.

        A symbolic link becomes a copy of the file that it leads to within the tree; others, and submodules, are left out: a tree may not
        reach outside itself.

        Raises:
            RefError: the commit has no such folder, or git fails.
        """
        listed = [e for e in self._entries(commit) if without is None or not e[1].is_relative_to(without)]
        entries = [(blob, path) for blob, path, link in listed if not link]
        if not listed:
            raise RefError(f"commit {commit[:12]} has no files under {self.prefix}")
        with subprocess.Popen(
            ["git", "-C", os.fspath(self.top), "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_QUIET},
        ) as process:
            if process.stdin is None or process.stdout is None:
                raise RefError("git cat-file has no streams")
            for blob, path in entries:
                process.stdin.write(blob.encode() + b"\n")
                process.stdin.flush()
                head = process.stdout.readline().split()
                if len(head) != 3 or head[1] != b"blob":
                    raise RefError(
                        f"git cannot read {path} of commit {commit[:12]}",
                        hint="a partial clone lacks it: fetch it first",
                    )
                data = process.stdout.read(int(head[2]))
                process.stdout.read(1)
                target = to / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            process.stdin.close()
        for blob, path, link in listed:
            if link:
                self._copy_linked(blob, to / path, to.resolve())

    def _copy_linked(self, blob: str, link: Path, root: Path) -> None:
        leads_to = (link.parent / os.fsdecode(self._bytes("cat-file", "blob", blob))).resolve()
        if leads_to.is_relative_to(root) and leads_to.is_file() and not link.exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.write_bytes(leads_to.read_bytes())

    def _entries(self, commit: str) -> Iterator[tuple[str, PurePosixPath, bool]]:
        listing = self._bytes(
            "ls-tree", "-r", "-z", "--full-tree", commit, "--", f"{self.prefix}" if str(self.prefix) != "." else "."
        )
        for entry in listing.split(b"\0"):
            if not entry:
                continue
            head, _, name = entry.partition(b"\t")
            mode, kind, blob = head.split()
            path = PurePosixPath(os.fsdecode(name))
            if kind == b"blob":
                yield (
                    blob.decode(),
                    path.relative_to(self.prefix) if str(self.prefix) != "." else path,
                    mode == b"120000",
                )

    def history(self, head: str, limit: int) -> list[tuple[str, str]]:
        """Return (commit, subject) of the newest commits that touched the project, newest first, along first parents."""
        text = self._bytes(
            "log", f"--max-count={limit}", "--first-parent", "-z", "--format=%H %s", head, "--", str(self._root)
        )
        entries = [e.decode("utf-8", "replace") for e in text.split(b"\0") if e]
        return [(e[:40], e[41:]) for e in entries]

    def parent(self, commit: str) -> str | None:
        """Return the first parent of a commit, or ``None`` for a root."""
        try:
            return self._text("rev-parse", "--verify", "--quiet", f"{commit}^").strip()
        except RefError:
            return None

    def adding_commit(self, path: Path) -> tuple[str, str] | None:
        """Return (commit, subject) of the commit that added a file, or ``None`` where it is not committed."""
        text = self._bytes("log", "--diff-filter=A", "--max-count=1", "-z", "--format=%H %s", "--", os.fspath(path))
        entry = text.split(b"\0")[0].decode("utf-8", "replace")
        return (entry[:40], entry[41:]) if entry else None

    def is_dirty(self, without: Path) -> bool:
        """Tell whether the project differs from HEAD, new files included; what lies under ``without`` does not count."""
        ignored = self.prefix / without.relative_to(self._root) if without.is_relative_to(self._root) else None
        changed = self._bytes("status", "--porcelain", "--no-renames", "-z", "--", str(self._root)).split(b"\0")
        paths = [PurePosixPath(os.fsdecode(entry[3:])) for entry in changed if entry]
        return any(ignored is None or not path.is_relative_to(ignored) for path in paths)

    def _text(self, *arguments: str) -> str:
        return self._bytes(*arguments).decode("utf-8", "replace")

    def _bytes(self, *arguments: str) -> bytes:
        try:
            done = subprocess.run(
                ["git", "-C", os.fspath(self._root), *arguments],
                capture_output=True,
                check=False,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **_QUIET},
            )
        except FileNotFoundError:
            raise RefError("git is not installed", hint="install git, or compare with a saved label") from None
        if done.returncode != 0:
            words = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise RefError(
                f"git {arguments[0]} fails: {words[-1] if words else done.returncode}", hint="is this a git repository?"
            )
        return done.stdout
