"""Recorded requests become golden cases that grade finds again."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import whichclock
from golden import yaml_text
from golden.adopt import adopt, toml
from golden.yaml_writer import written
from snapshots import request, snapshot
from snapshots.errors import UsageError
from snapshots.store import Store

HOST = "https://api.example.com"
CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
SCHEMA = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}}
TOOLS = {**CHAT, "tools": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}]}
SAID = {"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}


def document(url: str, body: Any = CHAT, method: str = "POST", **members: Any) -> dict[str, Any]:
    """Return a request document as an importer makes it."""
    made = request.http_document(method=method, url=url, headers=members.pop("headers", {}), body=body)
    return {**made, **members}


def record(root: Path, made: dict[str, Any], *, trials: int = 1, body: Any = SAID) -> str:
    """Record answers to a request and return its hash."""
    store, request_hash = Store(root), request.request_hash(made)
    for trial in range(trials):
        name, data = snapshot.write(
            request=made, request_hash=request_hash, trial=trial, answer_hash="0" * 64, answer_rule="whole/1", second=1_700_000_000,
            response={"status": 200, "headers": {}, "body": body}, meta={},
        )  # fmt: skip
        store.put(name, data)
    store.flush()
    return request_hash


REQUESTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "openai": (document(f"{HOST}/v1/chat/completions"), {"type": "openai", "base_url": f"{HOST}/v1"}),
    "a schema's order": (document(f"{HOST}/v1/chat/completions", TOOLS), {"type": "openai", "base_url": f"{HOST}/v1"}),
    "a query": (
        document(f"{HOST}/openai/deployments/d/chat/completions?b=2&a=1"),
        {"type": "openai", "base_url": f"{HOST}/openai/deployments/d?b=2&a=1"}),
    "an endpoint": (
        document("endpoint:gate/v1/chat/completions"),
        {"type": "openai", "base_url": "https://example.com/v1", "endpoint": "gate"}),
    "responses": (document(f"{HOST}/v1/responses"), {"type": "openai-responses", "base_url": f"{HOST}/v1"}),
    "embeddings": (document(f"{HOST}/v1/embeddings"), {"type": "embeddings", "base_url": f"{HOST}/v1"}),
    "anthropic": (
        document(f"{HOST}/v1/messages", headers={"anthropic-version": "2023-06-01"}), {"type": "anthropic", "base_url": HOST}),
    "another version": (
        document(f"{HOST}/v1/messages", headers={"anthropic-version": "2024-01-01", "anthropic-beta": "b"}),
        {"type": "anthropic", "base_url": HOST, "headers": {"anthropic-beta": "b", "anthropic-version": "2024-01-01"}}),
    "no version": (document(f"{HOST}/v1/messages"), {"type": "http", "url": f"{HOST}/v1/messages", "method": "POST"}),
    "gemini": (
        document(f"{HOST}/v1beta/models/gemini-9:generateContent"), {"type": "gemini", "base_url": HOST, "model": "gemini-9"}),
    "a stream of gemini's": (
        document(f"{HOST}/v1beta/models/m:streamGenerateContent?alt=sse"),
        {"type": "http", "url": f"{HOST}/v1beta/models/m:streamGenerateContent?alt=sse", "method": "POST"}),
    "bedrock": (
        document(f"{HOST}/model/m%3A0/converse"), {"type": "http", "url": f"{HOST}/model/m%3A0/converse", "method": "POST"}),
    "another method": (
        document(f"{HOST}/v1/chat/completions", method="PUT"),
        {"type": "http", "url": f"{HOST}/v1/chat/completions", "method": "PUT"}),
    "salts": (
        document(f"{HOST}/v1/chat/completions", salt={"target": "t", "case": "c"}),
        {"type": "openai", "base_url": f"{HOST}/v1", "salt": "t"}),
}  # fmt: skip


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_adopted_with_the_target_that_sends_it(name: str, tmp_path: Path) -> None:
    """The table is the simplest that gives the recorded key."""
    made, table = REQUESTS[name]
    request_hash = record(tmp_path, made)
    adopted = adopt(Store(tmp_path), (), None)

    assert ([], [table]) == (adopted.refused, list(adopted.targets.values()))
    assert (request_hash[:12], made["body"], []) == tuple(
        adopted.adopted[0].case[member] for member in ("id", "body", "expected")
    )
    assert list(adopted.targets.items()) == list(tomllib.loads("\n".join(toml(adopted.targets)))["targets"].items())


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ({"transport": "exec", "command": ["a"], "stdin": {}}, "it is a program's, and no HTTP request"),
        (document(HOST, None, "GET"), "its body is no JSON object"),
        (document(HOST, [1]), "its body is no JSON object"),
        (document(HOST, headers={"x-tenant": "a"}), "a header is known by its digest alone"),
        (document(f"{HOST}/{{{{ x }}}}"), "no target sends this request"),
        (document(f"{HOST}/v1/chat/completions", {"x" * 2000: 1}), "its body has no YAML form"),
    ],
)
def test_what_no_case_can_say_is_refused_by_name(made: dict[str, Any], reason: str, tmp_path: Path) -> None:
    """The other request is adopted."""
    record(tmp_path, made)
    record(tmp_path, REQUESTS["openai"][0])
    adopted = adopt(Store(tmp_path), (), None)

    assert 1 == len(adopted.adopted)
    assert [True] == [why.startswith(reason) for _, why in adopted.refused]


def test_a_request_without_its_first_trial_is_refused(tmp_path: Path) -> None:
    """A suite would ask for trial 0 and miss it."""
    record(tmp_path, REQUESTS["openai"][0], trials=2)
    for path in tmp_path.rglob("*.0.*.json"):
        path.unlink()

    assert ["its trial 0 is not recorded"] == [why for _, why in adopt(Store(tmp_path), (), None).refused]


def test_recorded_trials_are_the_case_s(tmp_path: Path) -> None:
    """As many as there are in a row."""
    record(tmp_path, REQUESTS["openai"][0], trials=3)

    assert 3 == adopt(Store(tmp_path), (), None).adopted[0].case["trials"]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Call whichclock in an empty project."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WHICHCLOCK_SNAPSHOTS", raising=False)
    return lambda *words: CliRunner().invoke(whichclock.app, list(words))


def test_the_adopted_suite_finds_every_snapshot(call: Any, tmp_path: Path) -> None:
    """The printed targets and the written file are a suite that grades without a miss; adopting again adds nothing."""
    for made, _ in REQUESTS.values():
        record(tmp_path / "snapshots", made)
    first = call("golden", "adopt", "cases.yaml", "--snapshots", "snapshots", "--quiet")
    (tmp_path / "whichclock.toml").write_text('suite = "s"\ncases = ["cases.yaml"]\n' + first.stdout, encoding="utf-8")
    graded = call("grade", "--format", "json", "--quiet")
    again = call("golden", "adopt", "more.yaml", "--format", "json")

    assert (0, len(REQUESTS), len(REQUESTS)) == (
        graded.exit_code, json.loads(graded.stdout)["summary"]["pass"], len(json.loads(graded.stdout)["rows"]),
    )  # fmt: skip
    assert {"adopted": 0, "covered": len(REQUESTS), "refused": 0, "targets": 0} == json.loads(again.stdout)["summary"]
    assert not (tmp_path / "more.yaml").exists()


def suite(tmp_path: Path) -> None:
    """Write a suite with a target, a case and a grader."""
    (tmp_path / "whichclock.toml").write_text(
        f'suite = "s"\ncases = ["a.yaml"]\ngraders = ["g.py"]\n[targets.mine]\ntype = "openai"\nbase_url = "{HOST}/v1"\n',
        encoding="utf-8",
    )
    (tmp_path / "a.yaml").write_text("- {id: a, prompt: Hi}\n", encoding="utf-8")
    grader = "from whichclock import grader\n\n\n@grader\ndef greets(envelope, case):\n    return ['greets'] if 'Hello' in envelope['text'] else []\n"
    (tmp_path / "g.py").write_text(grader, encoding="utf-8")


def test_a_target_that_there_is_gets_the_case(call: Any, tmp_path: Path) -> None:
    """No other one is made."""
    suite(tmp_path)
    record(tmp_path / "snapshots", REQUESTS["openai"][0])
    done = call("golden", "adopt", "new.yaml")
    (case,) = yaml_text.read((tmp_path / "new.yaml").read_text("utf-8"), "").value["cases"]

    assert (0, "", ["mine"]) == (done.exit_code, done.stdout, case["targets"])


def test_what_graders_find_today_is_expected(call: Any, tmp_path: Path) -> None:
    """The case lists the grader, and passes until an answer or the grader moves."""
    suite(tmp_path)
    record(tmp_path / "snapshots", REQUESTS["openai"][0])
    record(tmp_path / "snapshots", REQUESTS["a schema's order"][0], body={"choices": [{"message": {"content": "No"}}]})
    done = call("golden", "adopt", "new.yaml", "--grader", "greets")
    cases = yaml_text.read((tmp_path / "new.yaml").read_text("utf-8"), "").value["cases"]

    assert (0, [["greets"], []]) == (done.exit_code, sorted((case["expected"] for case in cases), reverse=True))
    assert [["greets"], ["greets"]] == [case["graders"] for case in cases]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["there.yaml"], "there.yaml exists, and nothing is overwritten"),
        (["absent/new.yaml"], "cannot write absent/new.yaml"),
        (["new.yaml", "--from", "xyz"], "'xyz' is no beginning of a request hash"),
        (["new.yaml", "--from", "0000"], "nothing to adopt: no such request is recorded"),
        (["new.yaml", "--grader", "g"], "--grader needs a suite"),
        (["new.yaml", "--config", "absent.toml"], "no configuration file absent.toml"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(
    words: list[str], message: str, call: Any, tmp_path: Path
) -> None:
    """Code 2."""
    record(tmp_path / "snapshots", REQUESTS["openai"][0])
    (tmp_path / "there.yaml").write_text("mine", encoding="utf-8")
    done = call("golden", "adopt", *words, "--snapshots", "snapshots")

    assert isinstance(done.exception, UsageError)
    assert done.exception.message.startswith(message)
    assert ("mine", False) == ((tmp_path / "there.yaml").read_text("utf-8"), (tmp_path / "new.yaml").exists())


def test_refused_requests_end_with_3_and_are_named(call: Any, tmp_path: Path) -> None:
    """The others are adopted."""
    record(tmp_path / "snapshots", document(HOST, [1]))
    record(tmp_path / "snapshots", REQUESTS["openai"][0])
    done = call("golden", "adopt", "new.yaml", "--snapshots", "snapshots")

    assert (3, True) == (done.exit_code, (tmp_path / "new.yaml").exists())
    assert "its body is no JSON object" in done.stderr


ODD = ["", " ", "a", "1e5", "1", "true", "~", "null", "no", "- a", "a: b", "#", "{", "a\nb", "a\n", "a\n\n", "\n", " a\n b", "\ta\nb", "a\x85b\nc", "a\u2028b", "\ufeff", "😀\nx", "x" * 2000, "'", '"', "\\", "a \nb", "| x\ny", "\x00", "\x7f", "%a\nb", "---\n...\n", "é\r\nx"]  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(ODD),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(["a", "no", "1", "<<", "="]), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(value=VALUES)
def test_what_is_written_as_yaml_is_read_back_as_it_was(value: Any) -> None:
    """By our own reader, types and order included."""
    read = yaml_text.read(written(value), "").value

    assert json.dumps(value) == json.dumps(read)


@pytest.mark.parametrize("text", ODD)
def test_every_odd_text_survives(text: str) -> None:
    """As a value, in a list, and as a name."""
    if len(text) > 1000:
        assert {"a": [text]} == yaml_text.read(written({"a": [text]}), "").value
    else:
        assert {"a": text, text + "!": [text, {"b": text}]} == yaml_text.read(written({"a": text, text + "!": [text, {"b": text}]}), "").value  # fmt: skip
