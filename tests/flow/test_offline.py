"""Grade, replay and diff touch no network and need no credentials; equal inputs give equal bytes."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.flow.conftest import WHICHCLOCK, Project

# Runs before everything else in a Python process: any attempt at a socket is written down and refused.
GUARD = """\
import os, sys
def _guard(event, args):
    if event.startswith("socket.") and event not in ("socket.gethostname",):
        with open(os.environ["SOCKET_LOG"], "a") as log:
            log.write(event + "\\n")
        raise PermissionError("the network is cut off")
sys.addaudithook(_guard)
"""


@pytest.fixture
def cut_off(recorded: Project, tmp_path: Path) -> tuple[Project, Path]:
    """The recorded project with its server gone and every socket refused and logged; the target names a credential nobody set."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(GUARD)
    log = tmp_path / "sockets.log"
    recorded.edit("whichclock.toml", "retries = 0", 'api_key = "{{ env.NOBODY_SET_THIS }}"')
    recorded.env = {"PYTHONPATH": str(site), "SOCKET_LOG": str(log)}
    return recorded, log


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["grade"], id="grade"),
        pytest.param(["capture", "--mode", "replay"], id="replay"),
        pytest.param(["diff", "main"], id="diff"),
        pytest.param(["why", "greet", "main"], id="why"),
        pytest.param(["snapshots", "verify"], id="verify"),
        pytest.param(["golden", "check"], id="golden check"),
    ],
)
def test_no_socket_is_even_tried(cut_off: tuple[Project, Path], command: list[str]) -> None:
    """Everything works with the network cut off and no credentials set, and nothing is attempted."""
    project, log = cut_off

    done = project.run(*command)

    assert (0, False) == (done.code, log.exists()), done.err


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("command", [["grade"], ["capture", "--mode", "replay", "--quiet"]])
def test_the_kernel_sees_no_network_call(recorded: Project, tmp_path: Path, command: list[str]) -> None:
    """The system calls of the process and of its workers hold no socket of the internet's families."""
    trace = tmp_path / "trace"
    subprocess.run(
        ["strace", "-f", "-qq", "-e", "trace=socket,connect,sendto", "-o", trace, WHICHCLOCK, *command],
        cwd=recorded.root,
        env={"PATH": "/usr/bin:/bin", "HOME": str(recorded.root)},
        check=True,
        capture_output=True,
    )

    assert [] == [line for line in trace.read_text().splitlines() if "AF_INET" in line]


SETTINGS = [
    pytest.param({"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo", "LC_ALL": "C"}, "1", id="Tokyo, C locale, one worker"),
    pytest.param(
        {"PYTHONHASHSEED": "77", "TZ": "America/New_York", "LC_ALL": "C.UTF-8"},
        "3",
        id="New York, UTF-8, three workers",
    ),
]


@pytest.mark.parametrize(("environment", "jobs"), SETTINGS)
def test_results_are_the_same_bytes_everywhere(
    recorded: Project, tmp_path: Path, environment: dict[str, str], jobs: str
) -> None:
    """Another directory, hash seed, locale, time zone and number of workers: the same Parquet file."""
    recorded.ok("grade", "--out", tmp_path / "here.parquet")
    there = recorded.copy_to(tmp_path / "there")

    done = there.run(
        "grade", "--jobs", jobs, "--out", tmp_path / "there.parquet", cwd=there.root / "golden", env=environment
    )

    assert 0 == done.code, done.err
    assert _sha256(tmp_path / "here.parquet") == _sha256(tmp_path / "there.parquet")


@pytest.mark.parametrize(("environment", "jobs"), SETTINGS)
@pytest.mark.parametrize("form", ["table", "md", "json"])
def test_reports_are_the_same_bytes_everywhere(
    recorded: Project, tmp_path: Path, environment: dict[str, str], jobs: str, form: str
) -> None:
    """A diff says the same, byte for byte, wherever it is asked."""
    del jobs
    recorded.edit("golden/cases/graders.py", '{"ok_refusal"}', '{"declined"}')
    here = recorded.run("diff", "main", "--format", form)
    there = recorded.copy_to(tmp_path / "there")

    done = there.run("diff", "main", "--format", form, cwd=there.root / "golden", env=environment)

    assert (here.code, here.out) == (done.code, done.out)


def test_the_diff_table_is_the_same_bytes_twice(recorded: Project, tmp_path: Path) -> None:
    """The Parquet export of a diff is a pure function of its inputs."""
    recorded.edit("golden/cases/graders.py", '{"ok_refusal"}', '{"declined"}')

    for name in ("one", "two"):
        recorded.ok("diff", "main", "--out", tmp_path / f"{name}.parquet", code=1)

    assert _sha256(tmp_path / "one.parquet") == _sha256(tmp_path / "two.parquet")


def test_the_core_of_grade_brings_neither_network_nor_tables() -> None:
    """Importing the core in a fresh interpreter loads no socket, subprocess, asyncio, pandas or pyarrow."""
    code = (
        "import sys, grade.checks, grade.loop, grade.verdict;"
        "print([m for m in ('socket', 'ssl', 'subprocess', 'asyncio', 'pandas', 'pyarrow', 'aiohttp') if m in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert "[]\n" == done.stdout


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
