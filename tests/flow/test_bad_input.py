"""Bad input of every kind: one clear message with place and remedy, exit code 2, never a traceback."""

from __future__ import annotations

import pytest

from tests.flow.conftest import Project

CASES = "golden/cases/cases.yaml"
CONFIG = "whichclock.toml"
GRADERS = "golden/cases/graders.py"

# what is edited: (file, old, new) → words that the message must hold
EDITS = [
    pytest.param(CONFIG, 'suite = "support"', 'suite = "support"\nsweet = 1', ["whichclock.toml", "/sweet", "suite"], id="unknown key"),
    pytest.param(CONFIG, 'suite = "support"', "suite = 7", ["whichclock.toml", "/suite", "text"], id="wrong type"),
    pytest.param(CONFIG, 'suite = "support"', "suite = [", ["whichclock.toml", "line"], id="unreadable TOML"),
    pytest.param(CASES, "id: greet", "id: refuse_invented_order_id", ["cases.yaml:2", "cases.yaml:9"], id="duplicate id"),
    pytest.param(CONFIG, 'model = "tiny-1"', 'model = "${env:NOBODY_SET_THIS}"', ["NOBODY_SET_THIS", "gpt"], id="missing variable"),
    pytest.param(CONFIG, 'model = "tiny-1"', 'model = "m"\nparams = { user = "${env:API_TOKEN}" }', ["API_TOKEN", "params"], id="keyed secret"),
    pytest.param(CASES, "cases:", "cases: [", ["cases.yaml"], id="unreadable YAML"),
    pytest.param(CASES, "id: greet", "id: !!python/object/apply:os.getcwd []", ["cases.yaml:9", "!!python"], id="YAML tag"),
    pytest.param(CASES, "    prompt: {file: golden/cases/greet.txt}\n", "", ["cases.yaml:9", "prompt"], id="case without a request"),
    pytest.param(CASES, "graders: [order_grader]", "graders: [odrer_grader]", ["odrer_grader", "order_grader"], id="unknown grader"),
    pytest.param(GRADERS, "from whichclock import grader", "import nowhere_to_be_found\nfrom whichclock import grader", ["graders.py:1", "nowhere_to_be_found"], id="grader import"),
    pytest.param(GRADERS, "def order_grader(envelope):", "def order_grader(envelope:", ["graders.py:"], id="grader syntax"),
    pytest.param(CASES, "contains: Ann", "contians: Ann", ["contians", "contains"], id="unknown check"),
    pytest.param(CASES, "expected: [ok_refusal]", "expected: [OK!]", ["expected", "OK!"], id="malformed code"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "words"), EDITS)
def test_a_broken_suite_is_explained(recorded: Project, file: str, old: str, new: str, words: list[str]) -> None:
    """Each message names the place and what was expected, on one error line, with a remedy where there is one."""
    recorded.edit(file, old, new)

    done = recorded.ok("grade", "--save", "after", code=2)

    assert ("", 1) == (done.out, done.err.count("error: "))
    assert [] == [w for w in words if w not in done.err], done.err
    assert not (recorded.root / "results" / "after").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["grade", "no_such_case"], ["no_such_case"], id="unknown case"),
        pytest.param(["grade", "gree"], ["gree", "greet"], id="near case"),
        pytest.param(["grade", "--target", "gtp"], ["gtp", "gpt"], id="unknown target"),
        pytest.param(["grade", "--tag", "nope"], ["nope"], id="unknown tag"),
        pytest.param(["grade", "greet", "--save", "x"], ["--save", "--out"], id="save with a selection"),
        pytest.param(["grade", "--save", "a/b"], ["a/b"], id="bad label"),
        pytest.param(["grade", "--save", "sources"], ["sources"], id="reserved label"),
        pytest.param(["grade", "--out", "x.csv"], ["x.csv", ".parquet"], id="out of another kind"),
        pytest.param(["grade", "--config", "nowhere.toml"], ["nowhere.toml"], id="no configuration"),
        pytest.param(["diff", "mian"], ["mian", "main"], id="unknown label"),
        pytest.param(["diff", "main~7"], ["main~7"], id="too far back"),
        pytest.param(["diff", "nowhere.parquet"], ["nowhere.parquet"], id="no file"),
        pytest.param(["diff", "not_one.parquet"], ["not_one.parquet"], id="no Parquet"),
        pytest.param(["diff", "other.parquet"], ["other.parquet"], id="Parquet of something else"),
        pytest.param(["diff", "git:no_such_revision"], ["git"], id="unknown revision"),
        pytest.param(["diff", "git:--help"], ["git"], id="revision that is an option"),
        pytest.param(["why", "no_such_case", "main"], ["no_such_case"], id="why of nothing"),
        pytest.param(["snapshots", "show", "zzzz"], ["zzzz"], id="show of nothing"),
        pytest.param(["capture", "no_such_case"], ["no_such_case"], id="capture of nothing"),
    ],
)
def test_a_wrong_command_is_explained(recorded: Project, arguments: list[str], words: list[str]) -> None:
    """The message repeats what was asked and shows what is near."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (recorded.root / "not_one.parquet").write_text("PAR1 but not really")
    pq.write_table(pa.table({"a": [1]}), recorded.root / "other.parquet")

    done = recorded.ok(*arguments, code=2)

    assert [] == [w for w in words if w not in done.err], done.err


def test_a_run_of_another_suite_is_refused(recorded: Project) -> None:
    """Two suites are never compared by accident."""
    recorded.ok("grade", "--out", "old.parquet")
    recorded.edit(CONFIG, '"support"', '"sales"')

    done = recorded.ok("diff", "old.parquet", code=2)

    assert [] == [w for w in ("support", "sales") if w not in done.err]


def test_zero_cases_are_nothing_to_do(recorded: Project) -> None:
    """An empty suite is the author's mistake and never green."""
    (recorded.root / CASES).write_text("cases: []\n")

    assert "nothing to do" in recorded.ok("grade", code=2).err


def test_a_project_module_named_like_one_of_ours_is_reported(recorded: Project) -> None:
    """A grader that imports the project's own ``snapshots`` would get ours: said by name, with the remedy."""
    (recorded.root / "golden/cases/shared.py").write_text("X = 1\n")
    recorded.edit(GRADERS, "from whichclock", "import golden.cases.shared\nfrom whichclock")

    done = recorded.ok("grade", code=2)

    assert [] == [w for w in ("graders.py", "golden", "rename") if w not in done.err], done.err
