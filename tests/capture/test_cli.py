"""The command: options, output and exit codes."""

from __future__ import annotations

import json
import re

import pytest

from tests.capture.conftest import Project
from tests.capture.server import ModelServer, say, say_json


@pytest.fixture
def run(project: Project, monkeypatch, capsys):
    """Run ``whichclock capture`` in this process and in the project's folder."""
    import whichclock

    monkeypatch.chdir(project.root)
    monkeypatch.delenv("WHICHCLOCK_SNAPSHOTS", raising=False)

    def ran(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["whichclock", "capture", *arguments])
        try:
            whichclock.main()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
        out, err = capsys.readouterr()
        return code, out, err

    return ran


def test_the_summary_counts_and_the_code_is_zero(run) -> None:
    """A whole capture says so in one line."""
    assert (0, "2 planned, 2 recorded; 2 calls\n", "") == run()
    assert (0, "2 planned, 2 replayed; 0 calls\n", "") == run()


def test_json_is_one_object_of_exactly_these_members(run, project: Project) -> None:
    """Schema, summary and rows; nothing else, and zeros are there."""
    code, out, _ = run("hello", "--format", "json")
    told = json.loads(out)
    [row] = told["rows"]

    assert 0 == code
    assert ["schema", "summary", "rows"] == list(told)
    assert "whichclock.capture/1" == told["schema"]
    assert {
        "planned": 1, "calls": 1, "recorded": 1, "replayed": 0, "unchanged": 0, "moved": 0, "relabelled": 0, "missed": 0,
        "asked": 0, "failed": 0, "refused": 0,
    } == told["summary"]  # fmt: skip
    assert {"case_id": "hello", "target": "gpt", "trial": 0, "outcome": "recorded", "shared": False, "error": None} == {
        name: row[name] for name in ("case_id", "target", "trial", "outcome", "shared", "error")
    }
    assert {"request_hash", "answer_hash"} == set(row) - {"case_id", "target", "trial", "outcome", "shared", "error"}
    assert re.fullmatch("[0-9a-f]{64}", row["request_hash"])


def test_equal_captures_print_equal_bytes(run) -> None:
    """Replays of one store are the same to the byte."""
    run()

    assert run("--format", "json") == run("--format", "json")


def test_failures_are_listed_with_case_and_reason(run, server: ModelServer) -> None:
    """The reason is the server's; it would say the same again, so that nobody is told to run again."""
    server.fallback = lambda asked: say("A") if asked.prompt == "bye" else say_json({"error": {"message": "no"}}, 403)
    code, out, err = run("--color", "never")

    assert 3 == code
    assert "failed  hello  gpt  HTTP 403: no\n2 planned, 1 recorded, 1 failed; 2 calls\n" == out
    assert "" == err


def test_failed_live_judges_go_on_with_the_log(run, project: Project, server: ModelServer) -> None:
    """The same command alone would ask all judges again."""
    check = {"judge": {"rubric": "Is it kind?", "target": "judge"}}
    judge = f'[targets.judge]\ntype = "openai"\nbase_url = "{server.url}"\nmodel = "judge-1"\nretries = 0'
    project.write({"id": "a", "prompt": "a", "targets": ["gpt"], "checks": [check]}, target=judge)
    server.fallback = lambda asked: say("A") if asked.json["model"] == "tiny-1" else say_json({"error": "busy"}, 503)
    code, _, err = run("--judges", "live")
    [log] = (project.root / "snapshots/log").glob("*.jsonl")

    assert 3 == code
    assert f"hint: run the same command again with --resume {log.name}: only what has no answer is asked\n" == err


def test_a_miss_comes_with_the_command_that_records_it(run) -> None:
    """The remedy can be pasted."""
    code, out, err = run("hello", "--mode", "replay", "--trials", "2", "--color", "never")

    assert 3 == code
    assert "missed  hello  gpt  nothing is recorded for this request" == out.splitlines()[0]
    assert "hint: record them with: whichclock capture --target gpt --trials 2 hello\n" == err


def test_moved_answers_are_named(run, server: ModelServer) -> None:
    """A live capture that finds another answer succeeds and says where."""
    run()
    server.fallback = lambda asked: say("other")
    code, out, _ = run("hello", "--mode", "live", "--color", "never")

    assert 0 == code
    assert "moved  hello  gpt  the model answers otherwise now" == out.splitlines()[0]


def test_answers_that_moved_are_named_up_to_fifty_and_the_rest_is_counted(run, server: ModelServer) -> None:
    """A list that stops says so, and says where the rest is."""
    run("hello", "--trials", "52")
    server.fallback = lambda asked: say("other")
    _, out, _ = run("hello", "--trials", "52", "--mode", "live", "--color", "never")

    *moved, more, counts = out.splitlines()
    assert ["moved"] * 50 == [line.split()[0] for line in moved]
    assert "… and 2 more (--format json lists all)" == more
    assert "52 planned, 52 moved; 52 calls" == counts


def test_the_same_answer_from_another_reported_model_is_no_answer_that_moved(run, server: ModelServer) -> None:
    """One line names both models for all such rows, and they are counted by themselves."""
    server.fallback = lambda asked: say("A", model="tiny-1")
    run()
    server.fallback = lambda asked: say("A", model="tiny\x1b[31m-2")
    _, both, _ = run("--mode", "live", "--color", "never")
    server.fallback = lambda asked: say("A", model="tiny-3")
    _, single, _ = run("bye", "--mode", "live", "--color", "never")

    same = "the same answer, reported by another model:"
    assert (
        f"relabelled  2 rows  {same} tiny-1 → tiny\\x1b[31m-2\n2 planned, 2 relabelled; 2 calls\n",
        f"relabelled  bye  gpt  {same} tiny\\x1b[31m-2 → tiny-3\n1 planned, 1 relabelled; 1 call\n",
    ) == (both, single)


def test_a_dry_run_asks_nothing_and_ends_with_zero(run, server: ModelServer) -> None:
    """The bill is data on stdout."""
    code, out, _ = run("--dry-run")

    assert 0 == code
    assert "2 planned, 0 replayed: 2 calls, retries not counted" == out.splitlines()[-1]
    assert [] == server.asked


@pytest.mark.parametrize(
    "arguments",
    [
        ["nobody"],
        ["--target", "nobody"],
        ["--tag", "nobody"],
        ["--mode", "sometimes"],
        ["--trials", "0"],
        ["--trials", "10001"],
        ["--trials", "1000000000", "--dry-run"],
        ["--max-calls", "-1"],
        ["--concurrency", "0"],
        ["--resume", "nothing.jsonl"],
        ["--config", "nothing.toml"],
    ],
)
def test_what_cannot_be_asked_for_ends_with_two(run, server: ModelServer, arguments: list[str]) -> None:
    """Usage errors end before any row."""
    code, out, _ = run(*arguments)

    assert (2, "") == (code, out)
    assert [] == server.asked


def test_streams_without_usage_are_warned_about_by_check_and_capture(
    run, project: Project, monkeypatch, capsys
) -> None:
    """Before money is spent, and when it is."""
    import whichclock

    project.write({"id": "a", "prompt": "a", "checks": [{"max_tokens": 5}]}, target="params = { stream = true }")
    captured = run("--mode", "replay")[2]
    monkeypatch.setattr("sys.argv", ["whichclock", "golden", "check"])
    with pytest.raises(SystemExit):
        whichclock.main()
    checked = capsys.readouterr().err

    assert ["target gpt: 1 request is streamed without usage" in text for text in (captured, checked)] == [True, True]


def test_quiet_leaves_data_only(run) -> None:
    """No hint, no bar."""
    assert "" == run("--mode", "replay", "--quiet")[2]


def test_the_store_can_be_named(run, project: Project) -> None:
    """--snapshots wins over the configuration."""
    run("--snapshots", "elsewhere")

    assert 2 == len(list((project.root / "elsewhere" / "sha256").glob("*/*.json")))
    assert not (project.root / "snapshots").exists()


def test_help_loads_no_client() -> None:
    """The command's module is light."""
    import subprocess
    import sys

    code = "import capture.cli, capture.run, sys; print(sorted({'aiohttp', 'rich', 'jsonschema', 'pandas'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]\n" == ran.stdout
