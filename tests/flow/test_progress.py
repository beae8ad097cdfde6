"""Progress bars: drawn on a terminal, by every command that takes long, and nowhere else."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.flow.conftest import WHICHCLOCK, Project

pty = pytest.importorskip("pty", reason="the system has no pseudo-terminals")


def on_terminal(project: Project, *arguments: str, code: int = 0) -> str:
    """Run a command whose stderr is a terminal and return what that terminal got."""
    ours, theirs = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "HOME": str(project.root), "TERM": "xterm", "COLUMNS": "200"}
    done = subprocess.run(
        [WHICHCLOCK, *arguments],
        cwd=project.root, env=environment, stdout=subprocess.DEVNULL, stderr=theirs, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    os.close(theirs)
    told = b""
    try:
        while part := os.read(ours, 1 << 16):
            told += part
    except OSError:  # Linux ends a terminal that nobody writes to any more with an error
        pass
    os.close(ours)
    assert code == done.returncode, told
    return told.decode()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["capture", "--mode", "live"], ["capture", "2/2", "2 unchanged"]),
        (["snapshots", "verify"], ["verify", "2/2"]),
        (["snapshots", "stats"], ["stats", "2/2"]),
    ],
)
def test_a_terminal_sees_how_far_it_is(recorded: Project, arguments: list[str], words: list[str]) -> None:
    """The bar counts the rows or files; --quiet draws none."""
    told = on_terminal(recorded, *arguments)

    assert [] == [word for word in words if word not in told], told
    assert "" == on_terminal(recorded, *arguments, "--quiet")


def test_a_long_grade_is_counted(recorded: Project) -> None:
    """From two thousand rows on a bar is worth its line."""
    assert "" == on_terminal(recorded, "grade")
    recorded.edit("golden/cases/cases.yaml", "id: greet", "id: greet\n    trials: 2100\n    known: failing")
    told = on_terminal(recorded, "grade", code=3)

    assert "grading" in told
    assert "2101/2101" in told
