"""The store: grow-only, atomic, mergeable by copying; the current answer is the last name in sort order."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from snapshots import dialects, instant, request, response, snapshot
from snapshots.errors import StoreError
from snapshots.store import Store
from snapshots.verify import files

NOON = 1_780_315_200


def document(text: str = "hi") -> dict[str, object]:
    """Return a small request document."""
    return request.http_document(
        method="POST",
        url="https://api.example.com/v1",
        headers={},
        body={"messages": [{"role": "user", "content": text}]},
    )


def observation(text: str, second: int, trial: int = 0, prompt: str = "hi") -> tuple[str, bytes]:
    """Return name and bytes of an answer to the small request."""
    asked = document(prompt)
    answered = response.response(200, [], text.encode())
    rule = dialects.rule_for(asked, answered)
    return snapshot.write(
        request=asked,
        request_hash=request.request_hash(asked),
        trial=trial,
        answer_hash=dialects.answer_hash(rule, answered),
        answer_rule=rule,
        second=second,
        response=answered,
        meta={},
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path / "snapshots")


HASH = request.request_hash(document())


def text_of(store: Store, trial: int = 0) -> str | None:
    """Return the current answer's text."""
    found = store.current(HASH, trial, fresh=True)
    return None if found is None else store.read(found).response["text"]


def test_the_last_name_is_the_current_answer(store: Store) -> None:
    """Whatever the order of writing, the latest second wins."""
    for word, second in (("b", NOON + 1), ("a", NOON), ("c", NOON + 2)):
        store.put(*observation(word, second))

    assert "c" == text_of(store)


def test_the_listing_is_kept_up_while_writing(store: Store) -> None:
    """A store that was read before a write shows the new answer without listing again."""
    store.put(*observation("a", NOON))
    assert store.current(HASH, 0) is not None

    found = store.put(*observation("b", NOON + 1))

    assert found == store.current(HASH, 0)


def test_trials_are_apart(store: Store) -> None:
    """Trial 1 does not answer for trial 0, nor trial 10 for trial 1."""
    store.put(*observation("one", NOON, trial=1))
    store.put(*observation("ten", NOON, trial=10))

    assert (None, "one", "ten") == (text_of(store, 0), text_of(store, 1), text_of(store, 10))


def test_equal_names_are_written_once(store: Store) -> None:
    """Writing the same observation again changes nothing."""
    first = store.put(*observation("a", NOON))
    before = os.stat(first.path)

    store.put(*observation("a", NOON))

    assert before == os.stat(first.path)


def test_nothing_temporary_is_left(store: Store) -> None:
    """After a write the folder of temporary files is empty."""
    store.put(*observation("a", NOON))
    store.flush()

    assert [] == list((store.root / "tmp").iterdir())


def test_stores_merge_by_copying(tmp_path: Path) -> None:
    """Two stores copied together hold both answers, in either direction."""
    left, right = Store(tmp_path / "left"), Store(tmp_path / "right")
    left.put(*observation("a", NOON))
    right.put(*observation("b", NOON + 1))
    shutil.copytree(right.root, left.root, dirs_exist_ok=True)

    assert "b" == text_of(left)
    assert 2 == len(list(left.walk()))


def test_temporary_and_foreign_files_are_no_snapshots(store: Store) -> None:
    """Half-written files, editors' copies and folders never count as answers."""
    found = store.put(*observation("a", NOON))
    folder = Path(found.path).parent
    (folder / f"{found.name}~").write_text("x")
    (folder / ".DS_Store").write_text("x")
    (folder / "copy of it.json").write_text("{}")

    assert [found] == list(store.walk())
    assert [folder / "copy of it.json"] == [p for p in files(store.root) if p.name != found.name]
    assert found == store.current(HASH, 0, fresh=True)


def test_the_very_observation_is_found_by_its_integrity(store: Store) -> None:
    """An older observation can be read though another one is current."""
    name, data = observation("a", NOON)
    store.put(name, data)
    store.put(*observation("b", NOON + 1))
    integrity = snapshot.read(data, folder=name[:2], name=name[3:], path=name).integrity

    found = store.find(HASH, 0, integrity)

    assert found is not None
    assert "a" == store.read(found).response["text"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_is_the_operators_problem(store: Store) -> None:
    """The error names the folder and the remedy."""
    store.root.mkdir(mode=0o500)

    with pytest.raises(StoreError, match="cannot write"):
        store.put(*observation("a", NOON))


def test_a_file_in_place_of_the_store_is_the_operators_problem(store: Store) -> None:
    """A store that cannot be made is said so."""
    store.root.write_text("not a folder")

    with pytest.raises(StoreError, match="cannot write"):
        store.put(*observation("a", NOON))


def test_names_sort_by_time() -> None:
    """The compact form of instants sorts as time passes."""
    seconds = [NOON - 1, NOON, NOON + 86_400 * 40, NOON + 86_400 * 400]

    assert sorted(map(instant.compact, seconds)) == list(map(instant.compact, seconds))
    assert seconds == [instant.parse_compact(instant.compact(s)) for s in seconds]
