"""An interrupt while graders are asked what they ask: nothing is asked then, and what was answered is told all the same."""

from __future__ import annotations

import json
import signal
import subprocess

import pytest

from tests.flow.conftest import WHICHCLOCK, Project

ENDLESS = '''\
from whichclock import grader


def ask(envelope):
    """Never come to an end."""
    print("here", flush=True)
    while True:
        pass


@grader(asks=ask)
def order_grader(envelope, answers):
    """Find nothing."""
    return set()
'''


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_capture_that_is_stopped_between_two_phases_reports(project: Project, number: signal.Signals) -> None:
    """The completions are rows, the log has its summary, and the code is that of an interrupt."""
    (project.root / "golden/cases/graders.py").write_text(ENDLESS)
    project.edit("whichclock.toml", "[targets.gpt]", "[grade]\ntimeout_s = 120\n\n[targets.gpt]")
    process = subprocess.Popen(
        [WHICHCLOCK, "capture", "--color", "never"],
        cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    assert "grader: here\n" == process.stderr.readline()
    process.send_signal(number)
    out, err = process.communicate()
    [log] = (project.root / "snapshots/log").glob("*.jsonl")
    last = json.loads(log.read_text().splitlines()[-1])

    assert (130, "2 planned, 2 recorded; 2 calls\n") == (process.returncode, out)
    assert "hint: run the same command again: what was answered is stored, and only the rest is asked\n" == err
    assert 2 == last["summary"]["recorded"]
