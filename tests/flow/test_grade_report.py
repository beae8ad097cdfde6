"""What grade tells people: both sets in plain words, the evidence, how to see the answer, and numbers that fit their nouns."""

from __future__ import annotations

import json
from pathlib import Path

from tests.flow.conftest import Project

SHORT = 12


def _hash_of(project: Project, case_id: str) -> str:
    rows = project.run("grade", "--format", "json", "--quiet").json["rows"]
    return next(row["request_hash"] for row in rows if row["case_id"] == case_id)


def test_a_violated_check_is_told_with_its_evidence_and_the_way_to_the_answer(recorded: Project) -> None:
    """Nothing was expected, so the row says what was found; under it who found it, by what, and the command that shows the answer."""
    recorded.edit("golden/cases/cases.yaml", "contains: Ann", "contains: Bob")
    done = recorded.ok("grade", code=1)
    shown = _hash_of(recorded, "greet")[:SHORT]

    assert [
        "fail  greet [gpt]: found text_missing, expected none",
        '      text_missing by check:contains: {"missing":["Bob"]}',
        f"      see: whichclock snapshots show {shown}",
        "",
        "1 of 2 cases pass, 1 fail",
    ] == done.out.splitlines()
    assert "    Hello Ann\n" in recorded.ok("snapshots", "show", shown).out


def test_a_case_with_an_expectation_is_told_by_what_differs(recorded: Project) -> None:
    """What is not found, and what is found instead."""
    recorded.edit("golden/cases/cases.yaml", "expected: [ok_refusal]", "expected: [ok]")

    assert (
        "fail  refuse_invented_order_id [gpt]: not found: ok; found: ok_refusal\n" in recorded.ok("grade", code=1).out
    )


def test_quiet_leaves_the_evidence_out(recorded: Project) -> None:
    """The rows and the sum stay."""
    recorded.edit("golden/cases/cases.yaml", "contains: Ann", "contains: Bob")

    assert [
        "fail  greet [gpt]: found text_missing, expected none",
        "",
        "1 of 2 cases pass, 1 fail",
    ] == recorded.ok("grade", "--quiet", code=1).out.splitlines()


def test_evidence_is_neutral_and_short_and_of_two_lines_at_most(recorded: Project) -> None:
    """A grader that quotes an answer commands no terminal and fills no screen."""
    found = '{"a": "\\x1b[2J" + "x" * 1000, "b": 0.1 + 0.2, "c": None}'
    recorded.edit("golden/cases/graders.py", '{"ok_refusal"}', found)
    out = recorded.ok("grade", code=1).out
    evidence = [line for line in out.splitlines() if " by order_grader" in line]

    assert "\x1b" not in out
    assert [True, True] == [len(line) <= 166 for line in evidence]
    assert ("      b by order_grader: 0.3", True) == (evidence[1], evidence[0].endswith("…"))


def test_evidence_is_shown_for_the_first_ten_rows(tmp_path: Path, recorded: Project) -> None:
    """Twelve rows fail: all are listed, ten are explained."""
    cases = "".join(f'{{"id": "c{i}", "prompt": "say {i}", "checks": [{{"contains": "Bob"}}]}}\n' for i in range(12))
    (recorded.root / "golden/cases/cases.yaml").unlink()
    (recorded.root / "golden/cases/many.jsonl").write_text(cases)
    recorded.edit("whichclock.toml", "golden/cases/*.yaml", "golden/cases/*.jsonl")
    recorded.ok("capture", "--quiet")
    out = recorded.ok("grade", code=1).out

    assert (12, 10, 10) == (out.count("fail  c"), out.count("by check:contains"), out.count("see: whichclock"))


def test_cases_of_several_targets_are_counted_as_pairs(recorded: Project) -> None:
    """Two cases and two targets are four; `golden check` says two cases."""
    config = (recorded.root / "whichclock.toml").read_text()
    table = config[config.index("[targets.gpt]") :]
    (recorded.root / "whichclock.toml").write_text(
        config.replace("[targets.gpt]", '[defaults]\ntargets = ["gpt", "other"]\n\n[targets.gpt]')
        + table.replace("targets.gpt", "targets.other").replace("tiny-1", "tiny-2")
    )
    recorded.ok("capture", "--quiet")

    assert "4 of 4 case × target pairs pass\n" == recorded.ok("grade").out


def test_fails_are_counted_where_something_could_not_be_judged(recorded: Project) -> None:
    """One case fails, the answer to the other is missing."""
    recorded.edit("golden/cases/cases.yaml", "expected: [ok_refusal]", "expected: [ok]")
    recorded.edit("golden/cases/greet.txt", "hello", "good morning")
    last = recorded.ok("grade", code=3).out.splitlines()[-1]

    assert "0 of 2 cases pass, 1 fail; not judged: 1 missing_snapshot" == last


def test_one_case_is_no_plural(recorded: Project) -> None:
    """Cases and rows, in grade and in the check of purity."""
    assert "1 of 1 case passes\n" == recorded.ok("grade", "greet").out
    assert recorded.ok("grade", "--check-purity", "greet").out.startswith("pure: 1 row is the same under")
    assert recorded.ok("grade", "--frozen", "main", "greet").out.endswith(
        "frozen at main: 0 rows not in it, 0 with another request since\n"
    )
    assert "reused from main: 1 of 1 row\n" in recorded.ok("grade", "--reuse", "main", "greet").out


def test_a_shard_without_cases_says_so(recorded: Project) -> None:
    """Two cases cannot fill nine shards; an empty one is no failure, whatever the gate."""
    with (recorded.root / "whichclock.toml").open("a") as config:
        config.write("\n[gates]\npass_rate = 1.0\n")
    done = [recorded.run("grade", "--shard", f"{i}/9", "--out", f"{i}.parquet", "--quiet") for i in range(1, 10)]
    empty = [f"shard {i}/9 holds none of the selected cases: nothing to judge\n" for i in range(1, 10)]

    assert [] == [one for one in done if one.code]
    assert len([1 for one, text in zip(done, empty, strict=True) if one.out == text]) in (7, 8)


def test_a_merge_tells_the_rows_that_fail_like_any_grade(recorded: Project) -> None:
    """The same screen as one machine's, and where it was saved at the end."""
    recorded.edit("golden/cases/cases.yaml", "contains: Ann", "contains: Bob")
    whole = recorded.ok("grade", code=1)
    merges = []
    for i in ("1", "2"):
        recorded.run("grade", "--shard", f"{i}/2", "--out", f"{i}.parquet", "--quiet")
        merges += ["--merge", f"{i}.parquet"]
    merged = recorded.ok("grade", *merges, "--save", "whole", code=1)

    assert whole.out == merged.out
    assert [] == merged.err.splitlines()[1:]
    assert merged.err.startswith("saved results/whole/")


def test_files_after_one_merge_are_hinted_at(recorded: Project) -> None:
    """A shell's glob gives the option one file and the command the others."""
    for i in ("1", "2"):
        recorded.run("grade", "--shard", f"{i}/2", "--out", f"{i}.parquet", "--quiet")
    err = recorded.ok("grade", "--merge", "1.parquet", "2.parquet", code=2).err

    assert "hint: repeat the option for each file: --merge 2.parquet" in err.splitlines()


def test_the_summary_counts_what_was_reused(recorded: Project) -> None:
    """As the schema says, beside the locks that held."""
    summary = recorded.ok("grade", "--reuse", "main", "--format", "json").json["summary"]
    schema = json.loads((Path(__file__).parents[2] / "grade/schemas/results.schema.json").read_text())

    assert (2, set()) == (summary["reused"], summary.keys() - schema["properties"]["summary"]["properties"].keys())
