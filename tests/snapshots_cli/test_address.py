"""``snapshots address``: the key of any JSON value, without a configuration."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest


def test_the_hash_and_the_path_of_a_document_are_printed(run, tmp_path: Path, monkeypatch) -> None:
    """SHA-256 of {} is known; the path is its first two digits and the rest."""
    monkeypatch.chdir(tmp_path)
    digest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    ran = run("address", "-", stdin=b" { } ")

    assert f"{digest}\nsha256/44/{digest[2:]}.\n" == ran.out


def test_canonical_bytes_are_what_the_hash_is_of(run, tmp_path: Path) -> None:
    """Nothing follows them, so that a pipe into sha256sum gives the same hash."""
    path = tmp_path / "request.json"
    path.write_text('{"b": 1.0, "a": "\\u00e9", "c": 12345678901234567890123}')

    assert '{"a":"é","b":1,"c":12345678901234567890123}' == run("address", "--canonical", path).out
    digest = hashlib.sha256(run("address", "--canonical", path).out.encode()).hexdigest()
    assert digest == json.loads(run("address", path, "--format", "json").out)["request_hash"]


@pytest.mark.parametrize("text", [b"", b"{", b'{"a":1,"a":2}', b"NaN", b"\xef\xbb\xbf{}", b"{} x", b'"\\ud800"'])
def test_what_is_no_strict_json_is_refused(run, text: bytes) -> None:
    """A document that two readers could read in two ways has no key."""
    ran = run("address", "-", stdin=text)

    assert (2, "") == (ran.code, ran.out)


def test_a_file_that_is_not_there_is_a_usage_error(run, tmp_path: Path) -> None:
    """The message names it."""
    ran = run("address", tmp_path / "nothing.json")

    assert 2 == ran.code
    assert "nothing.json" in ran.err
