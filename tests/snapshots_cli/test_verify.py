"""``snapshots verify``: everything that can be wrong with a file is told with its path."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from snapshots.store import Found, Store
from tests.snapshots_cli.conftest import answer, document, put


def test_a_sound_store_verifies(store: Store, run) -> None:
    """The counts are told and the code is 0."""
    put(store, document("a"), answer("A"))
    put(store, document("b"), {"status": 200, "headers": {}, "text": "no chat"})
    ran = run("verify", "--snapshots", store.root)

    assert (0, "2 files, 2 sound, 0 corrupt\n") == (ran.code, ran.out)


def rename(found: Found, name: str) -> str:
    os.rename(found.path, Path(found.path).with_name(name))
    return name


def damage(kind: str, store: Store, found: Found) -> None:
    path = Path(found.path)
    data = path.read_bytes()
    wrong = {
        "cut": data[:-10],
        "empty": b"",
        "flipped": data.replace(b'"A"', b'"B"'),
        "another integrity": data.replace(b'"integrity":"sha256:', b'"integrity":"sha256:0')[:-4] + b'"\n}\n',
    }
    if kind in wrong:
        path.write_bytes(wrong[kind])
    elif kind == "renamed to another trial":
        rename(found, found.name.replace(".0.", ".1.", 1))
    elif kind == "a stray name":
        rename(found, "copy of a snapshot.json")
    elif kind == "a stray folder":
        (store.root / "sha256" / "copies").mkdir()
        shutil.move(found.path, store.root / "sha256" / "copies" / found.name)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("cut", "it does not end with its integrity line"),
        ("empty", "it is empty"),
        ("flipped", "its bytes do not match its integrity digest"),
        ("another integrity", "it does not end with its integrity line"),
        ("renamed to another trial", "its name is not the one that its members spell"),
        ("a stray name", "its name is no snapshot's"),
        ("a stray folder", "its name is no snapshot's"),
    ],
)
def test_damage_is_told_with_path_and_reason(store: Store, run, kind: str, reason: str) -> None:
    """One damaged file among sound ones makes code 3."""
    put(store, document("sound"), answer("S"))
    damage(kind, store, put(store, document("a"), answer("A")))
    ran = run("verify", "--snapshots", store.root, "--color", "never")

    assert 3 == ran.code
    corrupt, counts = ran.out.splitlines()
    assert corrupt.startswith(f"corrupt  {store.root}/sha256/")
    assert reason in corrupt
    assert "2 files, 1 sound, 1 corrupt" == counts


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"request_hash": "0" * 64}, "its request_hash is not the hash of its request"),
        ({"answer_hash": "0" * 64}, "its answer_hash is not what openai-chat/1 gives"),
        ({"answer_rule": "openai-chat/99"}, "its answer rule openai-chat/99 is not one that this version knows"),
        ({"meta": {"attempts": 0}}, "0 is less than the minimum of 1 at /meta/attempts"),
    ],
)
def test_a_file_that_lies_consistently_is_found(store: Store, run, wrong: dict, reason: str) -> None:
    """Integrity proves only that nobody changed the file since; the hashes and the schema are checked, too."""
    put(store, document("a"), answer("A"), **wrong)
    ran = run("verify", "--snapshots", store.root, "--format", "json")

    assert 3 == ran.code
    assert [reason] == [row["reason"] for row in json.loads(ran.out)["rows"]]


def test_line_ends_of_a_checkout_are_sound(store: Store, run) -> None:
    """CRLF is read as LF."""
    path = Path(put(store, document("a"), answer("A")).path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert 0 == run("verify", "--snapshots", store.root).code


def test_an_integer_beyond_64_bits_keeps_its_digits(store: Store, run) -> None:
    """The request hash of a file with a large integer is computed from all of its digits."""
    put(store, document("a", seed=2**70 + 1), answer("A"))

    assert 0 == run("verify", "--snapshots", store.root).code


def test_named_files_and_folders_are_verified_alone(store: Store, run) -> None:
    """A path narrows the check."""
    sound = put(store, document("sound"), answer("S"))
    damage("cut", store, put(store, document("a"), answer("A")))

    assert 0 == run("verify", sound.path).code
    assert 0 == run("verify", Path(sound.path).parent).code
    assert 3 == run("verify", store.root).code


def test_a_store_that_is_not_there_is_no_success(tmp_path: Path, run) -> None:
    """A mistyped folder is a usage error."""
    ran = run("verify", "--snapshots", tmp_path / "nothing")

    assert 2 == ran.code
    assert "there is no store at" in ran.err
    assert 2 == run("verify", tmp_path / "nothing").code


def test_the_schema_is_built_over_a_closed_registry() -> None:
    """A remote reference is refused and not fetched."""
    from referencing.exceptions import Unresolvable

    from snapshots.schema import validator

    remote = validator().evolve(schema={"$ref": "http://127.0.0.1:9/x.json"})
    with pytest.raises(Exception, match=r"127\.0\.0\.1") as caught:
        list(remote.iter_errors({}))

    assert isinstance(caught.value, Unresolvable) or isinstance(caught.value.__cause__, Unresolvable)
