"""What stands in a store and is no snapshot: a stray is reported and never read, and what takes a snapshot's name is corrupt."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from snapshots.errors import CorruptSnapshot, StoreError
from snapshots.store import Found, Store
from tests.snapshots_cli.conftest import answer, document, put

HAS_PIPES = hasattr(os, "mkfifo")


@pytest.fixture(autouse=True)
def never_hangs():
    """End a test that waits for a pipe's writer."""
    if hasattr(signal, "alarm"):
        signal.alarm(60)
        yield
        signal.alarm(0)
    else:
        yield


def pipe(path: Path) -> None:
    os.mkfifo(path)


def socket(path: Path) -> None:
    os.mknod(path, 0o140644)


def folder(path: Path) -> None:
    path.mkdir()


def broken_link(path: Path) -> None:
    path.symlink_to("nowhere.json")


def loop(path: Path) -> None:
    path.symlink_to(path.name)


KINDS = [pytest.param(kind, id=kind.__name__) for kind in (pipe, socket, folder, broken_link, loop)]


def replaced(found: Found, kind) -> Found:
    """Put something else under a snapshot's name."""
    os.unlink(found.path)
    kind(Path(found.path))
    return found


@pytest.mark.skipif(not HAS_PIPES, reason="the system has no pipes with names")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_is_corrupt_for_readers_and_for_verify(store: Store, run, kind) -> None:
    """Nothing waits, nothing is a traceback, and the message holds no path of this machine."""
    found = replaced(put(store, document("a"), answer("A")), kind)

    with pytest.raises(CorruptSnapshot) as caught:
        store.read(found)
    verified = run("verify", "--snapshots", store.root, "--format", "json")
    counted = run("stats", "--snapshots", store.root, "--format", "json")

    assert f"corrupt snapshot {found.shown}: it is no file" == caught.value.message
    assert (3, ["it is no file"]) == (verified.code, [row["reason"] for row in json.loads(verified.out)["rows"]])
    assert (0, 1, 1) == (counted.code, json.loads(counted.out)["files"], json.loads(counted.out)["corrupt"])


def test_a_file_that_may_not_be_read_is_called_by_its_place_in_the_store(store: Store, monkeypatch) -> None:
    """The message goes into result tables, which hold no path of a machine."""
    found = put(store, document("a"), answer("A"))

    def refused(*_: object) -> int:
        raise PermissionError(13, "Permission denied", found.path)

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(StoreError) as caught:
        store.read(found)

    assert f"cannot read {found.shown}: Permission denied" == caught.value.message


@pytest.mark.parametrize(
    "ending",
    [
        "0.zzz.json",
        "0.zzz",
        "0.20991399T000000Z.0123456789abcdef.01234567.json",
        "0.20991231T000000Z.0123456789abcdef.01234567.sync-conflict.json",
        "00.20991231T000000Z.0123456789abcdef.01234567.json",
    ],
)
def test_a_stray_is_never_current(store: Store, run, ending: str) -> None:
    """A copy of an odd name that sorts last is passed over by every reader; verify reports it if it could be taken for one."""
    found = put(store, document("a"), answer("A"))
    tail = found.name.split(".")[0]
    Path(found.path).with_name(f"{tail}.{ending}").write_bytes(b"{}")
    request_hash = found.folder + tail
    fresh = Store(store.root)

    assert found == fresh.current(request_hash, 0)
    assert [found] == fresh.observations(request_hash, 0) == list(fresh.walk())
    told = json.loads(run("verify", "--snapshots", store.root, "--format", "json").out)
    assert (["its name is no snapshot's: no command will ever read it"] if ending.endswith(".json") else []) == [
        row["reason"] for row in told["rows"]
    ]


def test_a_linked_folder_is_read_and_verified(store: Store, tmp_path: Path, run) -> None:
    """Verify looks where readers look."""
    found = put(store, document("a"), answer("A"))
    away = tmp_path / "away"
    Path(found.path).parent.rename(away)
    Path(found.path).parent.symlink_to(away)
    Path(found.path).write_bytes(b"")

    assert [found] == list(Store(store.root).walk())
    assert 3 == run("verify", "--snapshots", store.root).code


@pytest.mark.parametrize("at", ["", "sha256"])
def test_a_file_in_place_of_the_store_is_no_empty_store(tmp_path: Path, at: str) -> None:
    """Taken for empty, everything in it would seem never recorded."""
    (tmp_path / "store").mkdir()
    path = tmp_path / "store" / at
    if not at:
        path.rmdir()
    path.write_text("no folder")
    store = Store(tmp_path / "store")

    for ask in (
        lambda: store.current("ab" * 32, 0),
        lambda: list(store.walk()),
        lambda: store.observations("ab" * 32, 0),
    ):
        with pytest.raises(StoreError, match="is no folder"):
            ask()


def test_verify_and_ls_of_a_file_in_place_of_sha256_end_with_three(store: Store, run) -> None:
    """The operator has to look at it."""
    (store.root / "sha256").write_text("no folder")

    assert [3, 3, 3] == [run(command, "--snapshots", store.root).code for command in ("verify", "ls", "stats")]


def test_a_check_of_nothing_is_no_success(store: Store, tmp_path: Path, run) -> None:
    """A store without a file, and a folder without one, leave nothing to verify."""
    (tmp_path / "empty").mkdir()
    ends = [run("verify", "--snapshots", store.root), run("verify", tmp_path / "empty")]
    (store.root / "sha256" / "3f").mkdir(parents=True)
    ends.append(run("verify", "--snapshots", store.root, "--format", "json"))

    assert [(2, "")] * 3 == [(ran.code, ran.out) for ran in ends]
    assert ["nothing to verify" in ran.err for ran in ends] == [True] * 3
