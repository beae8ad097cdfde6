"""The demo's scratch project: a copy of the worked example that the real command line works in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from diff.demo_steps import CASES, Edit
from snapshots.errors import OperatorError, UsageError

EXAMPLE = Path(__file__).resolve().parent.parent
_TABLE = "[tool.whichclock"
_NEEDED = ("pyproject.toml", CASES, "golden/cases/graders.py")


class Project:
    """A project root with the demo's cases, and the ways to work in it."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self.root = root
        self._environ = dict(environ)
        self._aside = root / "second-capture"

    def run(self, arguments: Iterable[str]) -> int:
        """Run ``whichclock`` as a user does, its output going where ours goes, and return its exit code."""
        sys.stdout.flush()
        return subprocess.run(self._command(arguments), cwd=self.root, env=self._environ, check=False).returncode

    def clocks(self, base: str) -> tuple[str, ...]:
        """Return the clocks that ``whichclock diff BASE`` names, from its machine-readable answer.

        Raises:
            OperatorError: the command gave no answer.
        """
        command = self._command(["diff", base, "--format", "json"])
        done = subprocess.run(command, cwd=self.root, env=self._environ, capture_output=True, check=False)
        if done.returncode not in (0, 1):
            raise OperatorError(f"whichclock diff ended with {done.returncode}: {done.stderr.decode().strip()}")
        counts: dict[str, Any] = json.loads(done.stdout)["summary"]["clocks"]
        return tuple(clock for clock, rows in counts.items() if rows)

    def apply(self, edits: Iterable[Edit]) -> None:
        """Make the edits.

        Raises:
            OperatorError: the example's files are not those that the demo was written for.
        """
        for edit in edits:
            self._replace(edit.file, edit.before, edit.after)

    def undo(self, edits: Iterable[Edit]) -> None:
        """Take the edits back."""
        for edit in edits:
            self._replace(edit.file, edit.after, edit.before)

    def _replace(self, file: str, old: str, new: str) -> None:
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise OperatorError(f"{file}: the demo expects this text exactly once: {old}")
        path.write_text(text.replace(old, new), encoding="utf-8", newline="\n")

    def recordings(self) -> set[Path]:
        """Return the recorded files, relative to the store."""
        store = self.root / "snapshots"
        return {path.relative_to(store) for path in store.glob("sha256/*/*.json")}

    def set_aside(self, recordings: Iterable[Path]) -> None:
        """Move recordings out of the store, which then is as it was before them."""
        _move(recordings, self.root / "snapshots", self._aside)

    def put_back(self) -> None:
        """Put the recordings that were set aside into the store: two stores merge by copying files."""
        _move([path.relative_to(self._aside) for path in self._aside.glob("sha256/*/*.json")], self._aside,
              self.root / "snapshots")  # fmt: skip

    def forget_second_capture(self) -> None:
        """Drop what was set aside, so that a second capture can take its place."""
        shutil.rmtree(self._aside, ignore_errors=True)

    def _command(self, arguments: Iterable[str]) -> list[str]:
        return [sys.executable, "-P", "-m", "whichclock", *arguments]


def _move(recordings: Iterable[Path], source: Path, to: Path) -> None:
    for recording in recordings:
        (to / recording).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(source / recording, to / recording)


def require_example() -> None:
    """Make sure that the worked example is here: it is part of the repository and not of the installed package.

    Raises:
        UsageError: it is not.
    """
    if not all((EXAMPLE / name).is_file() for name in _NEEDED):
        raise UsageError(
            "the worked example is not installed with the package; it is part of the source repository",
            hint="clone the repository of whichclock and run `make demo` in it",
        )


def make(root: Path, *, url: str | None, recorded: bool) -> Project:
    """Copy the worked example to a folder and return it as a project.

    Args:
        root: an empty folder.
        url: where the model is asked; without one nobody can be.
        recorded: bring the committed recordings along. Those of a second capture are set aside.
    """
    shutil.copytree(EXAMPLE / "golden/cases", root / "golden/cases", ignore=shutil.ignore_patterns("__pycache__"))
    text = _configuration((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))
    (root / "whichclock.toml").write_text(text, encoding="utf-8", newline="\n")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("WHICHCLOCK_")}
    project = Project(root, environ if url is None else {**environ, "SMOL_BASE_URL": f"{url}/v1"})
    if recorded:
        shutil.copytree(EXAMPLE / "snapshots/sha256", root / "snapshots/sha256")
        project.set_aside(_later(project.recordings()))
    return project


def _later(recordings: set[Path]) -> list[Path]:
    """Return the observations of a request and trial that follow its first one, by their names."""
    first: dict[tuple[str, str, str], Path] = {}
    for path in sorted(recordings):
        request, trial, *_ = path.name.split(".")
        first.setdefault((path.parent.name, request, trial), path)
    return sorted(recordings - set(first.values()))


def _configuration(text: str) -> str:
    """Return the example's table of ``pyproject.toml`` as a file of its own, narrowed to the demo's cases."""
    kept: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.startswith("["):
            inside = line.startswith((f"{_TABLE}]", f"{_TABLE}."))
        if inside and line != f"{_TABLE}]":
            kept.append(line.replace(f"{_TABLE}.", "[", 1))
    return "\n".join(kept).replace("golden/cases/**/*.yaml", CASES) + "\n"
