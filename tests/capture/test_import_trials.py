"""Several answers to one request: trials within a cassette, observations across cassettes, and no trace of any order."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapshots.store import Store
from tests.capture import cassettes
from tests.capture.cassettes import DATE, asked, interaction, run, said, stored

LATER = "Sun, 30 Nov 2025 13:00:00 GMT"


def answered(text: str, question: str = "Q", date: str | None = DATE) -> dict[str, Any]:
    """Return an interaction with an answer."""
    return interaction(asked(question), {"string": said(text)}, date=date)


def texts(store: Path, question: str = "Q") -> dict[int, list[str]]:
    """Return the texts of a request by trial, the current one last."""
    found: dict[int, list[str]] = {}
    for snapshot in stored(store).values():
        if snapshot["request"]["body"]["messages"][0]["content"] == question:
            text = snapshot["response"]["body"]["choices"][0]["message"]["content"]
            found.setdefault(snapshot["trial"], []).append(text)
    return found


def test_equal_requests_are_trials_in_recorded_order(tmp_path: Path) -> None:
    """Neither answer overwrites the other, and a request between them changes nothing."""
    path = cassettes.write(tmp_path / "c.yaml", answered("bar"), answered("other", "R"), answered("whee"))
    result = run(tmp_path / "store", path)

    assert {0: ["bar"], 1: ["whee"]} == texts(tmp_path / "store")
    assert (2, 1, 3) == tuple(result.summary()[name] for name in ("requests", "requests_of_several_trials", "imported"))


def test_one_recording_repeated_is_one_file_and_a_count(tmp_path: Path) -> None:
    """21 identical interactions are one blob: nobody would read the others."""
    result = run(tmp_path / "store", cassettes.write(tmp_path / "c.yaml", *[answered("A")] * 21))

    assert (1, 20, 21, 1) == (
        result.summary()["imported"], result.summary()["duplicates"], result.summary()["interactions"], len(stored(tmp_path / "store")),
    )  # fmt: skip


def test_differing_answers_are_as_many_trials(tmp_path: Path) -> None:
    """21 of them are 21 draws."""
    result = run(tmp_path / "store", cassettes.write(tmp_path / "c.yaml", *[answered(str(i)) for i in range(21)]))

    assert {i: [str(i)] for i in range(21)} == texts(tmp_path / "store")
    assert (21, 0) == (result.summary()["imported"], result.summary()["duplicates"])


def test_an_answer_that_came_twice_among_others_keeps_both_places(tmp_path: Path) -> None:
    """Two of three draws are A: folding them would make up another pass rate."""
    run(tmp_path / "store", cassettes.write(tmp_path / "c.yaml", answered("A"), answered("A"), answered("B")))

    assert {0: ["A"], 1: ["A"], 2: ["B"]} == texts(tmp_path / "store")


def test_equal_answers_at_other_seconds_are_draws(tmp_path: Path) -> None:
    """They were asked for twice."""
    run(tmp_path / "store", cassettes.write(tmp_path / "c.yaml", answered("A"), answered("A", date=LATER)))

    assert {0: ["A"], 1: ["A"]} == texts(tmp_path / "store")


def test_what_is_refused_is_no_trial(tmp_path: Path) -> None:
    """A retry after an error is the first answer."""
    failed = interaction(status=429)
    run(tmp_path / "store", cassettes.write(tmp_path / "c.yaml", failed, answered("A")))

    assert {0: ["A"]} == texts(tmp_path / "store")


def test_two_cassettes_observe_the_same_trial(tmp_path: Path) -> None:
    """The later second is the current one, whichever was imported first."""
    cassettes.write(tmp_path / "in" / "a.yaml", answered("new", date=LATER))
    cassettes.write(tmp_path / "in" / "b.yaml", answered("old"))
    result = run(tmp_path / "store", tmp_path / "in")
    store = Store(tmp_path / "store")
    (request_hash,) = {s["request_hash"] for s in stored(tmp_path / "store").values()}
    current = store.current(request_hash, 0)

    assert current is not None
    assert ("new", {0: ["old", "new"]}, 1) == (
        store.read(current).response["body"]["choices"][0]["message"]["content"], texts(tmp_path / "store"),
        result.summary()["trials_of_several_observations"],
    )  # fmt: skip


def test_importing_again_writes_nothing(tmp_path: Path) -> None:
    """Not even under another name or from another folder."""
    path = cassettes.write(tmp_path / "c.yaml", answered("A"), answered("B"))
    run(tmp_path / "store", path)
    before = contents(tmp_path / "store")
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(path, tmp_path / "elsewhere" / "d.yml")
    again = run(tmp_path / "store", path, tmp_path / "elsewhere")

    assert before == contents(tmp_path / "store")
    assert (0, 4, 4) == tuple(again.summary()[name] for name in ("imported", "duplicates", "interactions"))


def contents(store: Path) -> dict[str, bytes]:
    """Return all files of a store."""
    return {str(path.relative_to(store)): path.read_bytes() for path in store.rglob("*") if path.is_file()}


ENTRIES = st.tuples(st.sampled_from("QR"), st.sampled_from("ABC"), st.sampled_from([DATE, LATER, None]))
FILES = st.lists(st.lists(ENTRIES, min_size=1, max_size=4), min_size=1, max_size=4)


def imported(
    files: Sequence[Sequence[tuple[str, str, str | None]]], groups: Sequence[Sequence[int]]
) -> dict[str, bytes]:
    """Return the store after importing files in groups, one group after the other."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for number, group in enumerate(groups):
            for place, index in enumerate(group):
                made = [answered(text, question, date) for question, text, date in files[index]]
                cassettes.write(root / f"in{number}" / f"{place}.json", *made)
            run(root / "store", root / f"in{number}")
        return contents(root / "store")


@settings(max_examples=40, deadline=None)
@given(files=FILES, data=st.data())
def test_order_folders_and_repetition_leave_no_trace(
    files: list[list[tuple[str, str, str | None]]], data: st.DataObject
) -> None:
    """A then B, B then A, both at once, or one of them twice: equal stores, byte for byte."""
    order = data.draw(st.permutations(range(len(files))))
    again = data.draw(st.lists(st.sampled_from(range(len(files))), max_size=2))

    assert imported(files, [range(len(files))]) == imported(files, [[i] for i in [*order, *again]])


@settings(max_examples=40, deadline=None)
@given(files=FILES)
def test_entries_in_are_entries_out(files: list[list[tuple[str, str, str | None]]]) -> None:
    """Imported, duplicates and refused add up, and each answer of a file is there at its place."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for i, entries in enumerate(files):
            made = [answered(text, question, date) for question, text, date in entries]
            cassettes.write(root / "in" / f"{i}.json", *made, interaction(status=500))
        result = run(root / "store", root / "in")
        told = result.summary()
        by_trial = texts(root / "store")
    asked_for_q = [[entry for entry in entries if entry[0] == "Q"] for entries in files]
    kept = [entries[:1] if len(set(entries)) == 1 else entries for entries in asked_for_q]
    expected = {
        trial: Counter({entries[trial][1:] for entries in kept if trial < len(entries)})
        for trial in range(max(map(len, kept)))
    }

    assert told["interactions"] == told["imported"] + told["duplicates"] + told["refused"]
    assert len(files) == told["refused"]
    assert {trial: sorted(text for text, _ in seen) for trial, seen in expected.items()} == {
        trial: sorted(found) for trial, found in by_trial.items()
    }


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_the_serializer_leaves_no_trace(suffix: str, tmp_path: Path) -> None:
    """The same recording in YAML and in JSON is one snapshot."""
    run(tmp_path / "store", cassettes.write(tmp_path / f"c{suffix}", answered("A")))
    run(tmp_path / "other", cassettes.write(tmp_path / "d.yaml", answered("A")))

    assert contents(tmp_path / "other") == contents(tmp_path / "store")
