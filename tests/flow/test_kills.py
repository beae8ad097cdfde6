"""What a killed command leaves behind: no worker, no half-written result."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.flow.conftest import WHICHCLOCK, Project

LOOP = """\
def order_grader(envelope):
    print("here", flush=True)
    while True: pass
"""


def children(pid: int) -> list[int]:
    """Return the processes that a process started."""
    return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def looping(project: Project) -> subprocess.Popen[str]:
    """Start a grade whose grader never ends, and return it once the grader is at work."""
    (project.root / "golden/cases/graders.py").write_text(LOOP)
    process = subprocess.Popen(
        [WHICHCLOCK, "grade", "--save", "after"], cwd=project.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )  # fmt: skip
    assert process.stderr is not None
    assert "grader: here\n" == process.stderr.readline()
    return process


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_cancelled_grade_leaves_nothing_behind(recorded: Project, number: signal.Signals, code: int) -> None:
    """Neither a half-written table nor a temporary file stays in the results."""
    process = looping(recorded)

    process.send_signal(number)

    assert code == process.wait()
    assert process.stderr is not None
    process.stderr.close()
    after = recorded.root / "results/after"
    assert [] == (list(after.iterdir()) if after.is_dir() else [])


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks at processes through /proc")
def test_a_killed_grade_takes_its_workers_with_it(recorded: Project) -> None:
    """kill -9 of the command while a grader loops: the worker ends too, and no results file has a name."""
    process = looping(recorded)
    assert process.stderr is not None
    (worker,) = children(process.pid)
    handle = os.pidfd_open(worker)

    process.send_signal(signal.SIGKILL)
    process.wait()

    # A process descriptor becomes readable when its process has ended.
    import select

    assert [handle] == select.select([handle], [], [], 30)[0]
    os.close(handle)
    process.stderr.close()
    assert [] == list((recorded.root / "results/after").glob("*.parquet"))
