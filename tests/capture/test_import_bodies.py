"""Bodies that are packed, or say so and are not."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path

import pytest

from capture.cassette_body import unpacked
from snapshots.errors import CallError
from tests.capture import cassettes
from tests.capture.cassettes import asked, interaction, only, reasons, run, said


def gz(data: bytes) -> bytes:
    """Return data packed, the same at any time."""
    return gzip.compress(data, mtime=0)


PLAIN = b'{"a": "\xc3\xa9"}'
RAW = zlib.compressobj(wbits=-15)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        pytest.param(PLAIN, "", id="nothing said"),
        pytest.param(PLAIN, "gzip", id="gzip said over a plain body"),
        pytest.param(PLAIN, "deflate", id="deflate said over a plain body"),
        pytest.param(PLAIN, "br", id="br said over a plain body"),
        pytest.param(PLAIN, "zstd", id="zstd said over a plain body"),
        pytest.param(PLAIN, "identity", id="identity"),
        pytest.param(gz(PLAIN), "gzip", id="gzip"),
        pytest.param(gz(PLAIN), "X-GZIP", id="its old name"),
        pytest.param(gz(PLAIN[:4]) + gz(PLAIN[4:]), "gzip", id="gzip of two members"),
        pytest.param(gz(PLAIN) + b"\0" * 9, "gzip", id="padded gzip"),
        pytest.param(zlib.compress(PLAIN), "deflate", id="deflate"),
        pytest.param(RAW.compress(PLAIN) + RAW.flush(), "deflate", id="deflate without its head"),
        pytest.param(gz(zlib.compress(PLAIN)), "deflate, gzip", id="one in the other"),
    ],
)
def test_a_coding_is_believed_where_the_bytes_bear_it_out(data: bytes, encoding: str) -> None:
    """Many recorders unpack a body and leave the header."""
    assert PLAIN == unpacked(data, encoding)


def test_an_empty_body_stays_empty() -> None:
    """Whatever the header says."""
    assert [b""] * 4 == [unpacked(b"", name) for name in ("gzip", "deflate", "br", "")]


@pytest.mark.parametrize(
    ("data", "encoding", "reason"),
    [
        (gz(PLAIN * 50)[:30], "gzip", "cut off"),
        (gz(PLAIN)[:-4], "gzip", "cut off"),
        (gz(PLAIN)[:3], "gzip", "cut off"),
        (gz(PLAIN)[:10] + b"\xff" * 20, "gzip", "damaged"),
        (gz(PLAIN) + b"more", "gzip", "damaged"),
        (zlib.compress(PLAIN)[:-2], "deflate", "cut off"),
        (b"\xff\xfe\xfd", "deflate", "damaged"),
        (b"\x28\xb5\x2f\xfd\x00", "zstd", "zstd, which is not read"),
        (b"".join([gz(b"")] * 1001), "gzip", "more than 1000 pieces"),
        (gz(b"\0" * (65 << 20)), "gzip", "more than 64 MiB"),
    ],
    ids=range(10),
)
def test_a_packed_body_that_is_damaged_is_an_error(data: bytes, encoding: str, reason: str) -> None:
    """Half of an answer is none."""
    with pytest.raises(CallError) as error:
        unpacked(data, encoding)

    assert reason in error.value.message


def test_br_needs_its_package_and_says_so(tmp_path: Path) -> None:
    """The error names it; the other interaction is imported."""
    packed = interaction(answer={"string": b"\x8b\x01\x80{}\x03\xff"}, content_encoding="br")
    result = run(tmp_path / "store", cassettes.write(tmp_path / "c.yaml", packed, interaction(asked("Q2"))))

    assert 1 == result.summary()["imported"]
    assert [True] == ["br" in reason or "damaged" in reason for reason in reasons(result)]


def test_a_truncated_answer_is_refused_alone(tmp_path: Path) -> None:
    """One of four interactions is damaged; the three others are imported."""
    whole = said("A").encode()
    path = cassettes.write(
        tmp_path / "c.yaml",
        interaction(asked("Q1"), {"string": b""}, content_encoding="gzip", content_length="0"),
        interaction(asked("Q2"), {"string": whole}, content_encoding="gzip"),
        interaction(asked("Q3"), {"string": gz(whole)}, content_encoding="gzip"),
        interaction(asked("Q4"), {"string": gz(whole)[:40]}, content_encoding="gzip"),
    )
    result = run(tmp_path / "store", path)

    assert (3, [(3, "the body is packed and cannot be unpacked: it is cut off")]) == (
        result.summary()["imported"], [(one.index, one.reason) for one in result.files[0].refused],
    )  # fmt: skip


def test_a_packed_request_is_keyed_unpacked(tmp_path: Path) -> None:
    """How it was packed is the client's own business."""
    made = interaction(gz(asked("Q").encode()))
    made["request"]["headers"]["Content-Encoding"] = ["gzip"]
    run(tmp_path / "store", cassettes.write(tmp_path / "c.yaml", made))

    assert json.loads(asked("Q")) == only(tmp_path / "store")["request"]["body"]
