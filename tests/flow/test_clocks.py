"""Each clock moved alone, seen through the whole command line."""

from __future__ import annotations

import pytest

from tests.capture.server import say
from tests.flow.conftest import Project

ORDER = ("refuse_invented_order_id", 0)
GREET = ("greet", 0)


def test_an_edited_grader_is_named_and_nobody_is_asked(recorded: Project) -> None:
    """Editing only a grader gives grader_changed_on_frozen_hash with zero calls."""
    asked = len(recorded.server.asked)
    recorded.edit("golden/cases/graders.py", '{"ok_refusal"}', '{"declined"}')

    rows = recorded.diff("main", code=1)

    assert ("grader_changed_on_frozen_hash", ["grader"], "newly_failing") == (
        rows[ORDER]["move"],
        rows[ORDER]["clocks"],
        rows[ORDER]["verdict_change"],
    )
    assert asked == len(recorded.server.asked)


def test_edited_comments_and_docstrings_move_no_clock(recorded: Project) -> None:
    """A grader that only reads differently is the same grader."""
    recorded.edit(
        "golden/cases/graders.py", '    """Say what the answer does about the order id."""\n', "    # other words\n\n"
    )

    rows = recorded.diff("main")

    assert {("none", ())} == {(row["move"], tuple(row["clocks"])) for row in rows.values()}


@pytest.mark.parametrize(
    ("old", "new", "pointer"),
    [
        pytest.param(
            "note: {type: string}",
            "note: {type: integer}",
            "/body/tools/0/function/parameters/properties/note/type",
            id="type",
        ),
        pytest.param(
            "order_id: {type: string}, note: {type: string}",
            "note: {type: string}, order_id: {type: string}",
            "/body/tools/0/function/parameters/properties",
            id="order of the properties",
        ),
    ],
)
def test_an_edited_tool_schema_is_a_request_move(recorded: Project, old: str, new: str, pointer: str) -> None:
    """A tool schema edit points into the tools and is never called model drift, even when its order alone changes."""
    recorded.edit("golden/cases/cases.yaml", old, new)
    recorded.ok("capture", "--quiet")

    row = recorded.diff("main")[ORDER]

    assert ("capture_hash_moved", ["request"]) == (row["move"], row["clocks"])
    assert [{"pointer": pointer, "part": "tools"}] == row["request_changes"]


def test_another_answer_to_the_same_request_is_the_model_clock(recorded: Project) -> None:
    """A live re-capture with another answer never blames the grader."""
    recorded.server.fallback = lambda _asked: say("It is A-17, Ann.")
    recorded.ok("capture", "--mode", "live", "--quiet")

    rows = recorded.diff("main", code=1)

    assert ("answer_moved_on_frozen_request", ["model"], "newly_failing") == (
        rows[ORDER]["move"],
        rows[ORDER]["clocks"],
        rows[ORDER]["verdict_change"],
    )
    assert ("answer_moved_on_frozen_request", "still_passing") == (rows[GREET]["move"], rows[GREET]["verdict_change"])


def test_an_edited_expected_set_is_the_expectation_clock(recorded: Project) -> None:
    """Editing expected moves the expectation and nothing else."""
    recorded.edit("golden/cases/cases.yaml", "expected: [ok_refusal]", "expected: [ok]")

    row = recorded.diff("main", code=1)[ORDER]

    assert ("expectation_changed_on_frozen_hash", ["expectation"]) == (row["move"], row["clocks"])


def test_a_prompt_moved_to_another_file_moves_nothing(recorded: Project) -> None:
    """The rendered text is what is sent; where it was written is not."""
    (recorded.root / "golden/cases/greet.txt").rename(recorded.root / "golden/cases/hello.txt")
    recorded.edit("golden/cases/cases.yaml", "greet.txt", "hello.txt")

    row = recorded.diff("main")[GREET]

    assert ("none", []) == (row["move"], row["clocks"])


def test_a_renamed_case_is_the_same_case(recorded: Project) -> None:
    """A case under another id stands beside its old row."""
    recorded.edit("golden/cases/cases.yaml", "id: greet", "id: welcome")

    rows = recorded.diff("main")

    assert {ORDER, ("welcome", 0)} == set(rows)
    row = rows["welcome", 0]
    assert ("renamed", [], "greet", "still_passing") == (
        row["move"],
        row["clocks"],
        row["base"]["case_id"],
        row["verdict_change"],
    )


def test_added_and_removed_cases_are_told_apart(recorded: Project) -> None:
    """An added failing case gates; a removed one is counted and does not."""
    recorded.edit("golden/cases/cases.yaml", "id: greet", "id: farewell")
    recorded.edit("golden/cases/cases.yaml", "contains: Ann", "contains: Goodbye")
    done = recorded.run("diff", "main", "--format", "json")

    moves = {row["case_id"]: row["move"] for row in done.json["rows"]}
    assert {"refuse_invented_order_id": "none", "greet": "removed", "farewell": "added"} == moves
    assert (1, 1, 1) == (done.code, done.json["summary"]["removed_cases"], done.json["summary"]["regressions"])


def test_a_missing_snapshot_is_no_verdict(recorded: Project) -> None:
    """Without an answer there is neither pass nor fail, and the exit code is 3."""
    recorded.edit("golden/cases/greet.txt", "hello", "good morning")

    done = recorded.ok("grade", "--format", "json", code=3)
    row = recorded.diff("main", code=3)[GREET]

    assert {"refuse_invented_order_id": "pass", "greet": "missing_snapshot"} == {
        r["case_id"]: r["status"] for r in done.json["rows"]
    }
    assert ("missing_snapshot", ["request"], "incomparable") == (row["move"], row["clocks"], row["verdict_change"])


def test_the_message_of_a_missing_snapshot_gives_the_remedy(recorded: Project) -> None:
    """It names the command that records it, the nearest recorded request and the pointers that differ."""
    recorded.edit("golden/cases/greet.txt", "hello", "good morning")

    err = recorded.ok("grade", code=3).err

    assert "whichclock capture greet" in err
    assert "/body/messages/0/content" in err


def test_two_clocks_at_once_are_both_named(recorded: Project) -> None:
    """The move is the first that applies; the clocks are all that moved."""
    recorded.edit("golden/cases/graders.py", '{"ok_refusal"}', '{"declined"}')
    recorded.edit("golden/cases/cases.yaml", "expected: [ok_refusal]", "expected: [declined]")

    row = recorded.diff("main")[ORDER]

    assert ("grader_changed_on_frozen_hash", ["grader", "expectation"], "still_passing") == (
        row["move"],
        row["clocks"],
        row["verdict_change"],
    )


def test_a_moved_digest_without_another_finding_is_silent(recorded: Project) -> None:
    """The grader's code changed, its findings did not: move none, clock listed."""
    recorded.edit("golden/cases/graders.py", 'return {"ok_refusal"}', 'return set(["ok_refusal"])')

    row = recorded.diff("main")[ORDER]

    assert ("none", ["grader"], "still_passing") == (row["move"], row["clocks"], row["verdict_change"])


def test_answers_that_alternate_leave_four_observations(project: Project) -> None:
    """A, B, A, B over four live captures: four files under one request hash, and the last one is current."""
    for word in "ABAB":
        project.server.fallback = lambda _asked, word=word: say(f"Ann {word}")
        project.ok("capture", "greet", "--mode", "live", "--quiet")

    greet = [p for p in project.snapshots if '"Ann ' in p.read_text()]
    row = project.ok("grade", "greet", "--format", "json").json["rows"][0]

    assert 4 == len(greet)
    assert "Ann B" in greet[-1].read_text()
    assert greet[-1].name.split(".")[3] == row["answer_hash"][:16]


def test_a_frozen_grade_judges_the_answers_of_the_saved_run(recorded: Project) -> None:
    """With --frozen only grader and expectation can move: the saved observation is read, not the current one."""
    recorded.server.fallback = lambda _asked: say("Nobody")
    recorded.ok("capture", "--mode", "live", "--quiet")
    recorded.edit("golden/cases/greet.txt", "hello", "good morning")

    done = recorded.ok("grade", "--frozen", "main", "--format", "json")

    assert {"pass"} == {row["status"] for row in done.json["rows"]}
    assert (0, 1) == (done.json["summary"]["not_in_base"], done.json["summary"]["request_moved"])


def test_a_rename_is_the_same_in_parquet_and_counts_at_base(recorded: Project) -> None:
    """The old row stands in the base columns, and the base rate keeps the case."""
    import pyarrow.parquet as pq

    recorded.edit("golden/cases/cases.yaml", "id: greet", "id: welcome")
    summary = recorded.ok("diff", "main", "--out", "d.parquet", "--format", "json").json["summary"]

    with open(recorded.root / "d.parquet", "rb") as file:
        rows = {r["case_id"]: r for r in pq.ParquetFile(file).read().to_pylist()}
    assert ("renamed", "greet", "pass") == tuple(rows["welcome"][n] for n in ("move", "base_case_id", "base_status"))
    assert (2, 2) == (summary["base_pass_rate"]["cases"], summary["head_pass_rate"]["cases"])


def test_another_grader_file_moves_nobody_elses_clock(recorded: Project) -> None:
    """A new grader file with a helper of its own, imported in a way that reading does not show, is no change of the others."""
    (recorded.root / "private.py").write_text("X = 1\n")
    (recorded.root / "golden/cases/more.py").write_text(
        "import importlib\nimportlib.import_module('private')\ndef more(envelope):\n    return set()\n"
    )
    recorded.edit("whichclock.toml", '"golden/cases/graders.py"', '"golden/cases/graders.py", "golden/cases/more.py"')

    assert [] == recorded.diff("main")[ORDER]["clocks"]


def test_an_edited_helper_module_is_the_grader_clock(recorded: Project) -> None:
    """What a grader imports from the project is its code."""
    (recorded.root / "wording.py").write_text("CODE = 'ok_refusal'\n")
    recorded.edit(
        "golden/cases/graders.py", "from whichclock import grader", "import wording\nfrom whichclock import grader"
    )
    recorded.edit("golden/cases/graders.py", '{"ok_refusal"}', "{wording.CODE}")
    recorded.ok("grade", "--save", "main")
    (recorded.root / "wording.py").write_text("CODE = 'declined'\n")

    row = recorded.diff("main", code=1)[ORDER]

    assert ("grader_changed_on_frozen_hash", ["grader"]) == (row["move"], row["clocks"])


def test_several_clocks_on_one_row_share_what_they_did(recorded: Project) -> None:
    """Either edit alone fails the case: each has half of it, and the table says so."""
    recorded.edit("golden/cases/graders.py", '{"ok_refusal"}', '{"declined"}')
    recorded.edit("golden/cases/cases.yaml", "expected: [ok_refusal]", "expected: [ok]")

    assert "through grader or expectation, each alone is enough" in recorded.ok("diff", "main", code=1).out


def test_a_failing_grader_is_told_in_the_diff(recorded: Project) -> None:
    """The row says whose fault it is."""
    recorded.edit("golden/cases/graders.py", 'return {"ok_refusal"}', "return 1 / 0")

    out = recorded.ok("diff", "main", code=3).out

    assert "head: grader_error golden/cases/graders.py:order_grader: ZeroDivisionError" in out


def test_an_unrelated_grader_is_not_blamed_for_anothers_failure(recorded: Project) -> None:
    """A grader that fails because its context changed is the expectation's, whatever else was edited."""
    more = "def other(envelope, case):\n    return {case['context']['word']}\n"
    (recorded.root / "golden/cases/more.py").write_text(more)
    recorded.edit("whichclock.toml", '"golden/cases/graders.py"', '"golden/cases/graders.py", "golden/cases/more.py"')
    recorded.edit(
        "golden/cases/cases.yaml", "graders: [order_grader]", "graders: [order_grader, other]\n    context: {word: ok}"
    )
    recorded.edit("golden/cases/cases.yaml", "expected: [ok_refusal]", "expected: [ok_refusal, ok]")
    recorded.ok("grade", "--save", "main")
    recorded.edit("golden/cases/cases.yaml", "context: {word: ok}", "context: {}")
    recorded.edit("golden/cases/graders.py", 'return {"ok_refusal"}', 'return set(["ok_refusal"])')

    assert "expectation_changed_on_frozen_hash" == recorded.diff("main", code=3)[ORDER]["move"]


def test_a_label_that_is_a_revision_is_pointed_out(recorded: Project) -> None:
    """diff HEAD is a slip for diff git:HEAD."""
    recorded.git("init", "-q")
    recorded.git("add", "-A")
    recorded.git("commit", "-qm", "First")

    assert "did you mean git:HEAD?" in recorded.ok("diff", "HEAD", code=2).err


def test_a_context_now_in_lower_case_is_an_instant_too(recorded: Project) -> None:
    """RFC 3339 allows t and z."""
    recorded.edit(
        "golden/cases/cases.yaml",
        "graders: [order_grader]",
        "graders: [order_grader]\n    context: {now: 2026-01-01t00:00:00z}",
    )

    recorded.ok("grade")
