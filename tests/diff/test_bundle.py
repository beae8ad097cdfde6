"""Source bundles are data from a repository: what is wrong with one costs its testimony and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from diff.bundle import unpack


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"../x.py": ""}, id="outside"),
        pytest.param({"/x.py": ""}, id="absolute"),
        pytest.param({"": ""}, id="no name"),
        pytest.param({".": ""}, id="a dot"),
        pytest.param({"g.py": "", "a": "", "a/b.py": ""}, id="a file that is a folder"),
        pytest.param({"g.py": {"base64": "%%%"}}, id="bad base64"),
        pytest.param({"g.py": "", "x" * 300: ""}, id="a name too long"),
        pytest.param({"g.py": 7}, id="no text"),
        pytest.param({"a\\b.py": ""}, id="a backslash"),
    ],
)
def test_a_tampered_bundle_is_no_bundle(tmp_path: Path, files: dict[str, Any]) -> None:
    """It is not unpacked, nothing raises, and nothing is written outside the folder."""
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources/d.json").write_text(json.dumps({"entry": "g.py", "files": files}))

    assert unpack(tmp_path / "sources", frozenset({"d"}), tmp_path / "out") is None
    assert {"sources", "out"} >= {p.name for p in tmp_path.iterdir()}


def test_a_whole_bundle_is_written_as_it_was(tmp_path: Path) -> None:
    """The entry is returned and every file stands where it stood."""
    (tmp_path / "sources").mkdir()
    bundle = {"entry": "a/g.py", "files": {"a/g.py": "X = 1\n", "data.bin": {"base64": "/wA="}}}
    (tmp_path / "sources/d.json").write_text(json.dumps(bundle))

    assert [tmp_path / "out/a/g.py"] == unpack(tmp_path / "sources", frozenset({"d"}), tmp_path / "out")
    assert (b"X = 1\n", b"\xff\x00") == (
        (tmp_path / "out/a/g.py").read_bytes(),
        (tmp_path / "out/data.bin").read_bytes(),
    )
