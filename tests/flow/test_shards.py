"""A suite graded in parts, and a run taken over from the one before: the bytes of one whole grading."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.flow.conftest import Project

MANY = 60
GRADERS = """\
from whichclock import grader


@grader
def short(envelope):
    return {"short": len(envelope["text"])} if len(envelope["text"]) < 6 else set()
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Sixty cases with two trials each, recorded; only ever read or copied."""
    from tests.capture.server import model_server, say

    with model_server() as server:
        server.fallback = lambda asked: say(asked.prompt[5:])
        project = Project(tmp_path_factory.mktemp("many") / "project", server)
        project.root.mkdir()
        (project.root / "whichclock.toml").write_text(
            f'suite = "s"\ncases = ["cases.jsonl"]\ngraders = ["graders.py"]\n[targets.gpt]\ntype = "openai"\n'
            f'base_url = "{server.url}"\nendpoint = "e"\nmodel = "m"\nconcurrency = 16\n[prices.m]\ninput = 1.0\n'
        )
        cases = [
            {"id": f"c{i}", "prompt": f"case {'x' * (i % 9)}{i}", "trials": 2, "graders": ["short"]}
            for i in range(MANY)
        ]
        (project.root / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
        (project.root / "graders.py").write_text(GRADERS)
        project.ok("capture", "--quiet")
        return project


def test_shards_put_together_are_one_run(many: Project, tmp_path: Path) -> None:
    """Three machines, merged in any order: the same file, byte for byte, and the same verdict."""
    project = many.copy_to(tmp_path / "project")
    whole = project.run("grade", "--out", "whole.parquet", "--quiet")
    parts = [project.run("grade", "--shard", f"{i}/3", "--out", f"{i}.parquet", "--quiet") for i in (1, 2, 3)]
    merged = project.run(
        "grade", "--merge", "3.parquet", "--merge", "1.parquet", "--merge", "2.parquet", "--out", "merged.parquet"
    )

    assert (whole.code, whole.out.splitlines()[-1]) == (merged.code, merged.out.splitlines()[-1])
    assert (project.root / "whole.parquet").read_bytes() == (project.root / "merged.parquet").read_bytes()
    assert {1} >= {part.code for part in parts} - {0}


def test_shards_in_which_every_row_passes_are_put_together_too(many: Project, tmp_path: Path) -> None:
    """There is nothing to tell of a row that did not pass."""
    project = many.copy_to(tmp_path / "project")
    (project.root / "graders.py").write_text(GRADERS.replace("< 6 else", "< 0 else"))
    for i in (1, 2):
        project.ok("grade", "--shard", f"{i}/2", "--out", f"{i}.parquet", "--quiet")

    merged = project.ok("grade", "--merge", "1.parquet", "--merge", "2.parquet", "--out", "merged.parquet")

    assert f"{MANY} of {MANY} cases pass ({2 * MANY} trials)" == merged.out.splitlines()[-1]


def test_each_case_is_in_one_shard_with_all_its_trials(many: Project, tmp_path: Path) -> None:
    """Rows out of all shards are rows of the suite."""
    project = many.copy_to(tmp_path / "project")
    keys: list[tuple[str, int]] = []
    for i in (1, 2, 3):
        done = project.run("grade", "--shard", f"{i}/3", "--out", f"{i}.parquet", "--format", "json", "--quiet")
        keys += [(row["case_id"], row["trial"]) for row in done.json["rows"]]

    assert sorted((f"c{i}", trial) for i in range(MANY) for trial in (0, 1)) == sorted(keys)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--shard", "4/3", "--out", "x.parquet"], "--shard 4/3 is no shard"),
        (["--shard", "1/3"], "--shard writes a part of a run"),
        (["--shard", "1/3", "--save", "main"], "--shard writes a part of a run"),
        (["--merge", "1.parquet"], "shards 2, 3 of 3 are missing"),
        (["--merge", "1.parquet", "--merge", "1.parquet", "--merge", "2.parquet"], "shard 3 of 3 is missing"),
        (["--merge", "whole.parquet"], "is no shard"),
        (["--merge", "nothing.parquet"], "no results file"),
        (["--merge", "1.parquet", "c1"], "--merge takes no cases"),
    ],
)
def test_what_is_no_whole_set_of_shards_is_refused(
    many: Project, tmp_path: Path, arguments: list[str], what: str
) -> None:
    """A run with a part missing would look like a smaller suite that passes."""
    project = many.copy_to(tmp_path / "project")
    project.run("grade", "--out", "whole.parquet", "--quiet")
    for i in (1, 2):
        project.run("grade", "--shard", f"{i}/3", "--out", f"{i}.parquet", "--quiet")
    done = project.run("grade", *arguments)

    assert 2 == done.code
    assert what in done.err


def _more_cases(project: Project) -> None:
    path = project.root / "cases.jsonl"
    path.write_text(path.read_text().replace('{"id": "c7",', '{"id": "c7", "expected": ["short"],'))


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(_more_cases, id="another expectation"),
        pytest.param(lambda project: project.edit("graders.py", "< 6", "< 7"), id="another grader"),
        pytest.param(lambda project: project.snapshots[0].unlink(), id="an answer gone"),
    ],
)
def test_shards_of_two_states_of_a_suite_are_not_put_together(many: Project, tmp_path: Path, edit) -> None:
    """One part graded before an edit and one after it are no run of anything."""
    project = many.copy_to(tmp_path / "project")
    project.run("grade", "--shard", "1/2", "--out", "1.parquet", "--quiet")
    edit(project)
    project.run("grade", "--shard", "2/2", "--out", "2.parquet", "--quiet")
    done = project.run("grade", "--merge", "1.parquet", "--merge", "2.parquet")

    assert 2 == done.code
    assert "is of another run: cases, answers or graders were others when it was graded" in done.err


def test_a_damaged_file_is_no_reused_row(many: Project, tmp_path: Path) -> None:
    """A saved verdict does not stand for an answer that is not there any more."""
    project = many.copy_to(tmp_path / "project")
    project.run("grade", "--save", "main", "--quiet")
    path = project.snapshots[0]
    path.write_bytes(path.read_bytes()[:100])
    done = project.run("grade", "--reuse", "main", "--format", "json", "--quiet")

    assert (3, 1, 2 * MANY - 1) == (
        done.code,
        done.json["summary"]["corrupt_snapshot"],
        done.json["summary"]["reused"],
    )


def test_a_reused_run_is_the_same_run(many: Project, tmp_path: Path) -> None:
    """Nothing moved: every row is taken over, and the file is the same byte for byte."""
    project = many.copy_to(tmp_path / "project")
    project.run("grade", "--save", "main", "--quiet")
    project.run("grade", "--out", "whole.parquet", "--quiet")
    done = project.run("grade", "--reuse", "main", "--out", "again.parquet", "--format", "json", "--quiet")

    assert 2 * MANY == done.json["summary"]["reused"]
    assert (project.root / "whole.parquet").read_bytes() == (project.root / "again.parquet").read_bytes()


def _edit_grader(project: Project) -> None:
    project.edit("graders.py", "< 6", "< 7")


def _edit_case(project: Project) -> None:
    project.edit("cases.jsonl", '{"id": "c7",', '{"id": "c7", "expected": ["short"],')


def _edit_prompt(project: Project) -> None:
    project.edit("cases.jsonl", '"prompt": "case xxx3"', '"prompt": "another 3"')
    project.server.replies = []


def _edit_price(project: Project) -> None:
    project.edit("whichclock.toml", "input = 1.0", "input = 2.0")


@pytest.mark.parametrize(
    ("edit", "reused"),
    [
        pytest.param(_edit_grader, 0, id="the grader"),
        pytest.param(_edit_case, 2 * MANY - 2, id="one expectation"),
        pytest.param(_edit_prompt, 2 * MANY - 2, id="one request"),
        pytest.param(_edit_price, 0, id="a price"),
    ],
)
def test_what_a_clock_touched_is_judged_again(many: Project, tmp_path: Path, edit, reused: int) -> None:
    """The result is that of a whole grading, and only what moved was judged."""
    project = many.copy_to(tmp_path / "project")
    project.run("grade", "--save", "main", "--quiet")
    edit(project)
    project.run("grade", "--out", "whole.parquet", "--quiet")
    done = project.run("grade", "--reuse", "main", "--out", "again.parquet", "--format", "json", "--quiet")

    assert reused == done.json["summary"]["reused"]
    assert (project.root / "whole.parquet").read_bytes() == (project.root / "again.parquet").read_bytes()
