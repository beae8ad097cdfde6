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


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks at processes through /proc")
def test_a_killed_grade_takes_its_workers_with_it(recorded: Project) -> None:
    """kill -9 of the command while a grader loops: the worker ends too, and no results file has a name."""
    (recorded.root / "golden/cases/graders.py").write_text(LOOP)
    process = subprocess.Popen(
        [WHICHCLOCK, "grade", "--save", "after"], cwd=recorded.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )  # fmt: skip
    assert process.stderr is not None
    assert "grader: here\n" == process.stderr.readline()
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
