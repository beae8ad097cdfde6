"""Small inputs at which other graders of model answers failed: ids, errors, and values on their way into the table."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import whichclock
from golden.render import render
from grade import table
from grade.api import Results
from snapshots import dialects, response, snapshot
from snapshots.store import Store
from tests.grade.conftest import Grade

NOON = 1_780_315_200
RUN = {"suite": "s", "selection": None, "runtime": {}, "tool": "t"}
CONFIG = """\
suite = "s"
cases = ["cases.json"]
graders = ["graders.py"]
[defaults]
targets = [{targets}]
"""
TARGET = """\
[targets.{name}]
type = "openai"
base_url = "https://api.example.com/v1"
model = "m1"
params = {{ seed = {seed} }}
"""

Graded = Callable[..., Results]


def chat(text: str, **choice: Any) -> bytes:
    """Return the body of a chat completion; ``choice`` are more members of its one choice."""
    message = {"role": "assistant", "content": text}
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}]}).encode()


@pytest.fixture
def graded(tmp_path: Path) -> Graded:
    """Return a function that writes a suite, records a body for each case × target that has one, and grades it."""

    def run(
        cases: list[dict[str, Any]],
        bodies: dict[tuple[str, str], bytes],
        source: str,
        *,
        targets: tuple[str, ...] = ("t",),
    ) -> Results:
        tables = "".join(TARGET.format(name=name, seed=i) for i, name in enumerate(targets))
        names = ", ".join(f'"{name}"' for name in targets)
        (tmp_path / "whichclock.toml").write_text(CONFIG.format(targets=names) + tables)
        (tmp_path / "cases.json").write_text(json.dumps(cases))
        (tmp_path / "graders.py").write_text(source)
        suite = whichclock.load(tmp_path / "whichclock.toml")
        by_id = {case.id: case for case in suite.cases}
        for (case_id, target), body in bodies.items():
            rendered = render(suite, by_id[case_id], suite.targets[target])
            answered = response.response(200, [], body)
            rule = dialects.rule_for(rendered.document, answered)
            name, data = snapshot.write(
                request=rendered.document,
                request_hash=rendered.request_hash,
                trial=0,
                answer_hash=dialects.answer_hash(rule, answered),
                answer_rule=rule,
                second=NOON,
                response=answered,
                meta={},
            )
            Store(suite.snapshots).put(name, data)
        return whichclock.grade(suite)

    return run


# Ids and targets.


IDS = [
    "x" * 300 + "a" * 4700, "x" * 300 + "b" * 4700, "a/b", "..", "CON", "a\x00b", "Row", "row", "ROW", "\u00e9", "e\u0301",
    "a", "abc",
]  # fmt: skip


def test_ids_that_no_file_could_have_stay_whole_and_apart(graded: Graded, tmp_path: Path) -> None:
    """Each row has the answer of its own case; files are named by hashes."""
    source = "def g(envelope):\n    return {'said': envelope['text']}\n"
    cases = [{"id": name, "prompt": f"p{i}", "graders": ["g"]} for i, name in enumerate(IDS)]
    rows = graded(cases, {(name, "t"): chat(f"A{i}") for i, name in enumerate(IDS)}, source).rows()
    files = [str(path.relative_to(tmp_path / "snapshots")) for path in (tmp_path / "snapshots").rglob("*.json")]

    assert {name: f"A{i}" for i, name in enumerate(IDS)} == {
        row["case_id"]: row["evidence"]["said"]["g"] for row in rows
    }
    assert (len(IDS), set()) == (
        len(files),
        {c for name in files for c in name} - set("sha256/.TZjson0123456789abcdef"),
    )


@pytest.mark.parametrize("first", ["a", "b"])
def test_targets_that_differ_in_a_setting_alone_keep_their_answers(graded: Graded, first: str) -> None:
    """One model twice; whichever answered first, the rows are bound to the targets' names."""
    source = "def g(envelope):\n    return {'said': envelope['text']}\n"
    order = [first, *{"a", "b"} - {first}]
    bodies = {("c", name): chat(f"of {name}") for name in order}
    rows = graded([{"id": "c", "prompt": "p", "graders": ["g"]}], bodies, source, targets=("a", "b")).rows()

    assert {"a": "of a", "b": "of b"} == {row["target"]: row["evidence"]["said"]["g"] for row in rows}


# Errors.


def test_rows_in_error_are_in_the_denominator(graded: Graded) -> None:
    """Five of ten graders raise, five pass: nothing shrinks to five of five, and the run does not end like a clean one."""
    source = "def g(envelope):\n    return set() if envelope['text'] == 'good' else 1 / 0\n"
    cases = [{"id": str(i), "prompt": f"p{i}", "graders": ["g"]} for i in range(10)]
    done = graded(cases, {(str(i), "t"): chat("good" if i % 2 else "bad") for i in range(10)}, source)

    assert (10, 5, 5, 10, 5) == tuple(
        done.summary[n] for n in ("rows", "pass", "grader_error", "cases", "cases_passed")
    )
    assert (False, 3, 10) == (done.passed, done.exit_code, len(done.rows()))
    assert {True: 5, None: 5} == {v: [row["case_passed"] for row in done.rows()].count(v) for v in (True, None)}


def test_a_grader_that_found_nothing_differs_from_one_that_did_not_judge(graded: Graded) -> None:
    """The digests of a row name who judged it; both rows pass without a finding."""
    source = "def g(envelope):\n    return set()\n"
    cases = [{"id": "judged", "prompt": "p1", "graders": ["g"]}, {"id": "not", "prompt": "p2"}]
    rows = graded(cases, {("judged", "t"): chat("A"), ("not", "t"): chat("B")}, source).rows()

    assert {"judged": ([], True), "not": ([], False)} == {
        row["case_id"]: (row["findings"], "g" in row["graders"]) for row in rows
    }


# Values.


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_number_without_a_json_form_is_no_evidence(grade: Grade, value: str) -> None:
    """It is refused by name and never becomes null; the row is neither a pass nor a fail."""
    facts = grade(f"def g(envelope):\n    return {{'a': float('{value}')}}\n")

    assert ("grader_error", True) == (facts["status"], "no JSON form" in facts["error"])


VALUES: dict[str, Any] = {
    "null": None, "nothing": "", "no_items": [], "no_members": {}, "zero": 0, "no": False,
    "one": 1, "text_one": "1", "yes": True, "half": 0.5, "parts": [{"type": "text", "text": "x"}], "text": "x",
    "large": 1234567890123456789, "larger": 2**70, "order": {"z": 1, "a": 2},
}  # fmt: skip


def test_values_of_evidence_keep_their_types_in_one_column(graded: Graded) -> None:
    """Text, lists, null, truth and numbers stand side by side; none becomes a text, and what is absent is not there."""
    source = f"def g(envelope):\n    return {VALUES!r}\n"
    cases = [{"id": "c", "prompt": "p1", "graders": ["g"]}, {"id": "plain", "prompt": "p2"}]
    rows = graded(cases, {("c", "t"): chat("A"), ("plain", "t"): chat("B")}, source).rows()
    found = {code: by["g"] for code, by in rows[0]["evidence"].items()}

    assert (VALUES, {}) == (found, rows[1]["evidence"])
    assert {code: type(value) for code, value in VALUES.items()} == {code: type(value) for code, value in found.items()}


def test_half_a_character_of_an_answer_ends_no_run(graded: Graded) -> None:
    """Half a surrogate pair reaches the grader in a text, and as its escape in arguments; the other case is graded, too."""
    source = """\
def g(envelope):
    if envelope["tool_calls"]:
        return {"argument"} if envelope["tool_calls"][0]["arguments_text"] == '{"a": "\\\\ud83d"}' else {"lost"}
    return {"text"} if envelope["text"] == "\\ud83d" else {"other"} if envelope["text"] == "\\U0001f600" else {"lost"}
"""
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": "\\ud83d"}'}}
    bodies = {
        ("text", "t"): chat("\ud83d"),
        ("argument", "t"): chat("", message={"role": "assistant", "content": None, "tool_calls": [call]}),
        ("other", "t"): chat("\U0001f600"),
    }
    cases = [{"id": name, "prompt": name, "graders": ["g"], "expected": [name]} for name, _ in bodies]
    done = graded(cases, bodies, source)

    assert {"argument": "pass", "other": "pass", "text": "pass"} == {r["case_id"]: r["status"] for r in done.rows()}


def test_a_grader_sees_the_log_probabilities_of_the_second_choice(graded: Graded) -> None:
    """What was received is replayed whole: several choices, usage and fingerprint included."""
    source = """\
def g(envelope):
    second = envelope["raw"]["choices"][1]
    return {"seen": [second["logprobs"]["content"][0]["logprob"], envelope["usage"]["output_tokens"], envelope["raw"]["system_fingerprint"]]}
"""
    body = json.loads(chat("A"))
    body |= {"usage": {"prompt_tokens": 3, "completion_tokens": 2}, "system_fingerprint": "fp_1"}
    body["choices"].append({**body["choices"][0], "index": 1, "logprobs": {"content": [{"logprob": -0.25}]}})
    rows = graded(
        [{"id": "c", "prompt": "p", "graders": ["g"]}], {("c", "t"): json.dumps(body).encode()}, source
    ).rows()

    assert {"seen": {"g": [-0.25, 2, "fp_1"]}} == rows[0]["evidence"]


# Tables.


def rows_of(*rows: dict[str, Any]) -> dict[str, list[Any]]:
    """Return columns of rows that have some members each."""
    return {name: [row.get(name) for row in rows] for name in table.NAMES}


def written(path: Path, *groups: dict[str, list[Any]]) -> Any:
    """Write row groups, and return the table that is read back."""
    schema = table.schema(RUN)
    writer = table.Writer(path, schema)
    for group in groups:
        writer.write(table.batch(group, schema))
    writer.finish().rename(path)
    return table.read(path)


SPARSE: list[dict[str, Any]] = [
    {"case_id": "a", "target": "t", "trial": 0},
    {"case_id": "b", "target": "t", "trial": 0, "input_tokens": 1234567890123456789},
    {"case_id": "c", "target": "t", "trial": 0, "input_tokens": 1, "tags": ["x"], "evidence": '{"a":{"g":null}}'},
]


def test_no_column_depends_on_the_first_row(tmp_path: Path) -> None:
    """A member that the first row lacks is kept, whichever row is first, and a large integer beside a gap is itself."""
    there = written(tmp_path / "1.parquet", rows_of(*SPARSE))
    back = written(tmp_path / "2.parquet", rows_of(*reversed(SPARSE)))

    assert there.schema == back.schema
    assert table.as_rows(there) == table.as_rows(back)[::-1]
    assert [None, 1234567890123456789, 1] == [row["input_tokens"] for row in table.as_rows(there)]
    assert [None, None, ["x"]] == [row["tags"] for row in table.as_rows(there)]


def test_chunks_of_empty_lists_have_the_columns_of_the_whole(tmp_path: Path) -> None:
    """A thousand rows without a tag, then one with a tag: written in eleven groups or in one, the table is the same."""
    rows = [{"case_id": f"{i:04}", "target": "t", "trial": 0, "tags": []} for i in range(1000)]
    rows.append({"case_id": "1000", "target": "t", "trial": 0, "tags": ["x"]})
    groups = [rows_of(*rows[i : i + 100]) for i in range(0, 1001, 100)]
    whole, parts = written(tmp_path / "1.parquet", rows_of(*rows)), written(tmp_path / "2.parquet", *groups)

    assert (11, whole.schema) == (len(groups), parts.schema)
    assert table.as_rows(whole) == table.as_rows(parts)
    assert ["x"] == table.as_rows(parts)[-1]["tags"]


def test_missing_and_odd_numbers_stay_apart_in_the_file(tmp_path: Path) -> None:
    """Null, zero, NaN and both infinities are five latencies."""
    values = [None, 0.0, math.nan, math.inf, -math.inf]
    rows = [{"case_id": str(i), "target": "t", "trial": 0, "latency_ms": value} for i, value in enumerate(values)]
    read = table.as_rows(written(tmp_path / "r.parquet", rows_of(*rows)))

    assert list(map(repr, values)) == [repr(row["latency_ms"]) for row in read]
