"""What makes a recording durable, and in which order: bytes, name, folder, and only then the outcome."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from capture.run import Mode
from snapshots import durable
from snapshots.store import Store
from tests.capture.conftest import Project, outcomes
from tests.capture.server import ModelServer, say


def test_bytes_are_durable_before_the_name_and_the_name_before_the_log(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut at any moment leaves no name over missing bytes, and no log line over a missing name."""
    done: list[str] = []

    def noted(name: str, call):
        def wrapped(*arguments):
            done.append(name)
            return call(*arguments)

        return wrapped

    project.write({"id": "c", "prompt": "c"})
    project.capture(Mode.OFF)
    monkeypatch.setattr(durable, "sync_files", noted("sync bytes", durable.sync_files))
    monkeypatch.setattr(durable, "sync_folders", noted("sync folder", durable.sync_folders))
    monkeypatch.setattr(os, "link", noted("name", os.link))
    result = project.capture(on_done=lambda outcome: done.append(outcome.value))

    assert ["recorded"] == outcomes(result)
    new_folders = ["sync folder", "sync folder"]  # of tmp and of the first two digits
    assert [*new_folders, "sync bytes", "name", "sync folder", "recorded"] == done


@pytest.mark.parametrize("number", [1, durable.GROUP - 1, durable.GROUP, 3 * durable.GROUP])
def test_a_group_of_any_size_is_written_whole(tmp_path, number: int) -> None:
    """One by one or by one sync of the file system: the files are the same."""
    store = Store(tmp_path)
    names = [f"{i % 256:02x}/{i:062x}.0.20251130T120000Z.{i:016x}.{i:08x}.json" for i in range(number)]
    staged = [store.stage(name, name.encode()) for name in names]

    assert [] == list(store.walk())
    store.sync(staged)
    found = [store.link(one) for one in staged]
    store.flush()

    assert sorted(names) == [f"{one.folder}/{one.name}" for one in store.walk()]
    assert [name.encode() for name in names] == [Path(one.path).read_bytes() for one in found]
    assert [] == os.listdir(tmp_path / "tmp")


@pytest.mark.parametrize("step", ["sync_files", "sync_folders"])
def test_an_answer_that_could_not_be_made_durable_is_not_called_recorded(
    one: Project, server: ModelServer, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """A disk that fails to sync fails the row, and leaves no temporary file."""
    one.capture(Mode.OFF)
    put = one.store.put
    put(f"00/{0:062x}.0.20251130T120000Z.{0:016x}.{0:08x}.json", b"makes the folders")
    before = len(one.files())

    def broken(paths) -> None:
        if any(path.endswith(("tmp", "sha256", "snapshots")) for path in paths):
            return
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(durable, step, broken)
    result = one.capture()

    assert ["cannot write to the store: Input/output error"] == [row.error for row in result.rows]
    assert 3 == result.exit_code
    assert [] == os.listdir(one.root / "snapshots" / "tmp")
    assert before + (step == "sync_folders") == len(one.files())


def test_a_system_without_group_sync_writes_one_by_one(
    project: Project, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the file system cannot be synced as a whole, each file is."""
    synced: list[int] = []
    fsync = os.fsync
    monkeypatch.setattr(durable, "_syncfs", lambda: None)
    monkeypatch.setattr(os, "fsync", lambda handle: (synced.append(handle), fsync(handle))[1])
    project.write(*({"id": str(i), "prompt": str(i)} for i in range(40)), target="concurrency = 40")
    project.capture()

    assert 40 == len(project.files())
    assert len(synced) > 40


def test_a_full_queue_loses_nothing(project: Project, server: ModelServer) -> None:
    """More answers than one group are all stored and all logged."""
    server.fallback = lambda asked: say("A")
    project.write(*({"id": str(i), "prompt": str(i)} for i in range(300)), target="concurrency = 100")
    result = project.capture()

    assert {"recorded": 300} == {name: count for name, count in result.summary.items() if name == "recorded"}
    assert result.log is not None
    assert 302 == len([json.loads(line) for line in result.log.read_text().splitlines()])
