"""Output that cannot be written, read or spelled: one clear line and a code of its own, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.flow.conftest import WHICHCLOCK, Project

COMMANDS = [
    ["--help"],
    ["--version"],
    ["grade"],
    ["grade", "--format", "json"],
    ["capture", "--mode", "replay"],
    ["capture", "--dry-run"],
    ["diff", "main"],
    ["diff", "main", "--format", "md"],
    ["why", "refuse_invented_order_id", "main"],
    ["snapshots", "ls"],
    ["snapshots", "verify"],
    ["snapshots", "stats", "--format", "json"],
    ["golden", "ls"],
    ["schema", "case"],
]
PARAMETERS = [pytest.param(command, id=" ".join(command)) for command in COMMANDS]


def shell(project: Project, command: list[str], redirection: str, **env: str) -> tuple[int, str, str]:
    """Run a command in a shell that redirects its streams."""
    done = subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh", WHICHCLOCK, *command],
        cwd=project.root,
        env={"PATH": os.environ["PATH"], "HOME": str(project.root), **env},
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize("command", PARAMETERS)
def test_a_full_disk_is_no_verdict(recorded: Project, command: list[str]) -> None:
    """What nobody could read is neither a pass nor a fail: code 3, and why."""
    assert (
        3,
        "",
        "error: cannot write the output: No space left on device\nhint: check the space where stdout goes\n",
    ) == shell(recorded, command, ">/dev/full")


@pytest.mark.parametrize("command", PARAMETERS)
def test_a_closed_stdout_is_told_before_anything_is_done(recorded: Project, command: list[str]) -> None:
    """No call is paid for an answer that cannot be shown, and no file gets the number of stdout."""
    assert (3, "", "error: cannot write the output: stdout is closed") == (
        *(done := shell(recorded, command, ">&-"))[:2],
        done[2].split("\n")[0],
    )


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "<&-", "<&- 2>&-"])
@pytest.mark.parametrize("command", PARAMETERS)
def test_talk_that_cannot_be_written_changes_no_verdict(
    recorded: Project, command: list[str], redirection: str
) -> None:
    """stderr and stdin may be closed or full: data and code are the same."""
    if "full" in redirection and not Path("/dev/full").exists():
        pytest.skip("the system has no full device")
    code, out, _ = shell(recorded, command, "")

    assert (code, out) == shell(recorded, command, redirection)[:2]


def test_an_error_that_cannot_be_told_keeps_its_code(recorded: Project) -> None:
    """A usage error with stderr closed or full still ends with 2."""
    assert [2, 2] == [shell(recorded, ["grade", "nobody"], to)[0] for to in ("2>&-", "2>/dev/full")]


@pytest.mark.parametrize(
    "command", [["snapshots", "ls"], ["schema", "case"], ["--help"], ["grade", "--format", "json"]], ids=" ".join
)
def test_a_reader_that_left_is_no_failing_case(recorded: Project, command: list[str]) -> None:
    """The code is that of a closed pipe, and nothing is complained about."""
    script = '{ "$@"; echo $? >code; } | true; cat code'
    for _ in range(50):  # the reader may leave before or after the first bytes
        done = subprocess.run(
            ["sh", "-c", script, "sh", WHICHCLOCK, *command],
            cwd=recorded.root, env={"PATH": os.environ["PATH"]}, capture_output=True, check=False,
        )  # fmt: skip
        assert b"" == done.stderr
        if b"141" in done.stdout:
            return
        assert b"0" == done.stdout.strip()
    pytest.fail("the reader never left before the end")


ASCII = [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]


@pytest.mark.parametrize("env", ASCII, ids=["PYTHONIOENCODING", "LC_ALL"])
@pytest.mark.parametrize("command", PARAMETERS)
def test_an_ascii_terminal_gets_escapes(recorded: Project, command: list[str], env: dict[str, str]) -> None:
    """Ids, models and our own arrows that ASCII cannot say are shown as escapes; the code is the same."""
    recorded.edit("golden/cases/cases.yaml", "id: greet", "id: grüße_→")
    expected = shell(recorded, command, "", PYTHONUTF8="1")
    code, out, err = shell(recorded, command, "", **env)

    assert (expected[0], False) == (code, "Traceback" in err)
    if "json" in command or command[0] == "schema":
        assert expected[1] == out  # JSON is UTF-8 wherever it goes
        json.loads(out)
    else:
        assert out.isascii()
        assert expected[1].isascii() == ("\\x" not in out and "\\u" not in out)
    assert err.isascii()


def test_a_path_with_controls_is_neutral_on_the_terminal(recorded: Project) -> None:
    """What a path holds is not obeyed by a terminal."""
    done = recorded.ok("grade", "--out", "a\x1b[31m.parquet")

    assert "saved a\\x1b[31m.parquet\n" == done.err
    assert (recorded.root / "a\x1b[31m.parquet").exists()
