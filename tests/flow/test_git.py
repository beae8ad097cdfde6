"""Revisions as the base: no saved label, no network, each side judged by its own code."""

from __future__ import annotations

from tests.flow.conftest import Project

ORDER = ("refuse_invented_order_id", 0)

THIRD = """\
  - id: short
    prompt: Say hello to Ann in one word.
    checks: [{contains: Ann}]
    expected: []
"""


def committed(project: Project) -> None:
    """Commit a first state, then one that edits a prompt, a grader and an expectation in three cases."""
    (project.root / ".gitignore").write_text("results/\n")
    (project.root / "golden/cases/third.yaml").write_text("cases:\n" + THIRD)
    project.ok("capture", "--quiet")
    project.git("init", "-q")
    project.git("add", "-A")
    project.git("commit", "-qm", "First state")
    project.edit("golden/cases/greet.txt", "hello", "good morning")
    project.ok("capture", "--quiet")
    project.edit("golden/cases/graders.py", '{"ok_refusal"}', '{"declined"}')
    project.edit("golden/cases/third.yaml", "expected: []", "expected: [text_missing]")
    project.git("add", "-A")
    project.git("commit", "-qm", "Edit a prompt, a grader and an expectation")


def test_a_commit_with_three_edits_is_attributed_to_three_clocks(project: Project) -> None:
    """diff git:HEAD~1 in a clone, with nothing saved and the server gone, names the clock of each case."""
    committed(project)
    clone = Project(project.root.parent / "clone", project.server)
    project.git("clone", "-q", ".", str(clone.root))
    asked = len(project.server.asked)

    rows = clone.diff("git:HEAD~1", code=1)

    assert {
        ORDER: ("grader_changed_on_frozen_hash", ["grader"]),
        ("greet", 0): ("capture_hash_moved", ["request"]),
        ("short", 0): ("expectation_changed_on_frozen_hash", ["expectation"]),
    } == {key: (row["move"], row["clocks"]) for key, row in rows.items()}
    assert asked == len(project.server.asked)


def test_a_clone_is_left_as_it_was(project: Project) -> None:
    """Comparing with a revision touches neither the work tree nor the index."""
    committed(project)

    project.run("diff", "git:HEAD~1")

    assert "" == project.git("status", "--porcelain")


def test_why_names_the_commit_that_moved_each_clock(project: Project) -> None:
    """Each moved clock is followed by the subject of its commit; the others stand still."""
    committed(project)

    account = project.ok("why", ORDER[0], "git:HEAD~1", "--format", "json").json["cases"][0]

    clocks = {c["clock"]: (c["state"], c["moved_by"] and c["moved_by"].split(" ", 1)[1]) for c in account["clocks"]}
    assert {
        "request": ("still", None),
        "model": ("still", None),
        "grader": ("moved", "Edit a prompt, a grader and an expectation"),
        "expectation": ("still", None),
    } == clocks


def test_why_shows_before_and_after_of_what_moved(project: Project) -> None:
    """The request clock comes with the pointer and both texts."""
    committed(project)

    account = project.ok("why", "greet", "git:HEAD~1", "--format", "json").json["cases"][0]

    request = account["clocks"][0]
    assert [
        {
            "pointer": "/body/messages/0/content",
            "before": "Say hello to Ann.\n",
            "after": "Say good morning to Ann.\n",
            "part": "prompt",
        }
    ] == request["changes"]


def test_changes_that_are_not_committed_are_compared_with_head(project: Project) -> None:
    """Without a BASE, why looks at the last change: the uncommitted one where there is one."""
    committed(project)
    project.edit("golden/cases/third.yaml", "one word", "two words")

    account = project.ok("why", "short", "--format", "json").json

    assert account["base"].startswith("git:HEAD (")
    assert "not committed yet" == account["cases"][0]["clocks"][0]["moved_by"]


def test_a_store_outside_the_tree_is_read_where_it_is_and_said_so(project: Project) -> None:
    """Where the revision holds no snapshots, the configured store answers and the report says it."""
    (project.root / ".gitignore").write_text("results/\nsnapshots/\n")
    project.ok("capture", "--quiet")
    project.git("init", "-q")
    project.git("add", "-A")
    project.git("commit", "-qm", "No answers in git")

    done = project.ok("diff", "git:HEAD", "--format", "json")

    assert ["git:HEAD holds no snapshots; its answers are read from the configured store"] == done.json["summary"][
        "notes"
    ]
    assert {"none": 2} == done.json["summary"]["moves"]


def test_a_revision_that_cannot_be_graded_is_named(project: Project) -> None:
    """The message says that it is the old side's file, without the folder it was written to."""
    committed(project)
    project.edit("whichclock.toml", 'suite = "support"', "suite = ")
    project.git("commit", "-qam", "Break the configuration")
    project.edit("whichclock.toml", "suite = ", 'suite = "support"')

    err = project.ok("diff", "git:HEAD", code=2).err

    assert err.startswith("error: git:HEAD cannot be graded: whichclock.toml")
    assert "/tmp" not in err


def test_a_project_in_a_folder_with_an_odd_name_is_found(project: Project) -> None:
    """A path is a path to git, even where it looks like a pattern of git's."""
    odd = project.copy_to(project.root.parent / "repository" / ":(top)x")
    top = Project(project.root.parent / "repository", project.server)
    odd.ok("capture", "--quiet")
    top.git("init", "-q")
    top.git("add", "-A")
    top.git("commit", "-qm", "First state")
    odd.edit("golden/cases/graders.py", '{"ok_refusal"}', '{"declined"}')

    rows = odd.diff("git:HEAD", code=1)
    account = odd.ok("why", ORDER[0], "--format", "json").json

    assert ["grader"] == rows[ORDER]["clocks"]
    assert account["base"].startswith("git:HEAD (")


def test_a_store_that_the_environment_names_is_not_the_trees(project: Project) -> None:
    """A revision is graded with its own answers even where WHICHCLOCK_SNAPSHOTS is set: drift must not hide."""
    from tests.capture.server import say

    committed(project)
    project.server.fallback = lambda _asked: say("Good day")
    project.ok("capture", "--mode", "live", "--quiet")
    project.env = {"WHICHCLOCK_SNAPSHOTS": str(project.root / "snapshots")}

    rows = project.diff("git:HEAD", code=1)

    assert "answer_moved_on_frozen_request" == rows["greet", 0]["move"]


def test_why_tells_of_added_renamed_and_several_cases(project: Project) -> None:
    """A case on one side only, one under another id, and all that a glob means."""
    committed(project)
    project.edit("golden/cases/cases.yaml", "id: greet", "id: welcome")
    project.edit("golden/cases/third.yaml", "cases:\n", 'cases:\n  - {id: brand_new, prompt: "Say Ann"}\n')

    told = {
        name: project.ok("why", name, "git:HEAD", "--format", "json").json["cases"]
        for name in ("brand_new", "welcome", "greet", "*")
    }

    assert ["added"] == [c["move"] for c in told["brand_new"]]
    assert ["renamed"] == [c["move"] for c in told["welcome"]] == [c["move"] for c in told["greet"]]
    assert {"brand_new", "welcome", "short", ORDER[0]} == {c["case_id"] for c in told["*"]}


def test_why_shows_the_lines_of_a_moved_grader(project: Project) -> None:
    """The code before and after, not digests alone."""
    committed(project)

    out = project.ok("why", ORDER[0], "git:HEAD~1").out

    assert '-        return {"ok_refusal"}' in out
    assert '+        return {"declined"}' in out


def test_a_linked_prompt_within_the_tree_is_read_at_a_revision(project: Project) -> None:
    """A symbolic link stands for the file that it leads to."""
    (project.root / "golden/cases/greet.txt").rename(project.root / "hello.txt")
    (project.root / "golden/cases/greet.txt").symlink_to("../../hello.txt")
    committed(project)

    assert "capture_hash_moved" == project.diff("git:HEAD~1", code=1)["greet", 0]["move"]
