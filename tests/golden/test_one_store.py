"""Where the store is: looking at snapshots without the suite, and loading the suite, must find the same folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from golden.suite import find_config, load_suite
from snapshots.errors import ConfigError, UsageError, WhichclockError
from snapshots.location import store_folder

TARGET = """
[{at}targets.gpt]
type = "openai"
base_url = "https://api.example.com/v1"
model = "m"
"""


def write(root: Path, line: str, name: str = "whichclock.toml", bom: bytes = b"") -> Path:
    """Write a configuration with one more line, and a case."""
    at = "tool.whichclock." if name == "pyproject.toml" else ""
    head = "[tool.whichclock]\n" if at else ""
    text = f'{head}suite = "s"\ncases = ["c.jsonl"]\n{line}\n{TARGET.format(at=at)}'
    (root / name).write_bytes(bom + text.encode())
    (root / "c.jsonl").write_text('{"id": "a", "prompt": "a"}\n')
    return root / name


@pytest.mark.parametrize("name", ["whichclock.toml", "pyproject.toml"])
@pytest.mark.parametrize(
    ("line", "environ", "folder"),
    [
        ("", {}, "snapshots"),
        ('snapshots = "kept"', {}, "kept"),
        ('snapshots = "${env:STORE:-snapshots}"', {}, "snapshots"),
        ('snapshots = "${env:STORE:-snapshots}"', {"STORE": ""}, "snapshots"),
        ('snapshots = "${env:STORE:-snapshots}"', {"STORE": "other"}, "other"),
        ('snapshots = "${env:A}/${env:B:-b}"', {"A": "a", "B": ""}, "a/b"),
        ('snapshots = "${env:A:-}x"', {}, "x"),
        ('snapshots = "kept"', {"WHICHCLOCK_SNAPSHOTS": ""}, "kept"),
    ],
)
def test_both_readings_find_one_folder(
    tmp_path: Path, name: str, line: str, environ: dict[str, str], folder: str
) -> None:
    """Variables set, empty and unset; a default stands in for an empty one."""
    config = write(tmp_path, line, name)

    assert tmp_path / folder == load_suite(config, environ=environ).snapshots
    assert tmp_path / folder == store_folder(config=config, environ=environ)
    assert tmp_path / folder == store_folder(start=tmp_path, environ=environ)


def test_the_variable_and_the_option_win_in_both(tmp_path: Path) -> None:
    """The option before the variable before the configuration, whatever that says."""
    config = write(tmp_path, 'snapshots = "kept"')
    environ = {"WHICHCLOCK_SNAPSHOTS": "mine"}
    option = Path("yours")

    assert Path("mine") == load_suite(config, environ=environ).snapshots == store_folder(config=config, environ=environ)
    assert option == load_suite(config, snapshots=option, environ=environ).snapshots
    assert option == store_folder(option, config=config, environ=environ)


@pytest.mark.parametrize("name", ["whichclock.toml", "pyproject.toml"])
@pytest.mark.parametrize(
    ("line", "environ"),
    [
        ('snapshots = "${env:STORE}"', {}),
        ('snapshots = "${env:STORE}"', {"STORE": ""}),
        ('snapshots = "${env:STORE:-}"', {"STORE": ""}),
        ('snapshots = "${env:ST ORE}"', {}),
        ('snapshots = "${env:STORE"', {"STORE": "x"}),
        ('snapshots = ""', {}),
        ('snapshots = "a\\u0000b"', {}),
        ("snapshots = 7", {}),
        ("snapshots = [", {}),
    ],
)
def test_both_readings_refuse_the_same(tmp_path: Path, name: str, line: str, environ: dict[str, str]) -> None:
    """What names no folder for one names none for the other, and the place is told."""
    config = write(tmp_path, line, name)
    told = []
    for read in (lambda: load_suite(config, environ=environ), lambda: store_folder(config=config, environ=environ)):
        with pytest.raises(ConfigError) as caught:
            read()
        told.append(
            (caught.value.message.split(":")[0], "/snapshots" in caught.value.message or "TOML" in caught.value.message)
        )

    assert [(name, True)] * 2 == told


def test_a_byte_order_mark_hides_no_configuration(tmp_path: Path) -> None:
    """Editors on Windows write one."""
    config = write(tmp_path, 'snapshots = "kept"', bom=b"\xef\xbb\xbf")

    assert tmp_path / "kept" == load_suite(config, environ={}).snapshots == store_folder(config=config, environ={})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'[tool]\nwhichclock = "x"\n', "pyproject.toml: tool.whichclock is no table"),
        (b"[tool]\nwhichclock = [1]\n", "pyproject.toml: tool.whichclock is no table"),
        (b"[tool\n", "pyproject.toml: not TOML"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, "pyproject.toml: not TOML"),
        (b'a = "\xff"\n', "pyproject.toml: it is not UTF-8: byte 5"),
    ],
)
def test_a_broken_project_file_is_a_clear_error_for_both(tmp_path: Path, text: bytes, message: str) -> None:
    """Found on the way upwards, and named with --config."""
    config = tmp_path / "pyproject.toml"
    config.write_bytes(text)
    (tmp_path / "inner").mkdir()

    for read in (
        lambda: find_config(tmp_path / "inner"),
        lambda: store_folder(start=tmp_path / "inner", environ={}),
        lambda: store_folder(config=config, environ={}),
        lambda: load_suite(config, environ={}),
    ):
        with pytest.raises(ConfigError) as caught:
            read()
        assert caught.value.message.startswith(message)


@pytest.mark.parametrize("text", ["", "tool = 7\n", "[tool.other]\n"])
def test_a_project_file_of_others_is_passed_over_by_both(tmp_path: Path, text: str) -> None:
    """The search goes on above it; named, it holds no table of ours."""
    config = write(tmp_path, "")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text(text)

    assert config.resolve() == find_config(inner)
    assert tmp_path.resolve() / "snapshots" == store_folder(start=inner, environ={})
    for read in (
        lambda: load_suite(inner / "pyproject.toml", environ={}),
        lambda: store_folder(config=inner / "pyproject.toml", environ={}),
    ):
        with pytest.raises(ConfigError, match=r"no table \[tool\.whichclock\]"):
            read()


def test_no_configuration_is_a_usage_error_for_both(tmp_path: Path) -> None:
    """Each with the remedy that fits: the search for it, and a file that is not there."""
    told: list[WhichclockError] = []
    for read in (
        lambda: find_config(explicit=tmp_path / "none.toml"),
        lambda: store_folder(config=tmp_path / "none.toml", environ={}),
        lambda: store_folder(config=tmp_path, environ={}),
    ):
        with pytest.raises(UsageError, match="no configuration file") as caught:
            read()
        told.append(caught.value)

    assert 3 == len(told)
