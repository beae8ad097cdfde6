"""One live capture of a store at a time, held by real processes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from capture.live_lock import live_lock
from snapshots.errors import OperatorError
from tests.capture.batches import ids, of_openai, out, store_results
from tests.capture.conftest import NOON, Project
from tests.capture.server import ModelServer, Say, completion

WHICHCLOCK = Path(sys.executable).with_name("whichclock")


def command(project: Project, *words: str) -> list[str]:
    return [str(WHICHCLOCK), "capture", "--config", str(project.root / "whichclock.toml"), *words]


def run(project: Project, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(project, *words), capture_output=True, text=True, check=False, cwd=project.root)


@contextmanager
def holding(project: Project, server: ModelServer) -> Iterator[subprocess.Popen[bytes]]:
    """A live capture in a process of its own whose call is never answered."""
    asked = threading.Event()
    server.on_asked = lambda count: asked.set()
    server.replies = [Say(hang=True)]
    process = subprocess.Popen(
        command(project, "--mode", "live"), cwd=project.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        assert asked.wait(30)
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_second_live_capture_asks_nothing_and_names_the_holder(one: Project, server: ModelServer) -> None:
    """Both would ask for everything and both would pay: exit code 3, and who holds it, since when."""
    with holding(one, server) as holder:
        second = run(one, "--mode", "live")

    assert (3, 1) == (second.returncode, len(server.asked))
    assert f"error: another live capture of this store is running: process {holder.pid} on " in second.stderr
    assert re.search(r" since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n", second.stderr)
    assert "hint: wait for it, or end it; nothing was asked" in second.stderr


def test_live_judges_are_a_live_capture_too(one: Project, server: ModelServer) -> None:
    """What graders ask is paid for as well."""
    with holding(one, server):
        assert 3 == run(one, "--judges", "live").returncode


def test_a_killed_capture_leaves_no_lock(one: Project, server: ModelServer) -> None:
    """The system lets go of it: nobody has to remove a file."""
    with holding(one, server) as holder:
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    second = run(one, "--mode", "live")

    assert (0, "1 planned, 1 recorded; 1 call") == (second.returncode, second.stdout.strip())


def test_what_is_no_live_capture_is_not_locked(one: Project, server: ModelServer) -> None:
    """An ordinary capture, a dry run and a filed batch go on beside it."""
    out(one)
    store_results(one, *(of_openai(name, completion("ok")) for name in ids(one)))
    with holding(one, server):
        ended = [
            run(one, "--mode", "live", "--dry-run"),
            run(one, "--batch-in", "night/output.jsonl"),
            run(one),
            run(one, "--mode", "off"),
        ]

    assert [0, 0, 0, 0] == [done.returncode for done in ended], [done.stderr for done in ended]
    assert "1 planned, 1 replayed" in ended[2].stdout


def test_the_lock_is_of_one_store(tmp_path: Path) -> None:
    """Another store has another; after the block it is free again."""
    with (
        live_lock(tmp_path / "one", NOON),
        live_lock(tmp_path / "two", NOON),
        pytest.raises(OperatorError, match="another live capture of this store is running"),
        live_lock(tmp_path / "one", NOON),
    ):
        pass
    with live_lock(tmp_path / "one", NOON):
        text = (tmp_path / "one" / "log" / "live.lock").read_text()

    assert f"process {os.getpid()} on " in text
    assert text.endswith(" since 2025-11-30T12:00:00Z")


def test_a_store_that_cannot_be_locked_is_told(tmp_path: Path) -> None:
    """A file where the folder should be: an error of the store, and no traceback."""
    (tmp_path / "store").write_text("")
    with pytest.raises(OperatorError, match="cannot lock the store"), live_lock(tmp_path / "store", NOON):
        pass


def test_what_the_holder_says_of_itself_commands_no_terminal(tmp_path: Path) -> None:
    """The file is read by whoever finds it held, whoever wrote it."""
    with live_lock(tmp_path, NOON):
        (tmp_path / "log" / "live.lock").write_bytes(b"\x1b[2Jboo\xff")
        with pytest.raises(OperatorError) as caught, live_lock(tmp_path, NOON):
            pass

    assert "\x1b" not in caught.value.message
    assert "boo" in caught.value.message
