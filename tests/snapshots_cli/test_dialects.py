"""``snapshots show`` and ``verify`` for answers of every kind."""

from __future__ import annotations

from typing import Any

import pytest

from snapshots import request, snapshot
from snapshots.store import Store
from tests.snapshots_cli.conftest import NOON, put


def http(path: str) -> dict[str, Any]:
    """Return a request document."""
    return request.http_document(method="POST", url=f"https://api.example.com{path}", headers={}, body={"model": "m-1"})


PROGRAM = {"transport": "exec", "command": ["python", "answer.py"], "stdin": {"prompt": "hi"}}
ANSWERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "openai-responses/1": (
        http("/v1/responses"),
        {"object": "response", "status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}]},
    ),
    "anthropic/1": (
        http("/v1/messages"),
        {"type": "message", "stop_reason": "end_turn", "content": [{"type": "text", "text": "Hello"}],
         "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 2}},
    ),
    "gemini/1": (
        http("/v1beta/models/m:generateContent"),
        {"candidates": [{"content": {"parts": [{"text": "Hello"}]}, "finishReason": "STOP"}]},
    ),
    "embeddings/1": (http("/v1/embeddings"), {"object": "list", "data": [{"embedding": [0.5]}]}),
    "exec/1": (PROGRAM, {"output": "Hello", "cost_usd": 0.25}),
    "http/1": (http("/ask"), {"id": 7, "answer": "Hello"}),
}  # fmt: skip


def response(rule: str) -> dict[str, Any]:
    """Return the response member of an answer."""
    members: dict[str, Any] = {"headers": {}, "body": ANSWERS[rule][1]}
    if rule == "exec/1":
        return {"status": 0, **members, "program": {"answer.py": "sha256:00"}}
    return {"status": 200, **members, **({"volatile": ["/id"]} if rule == "http/1" else {})}


@pytest.mark.parametrize("rule", ANSWERS)
def test_a_file_of_each_rule_is_sound(rule: str, store: Store, run) -> None:
    """It is hashed by its rule, fits the schema, and verifies."""
    found = put(store, ANSWERS[rule][0], response(rule))

    assert rule == store.read(found).answer_rule
    assert 0 == run("verify", found.path).code


@pytest.mark.parametrize("rule", ANSWERS)
def test_a_file_of_each_rule_with_another_answer_hash_is_not(rule: str, store: Store, run) -> None:
    """Verify applies the file's own rule."""
    found = put(store, ANSWERS[rule][0], response(rule), answer_hash="0" * 64)
    ran = run("verify", found.path)

    assert (3, True) == (ran.code, f"not what {rule} gives" in ran.out + ran.err)


@pytest.mark.parametrize("volatile", [["id"], [7], "id", None])
def test_a_list_of_volatile_members_that_is_none_is_a_fault(volatile: Any, store: Store, run) -> None:
    """A file may hold anything; verify says so and goes on."""
    name, data = snapshot.write(
        request=http("/ask"), request_hash=request.request_hash(http("/ask")), trial=0, answer_hash="0" * 64, answer_rule="http/1",
        second=NOON, response={"status": 200, "body": {"id": 7}, "volatile": volatile}, meta={},
    )  # fmt: skip

    assert 3 == run("verify", store.put(name, data).path).code


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        ("openai-responses/1", "ANSWER status 200\n  [text]\n    Hello\n  finish: completed\n"),
        ("anthropic/1", "ANSWER status 200, 7 tokens in, 4 of them cached, 2 out\n  [text]\n    Hello\n  finish: end_turn\n"),
        ("gemini/1", "ANSWER status 200\n  [text]\n    Hello\n  finish: STOP\n"),
        ("embeddings/1", 'ANSWER status 200\n  {\n    "object": "list",\n    "data": [\n      {\n        "embedding": [\n          0.5\n'),
        ("exec/1", 'ANSWER status 0, 0.25 USD\n  program:\n    {\n      "answer.py": "sha256:00"\n    }\n  [text]\n    Hello\n'),
        ("http/1", 'ANSWER status 200\n  volatile:\n    [\n      "/id"\n    ]\n  {\n    "id": 7,\n    "answer": "Hello"\n'),
    ],
)  # fmt: skip
def test_an_answer_of_each_kind_is_shown(rule: str, shown: str, store: Store, run) -> None:
    """As text where it has one, else as it came."""
    found = put(store, ANSWERS[rule][0], response(rule))

    assert shown in run("show", found.path).out


def test_a_programs_request_is_shown(store: Store, run) -> None:
    """Command and stdin stand under their names."""
    out = run("show", put(store, PROGRAM, response("exec/1")).path).out

    assert 'REQUEST\n  command:\n    [\n      "python",\n      "answer.py"\n    ]\n  stdin:\n    {\n      "prompt": "hi"\n    }\n\nANSWER' in out  # fmt: skip
