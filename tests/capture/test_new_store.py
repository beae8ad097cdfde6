"""What a capture makes beside its answers, and what it clears away."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from capture import new_store
from capture.run import Mode
from tests.capture.conftest import Project, outcomes


def named(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_off_makes_a_log_and_nothing_else(one: Project) -> None:
    """Nothing is stored: no folder of files, no git files, until something is recorded."""
    assert ["asked"] == outcomes(one.capture(Mode.OFF))
    assert ["log"] == named(one.root / "snapshots")

    one.capture()
    assert [".gitattributes", ".gitignore", "log", "sha256", "tmp"] == named(one.root / "snapshots")


def test_a_store_whose_making_was_cut_off_is_made_whole_by_the_next_capture(
    one: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder that says that a store is made comes last, and no git file is ever half written."""

    def killed(self: Path, *_: object, **__: object) -> Path:
        raise KeyboardInterrupt

    for step in ("write_text", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(Path, step, killed)
            assert one.capture().interrupted
        assert not (one.root / "snapshots" / "sha256").exists()
        assert not (one.root / "snapshots" / ".gitattributes").exists()
    one.capture()

    assert new_store.GITATTRIBUTES == (one.root / "snapshots" / ".gitattributes").read_text()
    assert new_store.GITIGNORE == (one.root / "snapshots" / ".gitignore").read_text()
    assert [".gitattributes", ".gitignore", "log", "sha256", "tmp"] == named(one.root / "snapshots")


def test_what_killed_captures_left_is_cleared_away_after_a_day(one: Project) -> None:
    """Only files that a store writes, and only those that nobody can still be writing."""
    tmp = one.root / "snapshots" / "tmp"
    tmp.mkdir(parents=True)
    now = time.time()
    for name, hours in (
        ("17-0123456789abcdef", 25),
        ("18-0123456789abcdef", 23),
        ("notes.txt", 999),
        ("17-0123456789ABCDEF", 999),
    ):
        (tmp / name).write_text("x")
        os.utime(tmp / name, (now, now - hours * 3600))
    (tmp / "19-0123456789abcdef").mkdir()
    os.utime(tmp / "19-0123456789abcdef", (now, 0))
    one.capture()

    assert ["17-0123456789ABCDEF", "18-0123456789abcdef", "19-0123456789abcdef", "notes.txt"] == named(tmp)
