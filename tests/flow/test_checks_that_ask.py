"""Checks that ask, from capture to diff: a judge, a comparison of embeddings and a program, each read from its recorded answer."""

from __future__ import annotations

import base64
import json
import struct
import sys
from typing import Any

import pytest

from tests.capture.server import Asked, Say, say, say_json
from tests.flow.conftest import Project

CONFIG = """\
suite = "support"
cases = ["cases.yaml"]

[defaults]
targets = ["gpt"]

[targets.gpt]
type = "openai"
base_url = "{url}"
endpoint = "openai"
model = "tiny-1"
retries = 0

[targets.judge]
type = "openai"
base_url = "{url}"
endpoint = "judge"
model = "judge-1"
retries = 0

[targets.vectors]
type = "embeddings"
base_url = "{url}"
endpoint = "vectors"
model = "vector-1"
retries = 0

[targets.checker]
type = "exec"
command = ["{python}", "checker.py"]
"""
CASES = """\
cases:
  - id: polite
    prompt: "Greet Ann."
    checks: [{judge: {rubric: "It is polite.", target: judge, threshold: 0.5}}]
  - id: alike
    prompt: "Greet Bob."
    checks: [{similarity: {to: "Hello, friend!", threshold: 0.9, target: vectors}}]
  - id: checked
    prompt: "Greet Cleo."
    checks: [{program: {target: checker, config: {word: Hello}}}]
  - id: plain
    prompt: "Greet Dan."
    checks: [{contains: Hello}]
"""
CHECKER = """\
import json, sys
asked = json.load(sys.stdin)
word = asked["config"]["word"]
print(json.dumps({"pass": word in asked["output"], "reason": f"looked for {word}"}))
"""
VECTORS = {"Hello, friend!": [3.0, 4.0], "Hello!": [4.0, 3.0]}  # their cosine is 24/25


class Model:
    """What the scripted server says: a greeting, a verdict, or a vector."""

    def __init__(self) -> None:
        self.greeting: str | None = "Hello!"
        self.verdict: str = '{"reason": "it greets", "score": 0.8, "pass": true}'

    def __call__(self, asked: Asked) -> Say:
        if asked.path.endswith("/embeddings"):
            vector = VECTORS[asked.json["input"]]
            return say_json({"object": "list", "data": [{"index": 0, "embedding": vector}], "model": "vector-1"})
        return say(self.verdict, model="judge-1") if asked.json["model"] == "judge-1" else say(self.greeting)


@pytest.fixture
def model(project: Project) -> Model:
    """The model behind the suite."""
    answers = Model()
    project.server.fallback = answers
    return answers


@pytest.fixture
def suite(project: Project, model: Model) -> Project:
    """The suite, nothing recorded yet."""
    for path in (*project.root.rglob("*.toml"), *project.root.rglob("*.yaml"), *project.root.rglob("*.py")):
        path.unlink()
    config = CONFIG.format(url=project.server.url, python=sys.executable)
    (project.root / "whichclock.toml").write_text(config)
    (project.root / "cases.yaml").write_text(CASES)
    (project.root / "checker.py").write_text(CHECKER)
    return project


@pytest.fixture
def saved(suite: Project) -> Project:
    """The suite, captured, graded and saved as ``main``."""
    suite.ok("capture", "--quiet")
    suite.ok("grade", "--save", "main", "--quiet")
    return suite


def _rows(project: Project) -> dict[str, Any]:
    return {row["case_id"]: row for row in project.run("grade", "--format", "json", "--quiet").json["rows"]}


def _asked_of(project: Project, model: str) -> list[Asked]:
    return [asked for asked in project.server.asked if asked.json["model"] == model]


def test_a_capture_records_what_checks_ask(saved: Project) -> None:
    """Four completions, one verdict, two vectors and one run of a program; a second capture asks nobody."""
    rows = saved.ok("capture", "--format", "json", "--quiet").json["rows"]

    asked = sorted(
        (row["case_id"], row["target"], row["asked"].rpartition("/")[0][:16]) for row in rows if "asked" in row
    )
    assert [
        ("alike", "vectors", "check:similarity"),
        ("alike", "vectors", "check:similarity"),
        ("checked", "checker", "check:program"),
        ("polite", "judge", "check:judge"),
    ] == asked
    assert {"replayed"} == {row["outcome"] for row in rows}
    assert 7 == len(saved.server.asked)


def test_a_judge_sees_the_rubric_and_the_answer_and_is_held_to_a_schema(saved: Project) -> None:
    """A target that takes response_format is sent one; the answer stands between tags made of its digest."""
    [asked] = _asked_of(saved, "judge-1")

    # printf 'Hello!' | sha256sum
    tag = "answer-334d016f755cd6dc"
    assert f"Rubric:\nIt is polite.\n\n<{tag}>\nHello!\n</{tag}>" == asked.prompt
    schema = asked.json["response_format"]["json_schema"]["schema"]
    assert {"reason": "string", "score": "number", "pass": "boolean"} == {
        name: member["type"] for name, member in schema["properties"].items()
    }


def test_all_of_them_pass_from_what_is_recorded(saved: Project) -> None:
    """Grade asks nobody, and each row lists the answers that it was judged by."""
    saved.server.stop()
    rows = _rows(saved)

    assert {"polite": 1, "alike": 2, "checked": 1, "plain": 0} == {
        name: len(row["asked"]) for name, row in rows.items()
    }
    assert {"pass"} == {row["status"] for row in rows.values()}


@pytest.mark.parametrize(
    ("old", "new", "case", "code", "evidence"),
    [
        ("threshold: 0.5", "threshold: 0.81", "polite", "rubric_violated", {"pass": True, "score": 0.8, "reason": "it greets"}),
        ("threshold: 0.9,", "threshold: 0.97,", "alike", "not_similar", {"similarity": 0.96}),
    ],
)  # fmt: skip
def test_a_threshold_is_applied_when_the_answer_is_read(
    saved: Project, old: str, new: str, case: str, code: str, evidence: Any
) -> None:
    """Another threshold asks nobody again, and is the expectation clock alone."""
    saved.edit("cases.yaml", old, new)
    row = saved.diff("main", code=1)[case, 0]

    assert (["expectation"], "expectation_changed_on_frozen_hash") == (row["clocks"], row["move"])
    found = row["head"]["evidence"][code][f"check:{'judge' if case == 'polite' else 'similarity'}"]
    assert pytest.approx(evidence) == found if "similarity" in evidence else evidence == found


def test_another_verdict_is_the_model_clock(saved: Project, model: Model) -> None:
    """The judge answers otherwise under the same request."""
    model.verdict = '{"reason": "it is curt", "score": 0.2, "pass": false}'
    saved.ok("capture", "--judges", "live", "--quiet")
    row = saved.diff("main", code=1)["polite", 0]

    assert (["model"], "judge_answer_moved_on_frozen_request") == (row["clocks"], row["move"])


def test_another_rubric_is_the_expectation_clock(saved: Project, model: Model) -> None:
    """The rubric is the case's: a judge that now says no is the case's doing."""
    saved.edit("cases.yaml", "It is polite.", "It is in French.")
    model.verdict = '{"reason": "it is English", "score": 0, "pass": false}'
    saved.ok("capture", "--quiet")
    row = saved.diff("main", code=1)["polite", 0]

    assert (["expectation"], "expectation_changed_on_frozen_hash") == (row["clocks"], row["move"])


def test_a_rubric_that_nobody_was_asked_about_is_a_missing_snapshot(saved: Project) -> None:
    """Grade names the check and its target, and never passes the row."""
    saved.edit("cases.yaml", "It is polite.", "It is in French.")
    row = _rows(saved)["polite"]

    assert "missing_snapshot" == row["status"]
    assert row["error"].startswith("check:judge: no answer is recorded for its request ")
    assert row["error"].endswith(" to target judge")


def test_a_verdict_that_is_none_is_asked_again_and_never_passes(suite: Project, model: Model) -> None:
    """The row is a grader error; the next capture asks again, and says that the new answer is none either."""
    model.verdict = "I think it is fine."
    suite.ok("capture", "--quiet", code=3)
    assert "grader_error" == _rows(suite)["polite"]["status"]
    again = suite.ok("capture", "--quiet", code=3)

    assert "the grader cannot read the new one either" in again.out + again.err
    model.verdict = '```json\n{"reason": "fine", "score": 1, "pass": true}\n```'
    suite.ok("capture", "--quiet")
    assert "pass" == _rows(suite)["polite"]["status"]


def test_nobody_is_asked_about_an_empty_answer(suite: Project, model: Model) -> None:
    """Neither a judge nor a vector nor a program is needed to see that there is nothing; the checks are violated."""
    model.greeting = ""
    suite.ok("capture", "--quiet")
    rows = _rows(suite)

    assert [] == _asked_of(suite, "judge-1") + _asked_of(suite, "vector-1")
    assert {
        "polite": {"rubric_violated": {"check:judge": {"answer": "empty"}}, "empty_answer": {"check:empty_answer": None}},
        "alike": {"not_similar": {"check:similarity": {"answer": "empty"}}, "empty_answer": {"check:empty_answer": None}},
        "checked": {"program_rejected": {"check:program": {"answer": "empty"}}, "empty_answer": {"check:empty_answer": None}},
    } == {name: rows[name]["evidence"] for name in ("polite", "alike", "checked")}  # fmt: skip


def test_a_program_that_says_no_rejects(suite: Project, model: Model) -> None:
    """Its reason is the evidence."""
    model.greeting = "Good day!"
    VECTORS["Good day!"] = [1.0, 1.0]
    suite.ok("capture", "--quiet")
    row = _rows(suite)["checked"]

    assert {"program_rejected": {"check:program": {"pass": False, "reason": "looked for Hello"}}} == row["evidence"]


def test_vectors_in_base64_are_read_as_those_in_lists(suite: Project) -> None:
    """Base64 of 32-bit floats, little-endian; one and the same suite may hold both."""
    spelled = base64.b64encode(struct.pack("<2f", 3.0, 4.0)).decode()
    VECTORS["Hello, friend!"], before = spelled, VECTORS["Hello, friend!"]  # type: ignore[assignment]
    try:
        suite.ok("capture", "alike", "--quiet")
    finally:
        VECTORS["Hello, friend!"] = before
    suite.edit("cases.yaml", "threshold: 0.9,", "threshold: 0.96,")

    assert "pass" == _rows(suite)["alike"]["status"]


def test_vectors_of_other_lengths_are_a_grader_error(suite: Project) -> None:
    """Numbers that cannot be compared are no verdict."""
    VECTORS["Hello, friend!"], before = [1.0, 2.0, 3.0], VECTORS["Hello, friend!"]
    try:
        suite.ok("capture", "alike", "--quiet")
    finally:
        VECTORS["Hello, friend!"] = before
    row = _rows(suite)["alike"]

    assert "grader_error" == row["status"]
    assert "check:similarity: the vectors have 2 and 3 numbers" == row["error"]


def test_a_judge_whose_dialect_has_no_schema_is_told_in_words(suite: Project, model: Model) -> None:
    """Anthropic's messages get the same prompt and no response_format."""
    suite.edit("whichclock.toml", '[targets.judge]\ntype = "openai"', '[targets.judge]\ntype = "anthropic"')
    reply = {
        "type": "message", "role": "assistant", "model": "judge-1", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": model.verdict}], "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    suite.server.fallback = lambda asked: say_json(reply) if asked.path.endswith("/v1/messages") else model(asked)
    suite.ok("capture", "polite", "--quiet")

    [asked] = _asked_of(suite, "judge-1")
    assert "response_format" not in asked.json
    assert "Reply with one JSON object" in json.dumps(asked.json["system"])
    assert "pass" == _rows(suite)["polite"]["status"]


def test_what_a_check_lacks_is_explained_by_its_own_request(saved: Project) -> None:
    """Another rubric is another question to the judge: grade names that request and what it differs in, in the dry run's words."""
    saved.edit("cases.yaml", "It is polite.", "It is in French.")
    billed = saved.ok("capture", "--dry-run").out
    err = saved.ok("grade", code=3).err
    [told] = [line for line in err.splitlines() if " to judge: " in line]

    assert "missing: polite: record it with: whichclock capture --target gpt polite" in err.splitlines()
    assert "another trial" not in err
    assert told.startswith("  check:judge/")
    assert told.endswith(" at /body/messages/1/content")
    assert told.partition(" to judge: ")[2] in billed
