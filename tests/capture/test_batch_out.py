"""Batch files: exactly what is not recorded, as its provider takes it, and nothing that must not stand in a file."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from capture.modes import Mode
from snapshots.errors import UsageError
from tests.capture.batches import ids, lines, out, write
from tests.capture.conftest import Project
from tests.capture.server import ModelServer


@pytest.fixture
def nine(project: Project) -> Project:
    """Nine cases, written to a batch."""
    project.write(*({"id": f"c{i}", "prompt": f"say {i}"} for i in range(9)))
    out(project)
    return project


def test_each_provider_gets_the_lines_that_its_reference_shows(project: Project) -> None:
    """OpenAI: custom_id, method, url, body by line; Anthropic: one object of requests with custom_id and params."""
    write(project)
    made = out(project)

    assert {"gpt.jsonl": 2, "resp.jsonl": 1, "claude.json": 1, "vec.jsonl": 1} == made.files
    first, second = lines(project.root / "night" / "gpt.jsonl")
    assert ["custom_id", "method", "url", "body"] == list(first)
    assert ("POST", "/v1/chat/completions") == (first["method"], first["url"])
    assert {"model": "tiny-1", "messages": [{"role": "user", "content": "hello"}]} == first["body"]
    assert 7 == second["body"]["seed"]
    [responses] = lines(project.root / "night" / "resp.jsonl")
    assert "/v1/responses" == responses["url"]
    [vectors] = lines(project.root / "night" / "vec.jsonl")
    assert ("/v1/embeddings", ["one", "two"]) == (vectors["url"], vectors["body"]["input"])
    [claude] = json.loads((project.root / "night" / "claude.json").read_text())["requests"]
    assert ["custom_id", "params"] == list(claude)
    assert ("claude-tiny", 4096) == (claude["params"]["model"], claude["params"]["max_tokens"])


def test_the_bodies_are_the_very_bytes_that_a_call_would_send(project: Project, server: ModelServer) -> None:
    """What is asked by file and what is asked by wire is one request."""
    write(project)
    out(project)
    project.capture(Mode.OFF, environ={"GPT_KEY": "sk-test-key"})

    written = {path.name: path.read_bytes() for path in (project.root / "night").iterdir()}
    files = {"/v1/chat/completions": "gpt.jsonl", "/v1/responses": "resp.jsonl", "/v1/messages": "claude.json"}
    files["/v1/embeddings"] = "vec.jsonl"
    assert files.keys() == {asked.path for asked in server.asked}
    assert all(asked.body in written[files[asked.path]] for asked in server.asked)


def test_ids_are_what_both_providers_take(project: Project) -> None:
    """At most 64 letters, digits, hyphens and underscores, whatever the trial; each stands once."""
    project.write({"id": "c", "prompt": "hi", "trials": 3})
    out(project)
    named = ids(project)

    assert 3 == len(set(named))
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in named)


def test_nothing_of_a_key_is_written_and_none_is_needed(project: Project) -> None:
    """The key goes with the call that makes the batch: it need not be set where the file is written, and stands nowhere."""
    write(project)
    without = out(project, project.root / "one")
    out(project, project.root / "two", {"GPT_KEY": "sk-test-key"})

    assert 0 == len(without.refused)
    for name in ("gpt.jsonl", "manifest.jsonl"):
        assert (project.root / "one" / name).read_bytes() == (project.root / "two" / name).read_bytes()
        assert b"sk-test-key" not in (project.root / "two" / name).read_bytes()


def test_files_are_cut_at_the_limits_of_the_provider(nine: Project) -> None:
    """By number and by size; no request is lost."""
    by_number = out(nine, nine.root / "a", most_requests=4)
    line = len((nine.root / "night" / "gpt.jsonl").read_bytes()) // 9
    by_size = out(nine, nine.root / "b", most_bytes=3 * (line + 2))

    assert {"gpt.jsonl": 4, "gpt-2.jsonl": 4, "gpt-3.jsonl": 1} == by_number.files
    assert {"gpt.jsonl": 3, "gpt-2.jsonl": 3, "gpt-3.jsonl": 3} == by_size.files
    told = [name for file in by_number.files for name in ids(nine, f"a/{file}")]
    assert ids(nine) == told


def test_each_input_of_an_embedding_counts(project: Project) -> None:
    """OpenAI counts inputs and not requests: two times two are more than three."""
    write(project, cases=[{"id": str(i), "request": {"input": [f"a{i}", "b"]}, "targets": ["vec"]} for i in range(2)])

    assert {"vec.jsonl": 1, "vec-2.jsonl": 1} == out(project, most_requests=3).files


def test_a_file_for_openai_holds_one_model(project: Project) -> None:
    """OpenAI refuses a file of several models; Anthropic takes it."""
    two = [{"id": name, "request": {"messages": [{"role": "user", "content": "x"}], "model": name}} for name in "ab"]
    write(project, cases=[{**case, "targets": ["gpt", "claude"]} for case in two])

    assert {"gpt.jsonl": 1, "gpt-2.jsonl": 1, "claude.json": 2} == out(project).files


def test_names_of_targets_that_look_like_other_files_stay_apart(project: Project) -> None:
    """A target may be called manifest, or like the second file of another."""
    named = ("gpt", "gpt-2", "manifest")
    config = 'suite = "s"\ncases = ["cases.jsonl"]\n' + "".join(
        f'[targets.{name}]\ntype = "openai"\nbase_url = "https://{name}.example.com/v1"\nmodel = "m"\n'
        for name in named
    )
    write(project, config, [{"id": str(i), "prompt": str(i), "targets": list(named)} for i in range(2)])
    made = out(project, most_requests=1)

    assert 6 == made.requests == sum(len(ids(project, f"night/{name}")) for name in made.files)
    assert {"gpt.jsonl", "gpt-2.jsonl", "gpt-3.jsonl", "gpt-2-2.jsonl", "manifest-2.jsonl", "manifest-3.jsonl"} == set(
        made.files
    )
    assert "whichclock.batch/1" == lines(project.root / "night" / "manifest.jsonl")[0]["schema"]


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "a stream": ("", {"stream": True}, "a batch cannot stream"),
    "a variable": ('params = { user = "{{ env.WHO }}" }', {}, "its body holds the value of {{ env.WHO }}"),
    "a key in the prompt": (
        'api_key = "{{ env.GPT_KEY }}"',
        {"messages": [{"role": "user", "content": "my key is hunter-two-three"}]},
        "its body holds the value of {{ env.GPT_KEY }}",
    ),
    "what looks like a credential": (
        "",
        {"messages": [{"role": "user", "content": "sk-proj-" + "Ab3" * 16}]},
        "holds what looks like a credential at /request/body/messages/0/content",
    ),
}


@pytest.mark.parametrize(("target", "request_", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_what_must_not_stand_in_a_file_is_refused(
    project: Project, target: str, request_: dict[str, Any], why: str
) -> None:
    """The row is named with the reason, the others are written."""
    asked = {"messages": [{"role": "user", "content": "hi"}], **request_}
    project.write({"id": "bad", "request": asked}, target=target)
    made = out(project, environ={"GPT_KEY": "hunter-two-three", "WHO": "Al"})

    assert [("bad", "gpt", 0)] == [row[:3] for row in made.refused]
    assert why in made.refused[0][3]
    assert not (project.root / "night").exists()


@pytest.mark.parametrize(
    "config",
    [
        '[targets.t]\ntype = "gemini"\nbase_url = "https://example.com"\nmodel = "m"\n',
        '[targets.t]\ntype = "http"\nurl = "https://example.com/"\nbody = {{ text = "{{{{ prompt }}}}" }}\n',
        '[targets.t]\ntype = "exec"\ncommand = ["true"]\n',
    ],
    ids=["gemini", "http", "exec"],
)
def test_types_without_batch_files_are_refused_by_name(project: Project, config: str) -> None:
    """Nothing is written for them; an ordinary capture asks them."""
    write(project, f'suite = "s"\ncases = ["cases.jsonl"]\n{config}', [{"id": "c", "prompt": "hi"}])
    made = out(project)

    kind = re.findall('type = "(.*)"', config)[0]
    assert [f"targets of type {kind} have no batch files"] == [row[3] for row in made.refused]


def test_redacted_requests_are_refused(project: Project) -> None:
    """A file would hold in clear what the suite takes out."""
    project.write({"id": "c", "prompt": "I am ann@example.com"}, more='[redact]\nkinds = ["email"]')

    assert "redaction takes something out" in out(project).refused[0][3]


def test_a_second_batch_in_one_folder_is_refused(nine: Project) -> None:
    """The manifest of the first would be lost, and with it what its answers answer."""
    with pytest.raises(UsageError, match="holds a batch already"):
        out(nine)


def test_files_of_others_are_not_overwritten(project: Project) -> None:
    """A target called like a file that is there: nothing is written."""
    (project.root / "night").mkdir()
    (project.root / "night" / "gpt.jsonl").write_text("mine")
    with pytest.raises(UsageError, match=r"holds a file gpt\.jsonl"):
        out(project)

    assert ["gpt.jsonl"] == [path.name for path in (project.root / "night").iterdir()]
    assert "mine" == (project.root / "night" / "gpt.jsonl").read_text()


def test_only_what_is_not_recorded_is_written(project: Project) -> None:
    """What is damaged is named and not written, as no capture would ask it."""
    project.write({"id": "old", "prompt": "old"}, {"id": "bad", "prompt": "bad"})
    project.capture()
    bad = next(path for path in project.files() if b'"bad"' in path.read_bytes())
    bad.write_bytes(b"{}")
    project.write(*({"id": name, "prompt": name} for name in ("old", "bad", "new", "also")))
    project.write(*({"id": name, "prompt": name} for name in ("old", "bad", "new")), {"id": "same", "prompt": "new"})
    made = out(project)

    assert (4, 1, 2, {"gpt.jsonl": 1}) == (made.planned, made.recorded, made.written, made.files)
    assert ["bad"] == [row[0] for row in made.refused]


def test_a_live_batch_writes_what_is_recorded_too(project: Project) -> None:
    """A model that may have moved can be asked by batch as well."""
    project.capture()

    assert {"gpt.jsonl": 2} == out(project, mode=Mode.LIVE).files


UNSENT: dict[str, tuple[str, str]] = {
    "a query": ('query = { version = "2" }', "the query of the target"),
    "a header": ('headers = { x-tenant = "acme" }', "the header x-tenant"),
    "another path": (
        'endpoint = "gate"',
        "the path /gateway/openai/v1/chat/completions (the batch asks /v1/chat/completions)",
    ),
}


@pytest.mark.parametrize(("target", "why"), UNSENT.values(), ids=UNSENT.keys())
def test_what_a_batch_does_not_send_keeps_a_request_out_of_it(project: Project, target: str, why: str) -> None:
    """Its answer would be filed under a key that says what was not asked."""
    path = "/gateway/openai/v1" if "endpoint" in target else "/v1"
    project.write({"id": "c", "prompt": "hi"}, target=target, base_url=f"https://api.example.com{path}")

    assert [f"a batch file has no place for {why}, which is part of the key"] == [
        row[3] for row in out(project).refused
    ]


@pytest.mark.parametrize("more", ['endpoint = "gate"', 'headers = { Authorization = "Bearer {{ env.K }}" }', ""])
def test_another_host_of_the_same_path_is_no_obstacle(project: Project, more: str) -> None:
    """Neither is the name of an endpoint, nor a credential, which is in no key."""
    project.write({"id": "c", "prompt": "hi"}, target=more, base_url="https://eu.example.com/v1")

    assert {"gpt.jsonl": 1} == out(project).files


def test_another_version_of_the_interface_keeps_a_request_out(project: Project) -> None:
    """A batch goes with the version of whoever uploads it."""
    config = 'suite = "s"\ncases = ["cases.jsonl"]\n[targets.t]\ntype = "anthropic"\nbase_url = "https://example.com"\nmodel = "m"\n'
    write(project, config, [{"id": "c", "prompt": "hi"}])
    plain = out(project, project.root / "a")
    write(project, f'{config}headers = {{{{ anthropic-version = "2024-01-01" }}}}\n', [{"id": "c", "prompt": "hi"}])
    other = out(project, project.root / "b")

    assert (
        {"t.json": 1},
        ["a batch file has no place for the header anthropic-version, which is part of the key"],
    ) == (
        plain.files,
        [row[3] for row in other.refused],
    )
