"""Damage in the store: reported by path, the others still graded, nothing deleted, nobody asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.flow.conftest import Project


def flip(path: Path, _other: Path) -> None:
    """Flip one bit in the middle."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def truncate(path: Path, _other: Path) -> None:
    """Cut the file in half."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path, _other: Path) -> None:
    """Leave nothing in the file."""
    path.write_bytes(b"")


def swap(path: Path, other: Path) -> None:
    """Put another sound file's bytes under this name."""
    path.write_bytes(other.read_bytes())


def edit(path: Path, _other: Path) -> None:
    """Change the answer by hand."""
    path.write_text(path.read_text().replace("Hello Ann", "Hello Bob"))


DAMAGE = [pytest.param(d, id=d.__name__) for d in (flip, truncate, empty, swap, edit)]


def files(project: Project) -> tuple[Path, Path]:
    """Return the greeting's file and the other one."""
    greet = next(p for p in project.snapshots if "Hello Ann" in p.read_text())
    return greet, next(p for p in project.snapshots if p != greet)


@pytest.mark.parametrize("damage", DAMAGE)
def test_grade_names_the_file_and_judges_the_others(recorded: Project, damage: Callable[[Path, Path], None]) -> None:
    """A damaged file is corrupt_snapshot with its path and exit code 3; the other case still passes."""
    greet, other = files(recorded)
    damage(greet, other)

    done = recorded.ok("grade", "--format", "json", code=3)

    rows = {row["case_id"]: row for row in done.json["rows"]}
    assert ("corrupt_snapshot", "pass") == (rows["greet"]["status"], rows["refuse_invented_order_id"]["status"])
    assert f"sha256/{greet.parent.name}/{greet.name}" in rows["greet"]["error"]


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("mode", ["auto", "replay", "live"])
def test_capture_asks_nobody_about_a_damaged_answer(
    recorded: Project, damage: Callable[[Path, Path], None], mode: str
) -> None:
    """In every mode the row is failed, nothing is asked for it, nothing is deleted or replaced."""
    greet, other = files(recorded)
    damage(greet, other)
    before = {path: path.read_bytes() for path in recorded.snapshots}
    asked = len(recorded.server.asked)

    done = recorded.ok("capture", "greet", "--mode", mode, "--format", "json", code=3)

    assert ["failed"] == [row["outcome"] for row in done.json["rows"]]
    assert (asked, before) == (len(recorded.server.asked), {path: path.read_bytes() for path in recorded.snapshots})


@pytest.mark.parametrize("damage", DAMAGE)
def test_verify_names_the_file(recorded: Project, damage: Callable[[Path, Path], None]) -> None:
    """snapshots verify ends with 3 and the path."""
    greet, other = files(recorded)
    damage(greet, other)

    done = recorded.ok("snapshots", "verify", code=3)

    assert greet.name in done.out + done.err


def test_line_ends_changed_by_git_are_no_damage(recorded: Project) -> None:
    """A checkout with CRLF grades the same."""
    for path in recorded.snapshots:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    recorded.ok("grade")
    recorded.ok("snapshots", "verify")
    recorded.ok("capture", "--mode", "replay")


def test_a_grade_of_damage_is_a_missing_side_in_diff(recorded: Project) -> None:
    """The diff against the saved run calls it missing_snapshot and exits with 3."""
    flip(*files(recorded))

    rows = recorded.diff("main", code=3)

    assert "missing_snapshot" == rows["greet", 0]["move"]
