"""What machines read: valid against the shipped schemas, and what the exit codes say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golden.schema import validator
from tests.flow.conftest import Project

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("schema", "command"),
    [
        ("grade/schemas/results.schema.json", ["grade", "--format", "json"]),
        ("grade/schemas/results.schema.json", ["grade", "--frozen", "main", "--format", "json"]),
        ("diff/schemas/diff.schema.json", ["diff", "main", "--format", "json"]),
    ],
)
@pytest.mark.parametrize("edit", ["nothing", "grader", "prompt", "case"])
def test_json_output_follows_its_schema(recorded: Project, schema: str, command: list[str], edit: str) -> None:
    """Whatever moved, the document validates."""
    if edit == "grader":
        recorded.edit("golden/cases/graders.py", '{"ok_refusal"}', '{"declined": {"why": [1, None, "x"]}}')
    elif edit == "prompt":
        recorded.edit("golden/cases/greet.txt", "hello", "good morning")
    elif edit == "case":
        recorded.edit("golden/cases/cases.yaml", "id: greet", "id: farewell")

    document = recorded.run(*command).json

    errors = validator(json.loads((ROOT / schema).read_text())).iter_errors(document)
    assert [] == [f"{e.json_path}: {e.message[:80]}" for e in errors]


def test_snapshots_follow_their_schema(recorded: Project) -> None:
    """Every file that capture wrote validates against the shipped schema."""
    schema = json.loads((ROOT / "snapshots/schemas/snapshot.schema.json").read_text())

    errors = [e.message for p in recorded.snapshots for e in validator(schema).iter_errors(json.loads(p.read_bytes()))]

    assert [] == errors


def test_a_failing_case_is_exit_code_one_and_a_gate_decides_alone(recorded: Project) -> None:
    """Every case must pass, unless a pass rate says what is enough."""
    recorded.edit("golden/cases/cases.yaml", "contains: Ann", "contains: Bob")
    recorded.ok("grade", code=1)
    config = recorded.root / "whichclock.toml"
    text = config.read_text()

    config.write_text(text + "\n[gates]\npass_rate = 0.5\n")
    recorded.ok("grade", code=0)
    config.write_text(text + "\n[gates]\npass_rate = 0.51\n")
    recorded.ok("grade", code=1)


def test_diff_gates(recorded: Project) -> None:
    """Regressions by default, any change, or none."""
    recorded.edit("golden/cases/cases.yaml", "expected: [ok_refusal]", "expected: [ok]")
    recorded.ok("grade", "--save", "worse", code=1)

    assert [1, 1, 0, 0, 1, 0] == [
        recorded.run("diff", *sides, "--gate", gate).code
        for sides in (["main", "worse"], ["worse", "main"])
        for gate in ("regressions", "any", "none")
    ]


def test_saved_runs_are_never_overwritten_and_count_back(recorded: Project) -> None:
    """Two runs in one second are two files, and label~1 is the older."""
    recorded.edit("golden/cases/cases.yaml", "expected: [ok_refusal]", "expected: [ok]")
    recorded.ok("grade", "--save", "main", code=1)

    runs = sorted((recorded.root / "results/main").glob("*.parquet"))
    rows = recorded.diff("main~1", "main", code=1)

    assert (2, "expectation_changed_on_frozen_hash") == (len(runs), rows["refuse_invented_order_id", 0]["move"])


def test_a_source_bundle_stands_beside_the_results(recorded: Project) -> None:
    """The code of every grader that judged is kept, so that it can run again."""
    rows = recorded.ok("grade", "--format", "json").json["rows"]
    digest = next(r["graders"]["order_grader"] for r in rows if r["case_id"] == "refuse_invented_order_id")

    bundle = json.loads((recorded.root / f"results/sources/{digest}.json").read_text())

    assert "golden/cases/graders.py" == bundle["entry"]
    assert (recorded.root / "golden/cases/graders.py").read_text() == bundle["files"]["golden/cases/graders.py"]
