"""The capture log, resuming from it, and interrupts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from capture.run import Mode
from snapshots.errors import UsageError
from tests.capture.conftest import Project, outcomes
from tests.capture.server import ModelServer, say, say_json


def lines(path: Path | None) -> list[dict]:
    assert path is not None
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_log_has_a_header_a_line_for_each_identity_and_the_summary(project: Project, server: ModelServer) -> None:
    """Shared rows are one line that names all cases; failures carry their reason."""
    project.write(*({"id": name, "prompt": prompt} for name, prompt in [("b", "x"), ("a", "x"), ("c", "y")]))
    server.fallback = lambda asked: say("A") if asked.prompt == "x" else say_json({}, 404)
    result = project.capture()
    header, *entries, last = lines(result.log)

    assert {
        "schema": "whichclock.capture-log/1",
        "suite": "s",
        "mode": "auto",
        "started_at": "2025-11-30T12:00:00Z",
    } == {name: value for name, value in header.items() if name != "golden"}
    assert header["golden"].startswith("sha256:")
    assert "gpt" == entries[0]["target"]
    recorded, failed = sorted(entries, key=lambda entry: entry["outcome"], reverse=True)
    assert ["a", "b"] == recorded["cases"]
    assert result.rows[0].answer_hash == recorded["answer_hash"]
    assert {"outcome": "failed", "answer_hash": None, "error": "HTTP 404: {}"} == {
        name: failed[name] for name in ("outcome", "answer_hash", "error")
    }
    assert {"summary": result.summary} == last


def test_a_log_is_named_by_its_second(one: Project) -> None:
    """Names sort by time."""
    log = one.capture().log

    assert log is not None
    assert log.name.startswith("20251130T120000Z-")
    assert one.root / "snapshots" / "log" == log.parent


def test_a_capture_that_asks_nothing_writes_nothing(one: Project) -> None:
    """A full store can be read-only."""
    one.capture()
    before = one.everything_written()
    result = one.capture()

    assert (None, before) == (result.log, one.everything_written())


def test_resume_skips_what_that_run_was_answered(project: Project, server: ModelServer) -> None:
    """A live capture that failed half-way goes on with the rest only."""
    project.capture()
    server.fallback = lambda asked: say("new") if asked.prompt == "hello" else say_json({}, 404)
    first = project.capture(Mode.LIVE)
    server.fallback = lambda asked: say("newer")
    second = project.capture(Mode.LIVE, resume=first.log)
    third = project.capture(Mode.LIVE, resume=Path(second.log.name) if second.log else None)

    assert ["moved", "failed"] == outcomes(first)
    assert ["replayed", "moved"] == outcomes(second)
    assert ["replayed", "replayed"] == outcomes(third)


def test_a_log_whose_last_line_was_cut_resumes(project: Project, server: ModelServer) -> None:
    """A killed run leaves half a line, which counts for nothing."""
    project.write(*({"id": name, "prompt": name} for name in "ab"), target="concurrency = 1")
    log = project.capture(Mode.LIVE).log
    assert log is not None
    whole = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(whole[0] + whole[1] + whole[2][:50])

    assert ["replayed", "unchanged"] == outcomes(project.capture(Mode.LIVE, resume=log))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema": "whichclock.capture-log/2", "suite": "s"}\n', "no capture log of whichclock.capture-log/1"),
        ('{"schema": "whichclock.capture-log/1", "suite": "other"}\n', "a log of suite 'other', not of 's'"),
        ("", "no capture log"),
        ("hello\n", "no capture log"),
        ('{"schema": "whichclock.capture-log/1", "suite": "s"}\nhalf a li\n{}\n', "a line of it is no JSON object"),
    ],
)
def test_a_log_of_another_kind_is_a_usage_error(one: Project, tmp_path: Path, text: str, message: str) -> None:
    """Another schema, another suite, or no log at all: nothing is skipped by accident."""
    log = tmp_path / "log.jsonl"
    log.write_text(text)

    with pytest.raises(UsageError, match=message):
        one.capture(resume=log)


def test_a_log_that_is_not_there_is_a_usage_error(one: Project, tmp_path: Path) -> None:
    """The message names it."""
    with pytest.raises(UsageError, match="cannot read the log"):
        one.capture(resume=tmp_path / "nothing.jsonl")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_was_answered(project: Project, server: ModelServer, number: signal.Signals) -> None:
    """In the midst of a run: code 130, sound files for all answers that came, and a rerun asks only for the rest."""
    cases = [{"id": str(i), "prompt": str(i)} for i in range(30)]
    project.write(*cases, target="concurrency = 2")

    def interrupt(count: int) -> None:
        if count == 10:
            os.kill(os.getpid(), number)

    server.on_asked = interrupt
    server.delay_s = 0.01
    first = project.capture()
    asked = len(server.asked)
    server.on_asked = lambda count: None
    second = project.capture()

    assert first.interrupted
    assert 130 == first.exit_code
    assert asked < 15
    assert first.summary["recorded"] == len(lines(first.log)) - 2 == second.summary["replayed"]
    assert {"interrupted before it was answered"} == {row.error for row in first.rows if row.outcome == "failed"}
    assert 30 == second.summary["replayed"] + second.summary["recorded"]
    # What was asked and not answered when the signal came is asked again; nothing else is.
    assert len(server.asked) - asked == 30 - first.summary["recorded"]


def test_the_command_ends_with_130_when_it_is_interrupted(project: Project, server: ModelServer) -> None:
    """The shell sees an interrupt, and the user a hint."""
    project.write(*({"id": str(i), "prompt": str(i)} for i in range(50)), target="concurrency = 1")
    server.delay_s = 0.02
    process = subprocess.Popen(
        [sys.executable, "-m", "whichclock", "capture"],
        cwd=project.root,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while len(server.asked) < 3:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)

    assert 130 == process.returncode
    assert "run the same command again" in err
    assert "Traceback" not in out + err
