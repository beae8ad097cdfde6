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


def test_a_case_is_shown_by_its_id(recorded: Project) -> None:
    """Its current answer, the same text as by its hash; of a prompt that moved there is none, and the remedy is named."""
    listed = recorded.ok("golden", "ls", "--format", "json").json["rows"]
    shown = recorded.ok("snapshots", "show", "greet").out

    assert (
        recorded.ok("snapshots", "show", next(r["request_hash"] for r in listed if r["case_id"] == "greet")).out
        == shown
    )
    recorded.edit("golden/cases/greet.txt", "hello", "good morning")
    assert [
        "error: no answer is recorded for case 'greet', target gpt",
        "hint: record it with: whichclock capture greet",
    ] == recorded.ok("snapshots", "show", "greet", code=3).err.splitlines()


def test_a_case_with_several_targets_is_shown_target_by_target(recorded: Project) -> None:
    """Each answer stands under case and target."""
    config = (recorded.root / "whichclock.toml").read_text()
    table = config[config.index("[targets.gpt]") :]
    (recorded.root / "whichclock.toml").write_text(
        config.replace("[targets.gpt]", '[defaults]\ntargets = ["gpt", "other"]\n\n[targets.gpt]')
        + table.replace("targets.gpt", "targets.other").replace("tiny-1", "tiny-2")
    )
    recorded.ok("capture", "--quiet")
    lines = recorded.ok("snapshots", "show", "greet").out.splitlines()

    assert ["greet [gpt]", "greet [other]"] == [line for line in lines if line.startswith("greet ")]
    assert 2 == lines.count("    Hello Ann")


def test_what_is_neither_hash_nor_case_is_told_with_the_nearest_case(recorded: Project) -> None:
    """A broken suite hides no snapshot: its hash still shows it, and the hint says how to come by one."""
    request_hash = recorded.ok("golden", "ls", "greet", "--format", "json").json["rows"][0]["request_hash"]
    near = recorded.ok("snapshots", "show", "greeet", code=2).err
    recorded.edit("whichclock.toml", 'suite = "support"', "suites = 1")
    broken = recorded.ok("snapshots", "show", "greet", code=2).err

    assert "did you mean 'greet'?" in near
    assert "for the hash of a case: whichclock golden ls" in broken
    assert "Hello Ann" in recorded.ok("snapshots", "show", request_hash).out
