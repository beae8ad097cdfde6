"""Saved runs: each has a second of its own, in the order of saving, whoever saves at once; nothing temporary is left."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from golden import labels
from snapshots import instant
from snapshots.errors import StoreError

NOON = 1_780_315_200


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock: everything happens within one second."""
    monkeypatch.setattr(instant, "now", lambda: NOON)


def finished(folder: Path, text: str) -> Path:
    """Return a finished file that has no name yet."""
    folder.mkdir(exist_ok=True, parents=True)
    path = folder / f"{text}.tmp"
    path.write_text(text)
    return path


def seconds(results: Path) -> list[int]:
    return [instant.parse_compact(path.name[:16]) - NOON for path in labels.runs(results, "main")]


def test_runs_of_one_second_stand_in_the_order_of_saving(tmp_path: Path) -> None:
    """The digest decides nothing: label~1 is the one before."""
    saved = [labels.save(finished(tmp_path, text), tmp_path / "r", "main") for text in "dcba"]

    assert [0, 1, 2, 3] == seconds(tmp_path / "r")
    assert saved == labels.runs(tmp_path / "r", "main")
    assert "b" == labels.resolve("main~1", tmp_path / "r").path.read_text()


def test_a_saver_that_looked_before_another_saved_comes_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the history and the name stands another run: the second is taken, whatever the digests."""
    results = tmp_path / "r"
    for first, second in (("a", "b"), ("d", "c")):
        late = finished(tmp_path, second)
        runs, before = labels.runs, len(seconds(results))
        looks = iter([True])

        def raced(*arguments: object, looks=looks, runs=runs, first=first) -> list[Path]:
            seen = runs(*arguments)
            if next(looks, False):
                labels.save(finished(tmp_path, first), results, "main")
            return seen

        monkeypatch.setattr(labels, "runs", raced)
        labels.save(late, results, "main")
        monkeypatch.setattr(labels, "runs", runs)

        assert [first, second] == [path.read_text() for path in runs(results, "main")][before:]
    assert [0, 1, 2, 3] == seconds(results)


def test_many_savers_at_once_get_a_second_each(tmp_path: Path) -> None:
    """No second is given twice and no run is lost."""
    ready = threading.Barrier(16)

    def save(i: int) -> None:
        temporary = finished(tmp_path, str(i))
        ready.wait()
        labels.save(temporary, tmp_path / "r", "main")

    threads = [threading.Thread(target=save, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert 16 == len(set(seconds(tmp_path / "r"))) == len(seconds(tmp_path / "r"))
    assert {str(i) for i in range(16)} == {path.read_text() for path in labels.runs(tmp_path / "r", "main")}
    assert [] == [name for name in os.listdir(tmp_path / "r" / "main") if not name.endswith(".parquet")]


def test_a_claim_that_a_killed_saver_left_costs_a_second(tmp_path: Path) -> None:
    """Nobody waits for who does not come back."""
    (tmp_path / "r" / "main").mkdir(parents=True)
    (tmp_path / "r" / "main" / f".{instant.compact(NOON)}").touch()
    labels.save(finished(tmp_path, "a"), tmp_path / "r", "main")

    assert [1] == seconds(tmp_path / "r")


def test_a_system_without_links_saves_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems know no hard links."""

    def unknown(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", unknown)

    assert "a" == labels.save(finished(tmp_path, "a"), tmp_path / "r", "main").read_text()


def test_a_disk_that_refuses_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the finished file nor a claim stays behind."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(StoreError, match="No space left"):
        labels.save(finished(tmp_path / "t", "a"), tmp_path / "r", "main")

    assert ([], []) == (os.listdir(tmp_path / "t"), os.listdir(tmp_path / "r" / "main"))


def test_a_source_bundle_that_cannot_be_named_leaves_no_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of bundles holds whole ones only."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(StoreError, match="No space left"):
        labels.write_sources(tmp_path / "sources", {"ab": {"x": 1}})

    assert [] == os.listdir(tmp_path / "sources")
