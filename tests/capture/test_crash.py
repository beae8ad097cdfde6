"""Captures that are killed, and captures that run at once: the store stays whole, and nothing stored is asked again."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import orjson
import pytest

from capture.run import Mode
from capture.transport import Reply
from snapshots.verify import check, files
from tests.capture.conftest import Project, outcomes
from tests.capture.server import ModelServer, completion, say

REPOSITORY = Path(__file__).parents[2]


def start(project: Project, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "whichclock", "capture", "--format", "json", *arguments],
        cwd=project.root,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def unsound(project: Project) -> list[str]:
    return [checked.path for checked in map(check, files(project.root / "snapshots")) if checked.reason]


def _prompt(path: Path) -> str:
    return orjson.loads(path.read_bytes())["request"]["body"]["messages"][0]["content"]


@pytest.mark.slow
def test_a_capture_killed_at_a_random_moment_leaves_a_whole_store(project: Project, server: ModelServer) -> None:
    """After each of 100 kills every file is sound, and what is stored is never asked again."""
    chance = random.Random(7)
    project.write(*({"id": str(i), "prompt": f"prompt {i}"} for i in range(2000)), target="concurrency = 8")
    server.delay_s = 0.002
    stored: set[str] = set()
    again: list[str] = []
    server.on_asked = lambda count: again.extend({server.asked[-1].prompt} & stored)
    for _ in range(100):
        kill_at = len(server.asked) + chance.randrange(0, 20)
        process = start(project)
        while len(server.asked) < kill_at and process.poll() is None:
            time.sleep(0.001)
        time.sleep(chance.random() * 0.02)
        process.kill()
        process.communicate()

        assert [] == unsound(project)
        stored |= {_prompt(path) for path in project.files()}

    before = len(project.files())
    assert before > 0
    rest = project.capture()
    assert [] == again
    assert (before, 2000 - before) == (rest.summary["replayed"], rest.summary["recorded"])
    assert [] == unsound(project)


@pytest.mark.slow
def test_eight_captures_at_once_agree_on_one_store(project: Project, server: ModelServer) -> None:
    """Writers that race all store; every file is sound, and all readers get the same current answers."""
    project.write(*({"id": str(i), "prompt": f"prompt {i}"} for i in range(40)), target="concurrency = 4")
    server.fallback = lambda asked: say(f"answer {len(server.asked)}")
    processes = [start(project) for _ in range(8)]
    ends = [(process.communicate()[0], process.returncode) for process in processes]

    assert [0] * 8 == [code for _, code in ends]
    assert [] == unsound(project)
    readers = [project.capture(Mode.REPLAY) for _ in range(2)]
    assert [["replayed"] * 40] * 2 == [outcomes(reader) for reader in readers]
    assert readers[0].rows == readers[1].rows
    last = orjson.loads(ends[-1][0])["rows"]
    assert 40 == len(last)


def test_a_temporary_file_of_a_killed_capture_is_never_taken_for_a_snapshot(one: Project) -> None:
    """Half a file in tmp is not seen by replay, verify or the next capture."""
    (one.root / "snapshots" / "tmp").mkdir(parents=True)
    (one.root / "snapshots" / "tmp" / "123-abc").write_bytes(b'{\n"schema":"whichclock.snap')

    assert ["missed"] == outcomes(one.capture(Mode.REPLAY))
    assert ["recorded"] == outcomes(one.capture())
    assert [] == unsound(one)


class _Beaten:
    """A transport on which another capture of the same request ends, a minute ahead, before the answer comes."""

    def __init__(self, other: Project) -> None:
        self._other = other

    async def __aenter__(self) -> _Beaten:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def send(self, *_: object) -> Reply:
        thread = threading.Thread(target=self._other.capture)
        thread.start()
        thread.join()
        return Reply(200, (), orjson.dumps(completion("mine")), 1)


def test_whoever_wrote_reports_the_answer_that_all_will_read(one: Project) -> None:
    """Another writer's later answer, stored while this one asked, is the current one for both."""
    other = Project(one.root, one.url, second=one.second + 60)
    [mine] = one.capture(transport=lambda: _Beaten(other)).rows
    [read] = one.capture(Mode.REPLAY).rows

    assert 2 == len(one.files())
    assert ("recorded", read.answer_hash) == (mine.outcome.value, mine.answer_hash)
    current = one.store.current(mine.request_hash, 0)
    assert current is not None
    assert "you said: hello" == one.store.read(current).response["body"]["choices"][0]["message"]["content"]
