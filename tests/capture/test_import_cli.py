"""The command: reports, exit codes, and what stops before anything is written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import whichclock
from snapshots.errors import UsageError
from tests.capture import cassettes
from tests.capture.cassettes import asked, interaction, only, said, stored

MAIL = "someone@example.com"


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call ``whichclock snapshots import vcr`` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WHICHCLOCK_SNAPSHOTS", raising=False)

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(whichclock.app, ["snapshots", "import", "vcr", *arguments])

    return run


def test_a_clean_import_ends_with_0_and_its_counts(call: Any, tmp_path: Path) -> None:
    """Once imported, once duplicate."""
    cassettes.write(tmp_path / "c.yaml", interaction(), interaction(asked("R")))
    first, second = call("c.yaml", "--snapshots", "store"), call("c.yaml", "--snapshots", "store")

    assert (0, 0) == (first.exit_code, second.exit_code)
    assert (
        "1 cassette, 2 interactions: 2 imported, 0 duplicates, 0 refused\n"
        "2 requests, 0 of several trials; 0 trials of several observations\n"
        "read as openai-chat (2)\n"
    ) == first.stdout
    assert "0 imported, 2 duplicates, 0 refused" in second.stdout


def test_refused_entries_are_named_and_end_with_3(call: Any, tmp_path: Path) -> None:
    """Entries in a row for one reason share a line; controls in names and reasons are shown as escapes."""
    made = [
        interaction(status=500),
        interaction(status=500),
        interaction(),
        interaction(status=404),
        interaction(status=500),
    ]
    cassettes.write(tmp_path / "a\x1b[31m.yaml", *made)
    done = call(".", "--snapshots", "store")

    assert (3, 1) == (done.exit_code, len(stored(tmp_path / "store")))
    assert [
        "refused  a\\x1b[31m.yaml #0-1: status 500: an error, and no answer",
        "refused  a\\x1b[31m.yaml #3: status 404: an error, and no answer",
        "refused  a\\x1b[31m.yaml #4: status 500: an error, and no answer",
        "1 cassette, 5 interactions: 1 imported, 0 duplicates, 4 refused",
    ] == done.stdout.splitlines()[:4]


def test_json_holds_the_same_and_is_equal_for_equal_inputs(call: Any, tmp_path: Path) -> None:
    """One object, one row for each file."""
    cassettes.write(tmp_path / "in" / "a.yaml", interaction(), interaction(status=500))
    (tmp_path / "in" / "settings.yaml").write_text("colour: blue\n", encoding="utf-8")
    done = call("in", "--snapshots", "store", "--format", "json")
    told = json.loads(done.stdout)

    assert (3, "whichclock.import/1", [os.path.join("in", "a.yaml"), os.path.join("in", "settings.yaml")]) == (
        done.exit_code, told["schema"], [row["file"] for row in told["rows"]],
    )  # fmt: skip
    assert {
        "files": 2, "no_cassettes": 1, "interactions": 2, "imported": 1, "duplicates": 0, "refused": 1, "requests": 1,
        "requests_of_several_trials": 0, "trials_of_several_observations": 0, "readers": {"openai-chat": 1},
    } == told["summary"]  # fmt: skip
    assert [{"index": 1, "reason": "status 500: an error, and no answer"}] == told["rows"][0]["refused"]
    assert (
        "it is no cassette: it has neither interactions nor a request with its response"
        == told["rows"][1]["no_cassette"]
    )


def test_what_is_no_cassette_in_a_folder_is_named_and_the_rest_imported(call: Any, tmp_path: Path) -> None:
    """A damaged file, an empty one, another format: told apart by content; other endings are not looked at."""
    cassettes.write(tmp_path / "in" / "good.yaml", interaction())
    for name, text in {
        "cut.yaml": "interactions:\n- request: {",
        "empty.json": "",
        "log.json": "{}",
        "notes.txt": "x",
    }.items():
        (tmp_path / "in" / name).write_text(text, encoding="utf-8")
    done = call("in", "--snapshots", "store")

    assert (3, 1) == (done.exit_code, len(stored(tmp_path / "store")))
    assert ["cut.yaml", "empty.json", "log.json"] == [
        Path(line.split("  ")[1].split(":")[0]).name
        for line in done.stdout.splitlines()
        if line.startswith("no cassette")
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.yaml"], "absent.yaml: no such file or directory"),
        (["good.yaml", "other.yaml"], "other.yaml: it is no cassette"),
        (["good.yaml", "pipe.yaml"], "pipe.yaml: it is neither a file nor a folder"),
        (["empty"], "nothing to import: no file under empty has the name of a cassette"),
        (["others"], "nothing to import: no file is a cassette; "),
        (["good.yaml", "--endpoint", "a/b"], "--endpoint a/b: a name has letters"),
        (["good.yaml", "--config", "absent.toml"], "no configuration file absent.toml"),
    ],
)
def test_a_wrong_path_or_option_ends_before_anything_is_written(
    arguments: list[str], message: str, call: Any, tmp_path: Path
) -> None:
    """Code 2: the caller has to change something."""
    cassettes.write(tmp_path / "good.yaml", interaction())
    (tmp_path / "other.yaml").write_text("a: 1\n", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "x.json").write_text("[1]", encoding="utf-8")
    os.mkfifo(tmp_path / "pipe.yaml")
    done = call(*arguments, "--snapshots", "store")

    assert isinstance(done.exception, UsageError)
    assert message in done.exception.message
    assert not (tmp_path / "store").exists()


def test_no_path_at_all_is_an_error_of_usage(call: Any) -> None:
    """There is no default."""
    assert 2 == call("--snapshots", "store").exit_code


def test_the_store_is_the_configuration_s_and_so_is_redaction(call: Any, tmp_path: Path) -> None:
    """What a suite takes out of what it writes is taken out of imports, and is not keyed either."""
    (tmp_path / "whichclock.toml").write_text(
        'suite = "s"\ncases = ["cases.jsonl"]\nsnapshots = "kept"\n[redact]\nkinds = ["email"]\n'
        '[targets.t]\ntype = "openai"\nbase_url = "https://api.example.com/v1"\n',
        encoding="utf-8",
    )
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "prompt": "A"}\n', encoding="utf-8")
    cassettes.write(tmp_path / "c.yaml", interaction(asked(f"I am {MAIL}"), {"string": said(f"Hello {MAIL}")}))
    done = call("c.yaml")
    snapshot = only(tmp_path / "kept")

    assert (0, "I am [redacted:email]", "Hello [redacted:email]") == (
        done.exit_code, snapshot["request"]["body"]["messages"][0]["content"],
        snapshot["response"]["body"]["choices"][0]["message"]["content"],
    )  # fmt: skip
    assert snapshot["meta"]["redaction"].startswith("sha256:")


def test_the_import_is_verified_by_its_own_store(call: Any, tmp_path: Path) -> None:
    """Integrity, names and both hashes are sound, and the store has its files for git."""
    cassettes.write(tmp_path / "c.yaml", *[interaction(asked(str(i))) for i in range(300)])
    call("c.yaml", "--snapshots", "store", "--quiet")
    done = CliRunner().invoke(whichclock.app, ["snapshots", "verify", "--snapshots", "store"])

    assert (0, "300 files, 300 sound, 0 corrupt\n") == (done.exit_code, done.stdout)
    assert (tmp_path / "store" / ".gitattributes").exists()
    assert [] == list((tmp_path / "store" / "tmp").iterdir())


def test_the_group_stands_among_the_commands_of_snapshots() -> None:
    """It is a verb's, so the front door hangs it in."""
    snapshots: Any = typer.main.get_command(whichclock.app)
    group = snapshots.get_command(None, "snapshots")

    assert ["vcr"] == list(group.commands["import"].commands)
