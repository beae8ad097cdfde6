"""A grader written against a plain mapping, pasted unchanged, on bodies as OpenAI sends them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.capture.server import say_json
from tests.flow.conftest import Project

GRADER = """\
def invented_order_id(envelope):
    findings = set()
    tool_calls = envelope.get("tool_calls") or []
    for call in tool_calls:
        args = call.get("arguments") or {}
        name = call.get("name")
        if name == "get_order" and "order_id" in args:
            if args.get("order_id") in (None, "", "UNKNOWN"):
                findings.add("invented_argument")
        if name == "get_order" and "order_id" not in args:
            findings.add("missing_argument")
    if not tool_calls and envelope.get("refusal") is True:
        findings.add("ok_refusal")
    if not findings:
        findings.add("ok")
    return findings
"""


def body(message: dict[str, Any], finish: str) -> dict[str, Any]:
    """Return a chat completion in the form that the API sends today, members and all."""
    return {
        "id": "chatcmpl-test",
        "object": "chat.completion",
        "created": 1780315200,
        "model": "gpt-4.1-mini-2025-04-14",
        "choices": [{"index": 0, "message": {"role": "assistant", "annotations": [], **message}, "logprobs": None, "finish_reason": finish}],
        "usage": {"prompt_tokens": 67, "completion_tokens": 15, "total_tokens": 82, "prompt_tokens_details": {"cached_tokens": 0}},
        "service_tier": "default",
        "system_fingerprint": "fp_test",
    }  # fmt: skip


def calls(*arguments: str, name: str = "get_order") -> dict[str, Any]:
    """Return a message that calls a tool once for each arguments text."""
    made = [
        {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": a}}
        for i, a in enumerate(arguments)
    ]
    return {"content": None, "refusal": None, "tool_calls": made}


BODIES = [
    pytest.param(calls('{"order_id": null}'), "tool_calls", ["invented_argument"], id="null id"),
    pytest.param(calls('{"order_id":"UNKNOWN"}'), "tool_calls", ["invented_argument"], id="UNKNOWN"),
    pytest.param(calls('{"order_id": ""}'), "tool_calls", ["invented_argument"], id="empty id"),
    pytest.param(calls("{}"), "tool_calls", ["missing_argument"], id="no argument"),
    pytest.param(calls(""), "tool_calls", ["missing_argument"], id="empty arguments"),
    pytest.param(calls('{"order_id": "A-1'), "length", ["missing_argument"], id="arguments cut off"),
    pytest.param(
        calls('{"order_id": null}', "{}"), "tool_calls", ["invented_argument", "missing_argument"], id="two calls"
    ),
    pytest.param(calls('{"order_id": "A-17"}'), "tool_calls", ["ok"], id="real id"),
    pytest.param(
        calls('{"value": "one"}', name="counting_tool"), "tool_calls", ["ok", "tool_not_allowed"], id="another tool"
    ),
    pytest.param({"content": None, "refusal": "I can't help with that."}, "stop", ["ok_refusal"], id="refusal"),
    pytest.param({"content": "Which order?", "refusal": None}, "stop", ["ok"], id="question"),
]


@pytest.mark.parametrize(("message", "finish", "findings"), BODIES)
def test_the_pasted_grader_finds_what_its_author_meant(
    project: Project, message: dict[str, Any], finish: str, findings: list[str]
) -> None:
    """Captured, frozen and graded through the command line, the findings are the ones derived by hand."""
    (project.root / "golden/cases/graders.py").write_text(GRADER)
    project.edit("golden/cases/cases.yaml", "order_grader", "invented_order_id")
    project.server.fallback = lambda _asked: say_json(body(message, finish))
    project.ok("capture", "refuse_invented_order_id", "--quiet")

    row = project.run("grade", "refuse_invented_order_id", "--format", "json").json["rows"][0]

    assert findings == row["findings"]


CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "open.jsonl"


@pytest.mark.skipif(not CORPUS.is_file(), reason="the corpus of recorded calls is not beside this checkout")
def test_recorded_tool_calls_read_as_their_bodies_say() -> None:
    """On every recorded OpenAI chat body that nobody here wrote: names and arguments as the raw JSON spells them."""
    from snapshots import dialects
    from snapshots.envelope import Envelope

    seen = 0
    for line in CORPUS.read_text("utf-8").splitlines():
        recorded = json.loads(line)
        answer = recorded["response_body"]
        if (
            not isinstance(answer, dict)
            or not str(recorded["url"]).split("?")[0].endswith("/chat/completions")
            or not answer.get("choices")
        ):
            continue
        response = {"status": recorded["status"], "body": answer}
        envelope = Envelope(dialects.read("openai-chat", response), response, None)
        message = answer["choices"][0]["message"]
        spelled = [c["function"] for c in message.get("tool_calls") or []] + (
            [message["function_call"]] if message.get("function_call") else []
        )
        # One provider fills what it has nothing for with empty members: a call of nothing is no call.
        raw = [(f["name"], f.get("arguments")) for f in spelled if f["name"] or f.get("arguments")]
        read = [(c["name"], c["arguments"]) for c in envelope["tool_calls"]]
        assert [(n, json.loads(a) if a else {}) for n, a in raw] == read, recorded["source_path"]
        said = message.get("content") or (message.get("audio") or {}).get("transcript") or ""
        assert said == envelope["text"] or isinstance(message["content"], list)
        assert answer["choices"][0].get("finish_reason") == envelope["finish_reason"]
        seen += 1

    assert seen > 300
