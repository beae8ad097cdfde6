"""A missing snapshot's message: the command that records it, and what it differs from, in the words of every command."""

from __future__ import annotations

import shutil

from tests.flow.conftest import Project


def test_grade_says_that_another_base_url_is_another_key(recorded: Project) -> None:
    """Where the endpoint has no name and the address changes, every case misses for that one reason."""
    recorded.edit("whichclock.toml", 'endpoint = "openai"\n', "")
    recorded.ok("capture", "--quiet")
    recorded.edit("whichclock.toml", recorded.server.url, "http://gateway.example.com/v1")

    err = recorded.ok("grade", code=3).err

    assert 2 == err.count("another base URL is another key")
    assert 'endpoint = "name" on the target would share' in err


def test_grade_capture_and_the_dry_run_word_a_miss_alike(recorded: Project) -> None:
    """One edit, one reason, three commands."""
    recorded.edit("golden/cases/greet.txt", "hello", "good morning")
    graded = recorded.ok("grade", code=3).err
    replayed = recorded.ok("capture", "--mode", "replay", code=3)
    billed = recorded.ok("capture", "--dry-run").out

    reason = next(line.strip() for line in graded.splitlines() if "differs from" in line)
    assert reason.endswith(" at /body/messages/0/content")
    assert f"greet  gpt  {reason}" == billed.splitlines()[0]
    assert f"missed  greet  gpt  nothing is recorded for this request: {reason}" == replayed.out.splitlines()[0]
    assert "missing: greet: record it with: whichclock capture greet" in graded.splitlines()
    assert "hint: record it with: whichclock capture --target gpt greet\n" == replayed.err


def test_grade_of_an_empty_store_says_once_that_it_is_empty(recorded: Project) -> None:
    """No neighbour is missed for each case."""
    shutil.rmtree(recorded.root / "snapshots")
    err = recorded.ok("grade", code=3).err

    assert (1, 0) == (err.count("nothing is recorded yet"), err.count("no recorded request is like it"))


def test_grade_names_a_case_whose_id_is_a_glob(recorded: Project) -> None:
    """The command records this case and not what its id would match."""
    recorded.edit("golden/cases/cases.yaml", "id: greet", 'id: "gre*t"')
    recorded.edit("golden/cases/greet.txt", "hello", "good morning")

    assert "whichclock capture 'gre[*]t'" in recorded.ok("grade", code=3).err


def test_what_a_frozen_run_lists_is_restored_and_not_recorded_again(recorded: Project) -> None:
    """A new recording is another observation, which --frozen can never read."""
    for path in recorded.snapshots:
        path.unlink()
    err = recorded.ok("grade", "--frozen", "main", code=3).err

    assert "missing: 2 rows of main: restore the listed snapshots from git or a copy; a new one is another\n" == err


def test_a_grade_of_what_cannot_be_read_holds_no_path_of_the_machine(recorded: Project) -> None:
    """A broken link in the store: the error column names the file as the store does."""
    path = recorded.snapshots[0]
    path.unlink()
    path.symlink_to("/nowhere/at/all.json")
    rows = recorded.ok("grade", "--format", "json", code=3).json["rows"]
    [error] = [row["error"] for row in rows if row["status"] == "corrupt_snapshot"]

    assert f"corrupt snapshot sha256/{path.parent.name}/{path.name}: it is no file" == error


def test_a_stray_copy_changes_no_verdict(recorded: Project) -> None:
    """A file-sync client's copy beside each snapshot: grade and replay as before, verify reports it."""
    for path in recorded.snapshots:
        path.with_name(f"{path.name.split('.')[0]}.0.zzz.json").write_bytes(b"{}")

    recorded.ok("grade")
    recorded.ok("capture", "--mode", "replay")
    assert recorded.ok("snapshots", "verify", code=3).out.endswith("4 files, 2 sound, 2 corrupt\n")
