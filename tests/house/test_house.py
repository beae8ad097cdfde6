"""The house: layers, packages, public names, and what is imported when."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import whichclock

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


def run_python(code: str) -> str:
    """Run code in a fresh interpreter and return what it prints."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT).stdout


def test_imports_flow_one_way() -> None:
    """The import contracts of pyproject.toml are kept."""
    done = subprocess.run([BIN / "lint-imports"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert 0 == done.returncode, done.stdout


def test_the_top_level_holds_what_it_should() -> None:
    """Nothing else is committed beside the five packages and the front door."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a git checkout")

    assert {
        ".ci", ".gitattributes", ".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "benchmarks", "capture",
        "diff", "docs", "golden", "grade", "pyproject.toml", "snapshots", "tests", "whichclock.py",
    } == {line.split("/")[0] for line in done.stdout.splitlines()}  # fmt: skip


def test_only_one_command_is_installed() -> None:
    """A script called diff would shadow the system's."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert {"whichclock": "whichclock:main"} == project["scripts"]


def test_the_version_is_said_once_everywhere() -> None:
    """Package metadata, front door and the tool member of files agree, and no other source spells it."""
    from snapshots.version import TOOL

    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    packages = ("snapshots", "golden", "capture", "grade", "diff")
    sources = [ROOT / "whichclock.py", *(path for name in packages for path in (ROOT / name).glob("*.py"))]

    assert (version, f"whichclock/{version}") == (whichclock.__version__, TOOL)
    assert ["version.py"] == [
        path.name
        for path in sources
        if f'"{version}"' in path.read_text() or f"whichclock/{version}" in path.read_text()
    ]


def test_the_public_names_are_pinned() -> None:
    """What the front door exports is promised; nothing slips in."""
    names = [
        "Diff",
        "Envelope",
        "Results",
        "Suite",
        "WhichclockError",
        "__version__",
        "diff",
        "envelope",
        "grade",
        "grader",
        "load",
        "main",
    ]

    assert names == whichclock.__all__
    assert names == [name for name in names if getattr(whichclock, name) is not None]


def test_no_parquet_file_is_read_through_a_python_file() -> None:
    """Such a read aborts the process now and then, at its end: one module opens them."""
    packages = ("snapshots", "golden", "capture", "grade", "diff")
    sources = [path for name in packages for path in (ROOT / name).glob("*.py")]
    readers = ("ParquetFile(", "read_table(", "read_metadata(", "read_schema(", "PythonFile(")

    assert ["snapshots/columnar.py"] == [
        path.relative_to(ROOT).as_posix() for path in sources if any(name in path.read_text() for name in readers)
    ]


@pytest.mark.slow
def test_the_wheel_holds_the_packages_and_no_data(tmp_path: Path) -> None:
    """The files of the wheel are a literal list: no cases, no snapshots, no tests."""
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")

    names = {n for n in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in n}

    assert set((Path(__file__).parent / "wheel.txt").read_text().split()) == names


HEAVY = "['aiohttp', 'asyncio', 'jinja2', 'jsonschema', 'pandas', 'pyarrow', 'pydantic', 'rich', 'scipy', 'socket', 'ssl', 'yaml']"


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [
        (["--help"], []),
        (["--version"], []),
    ],
)
def test_help_imports_nothing_heavy(arguments: list[str], loaded: list[str]) -> None:
    """Listing the commands imports none of them."""
    code = (
        f"import sys; sys.argv = ['whichclock', *{arguments!r}]; import whichclock, io, contextlib\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    try: whichclock.main()\n"
        "    except SystemExit: pass\n"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )

    assert f"{loaded}\n" == run_python(code)


@pytest.mark.parametrize("command", [["grade"], ["diff", "main"]])
def test_grading_imports_neither_pandas_nor_a_client(command: list[str], tmp_path: Path) -> None:
    """A hundred cases are graded in the time that importing pandas would take."""
    (tmp_path / "whichclock.toml").write_text(
        'suite = "s"\ncases = ["c.jsonl"]\n[targets.m]\ntype = "openai"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
    )
    (tmp_path / "c.jsonl").write_text('{"id": "a", "request": {"messages": []}}\n')
    code = (
        f"import sys, os; os.chdir({str(tmp_path)!r}); import whichclock, io, contextlib\n"
        f"for arguments in (['grade', '--save', 'main'], {command!r}):\n"
        "    sys.argv = ['whichclock', *arguments]\n"
        "    with contextlib.redirect_stdout(io.StringIO()):\n"
        "        try: whichclock.main()\n"
        "        except SystemExit as end: code = end.code\n"
        "print(code, [m for m in ('aiohttp', 'asyncio', 'jinja2', 'jsonschema', 'pandas') if m in sys.modules])"
    )

    assert "3 []\n" == run_python(code)
