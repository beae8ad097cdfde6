"""Secrets and personal data planted in every channel of a capture: on no disk, in no log, no hash and no message."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from capture.report import remedies, summary_lines
from capture.result import CaptureResult
from snapshots.console import Console
from tests.capture import batches
from tests.capture.conftest import Project
from tests.capture.processes import write as write_program
from tests.capture.server import Asked, ModelServer, Say, completion, say, say_json

SECRET = "canary-9f8e7d6c5b"
KEY = "sk-test-canary0123456789"
PERSON = "ann.canary@example.com"
PHONE = "+1 555 010 0199"
CARD = "4111 1111 1111 1111"
PLANTED = (SECRET, KEY, PERSON, PHONE, CARD, "canary", "5550100199", "41111111")
PERSONAL = f"{PERSON} {PHONE} {CARD}"
RULES = '[redact]\nkinds = ["email", "phone", "card"]'
SAID: dict[str, Any] = {"secret": SECRET, "key": KEY, "personal": PERSONAL}


def stream(*pieces: str) -> Say:
    """Return a streamed answer."""
    choices: list[Any] = [{"index": 0, "delta": {"content": piece}} for piece in pieces]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    events = [json.dumps({"object": "chat.completion.chunk", "choices": [choice]}) for choice in choices]
    body = "".join(f"data: {event}\n\n" for event in (*events, "[DONE]"))
    return Say(body.encode(), headers={"Content-Type": "text/event-stream"})


def call(arguments: str) -> Say:
    """Return an answer that calls a tool."""
    return say(None, tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": arguments}}])


REPLIES: dict[str, Callable[[str], Say]] = {
    "answer": lambda said: say(f"It is {said}."),
    "tool arguments": lambda said: call(json.dumps({"to": f"x\n{said}"})),
    "tool arguments within arguments": lambda said: call(json.dumps({"to": json.dumps({"a": f"x\n{said}"})})),
    "member name": lambda said: say_json({**completion("A"), "x": {said: 1}}),
    "kept header": lambda said: say_json(completion("A"), X_Request_Id=said),
    "dropped header": lambda said: say_json(completion("A"), Set_Cookie=said),
    "one event of a stream": lambda said: stream("It is\n", f"\n{said}", "."),
    "several events of a stream": lambda said: stream(*said),
    "error": lambda said: say_json({"error": {"message": f"no: {said}"}}, 400),
    "passing error": lambda said: say_json({"error": {"message": f"no: {said}"}}, 503),
    "error page": lambda said: Say(f"<p>no: {said}</p>".encode(), 404),
    "redirect": lambda said: Say(b"", 302, {"Location": f"https://example.com/{quote(said)}"}),
    "query of a redirect": lambda said: Say(b"", 302, {"Location": f"/?x={quote(said)}"}),
    "answer that is none": lambda said: say_json({"is": said}),
    "filter": lambda said: say_json({"error": {"code": "content_filter", "message": said}}, 400),
    "bytes": lambda said: Say(b"\xff" + said.encode(), 404),
    "cut answer": lambda said: Say(json.dumps(completion(said)).encode()[:-4]),
}


def told(result: CaptureResult) -> str:
    """Return everything that is printed of a result."""
    parts = [json.dumps(result.as_dict(), ensure_ascii=False), *summary_lines(result, Console("never"))]
    return "\n".join([*parts, *remedies(result), *result.warnings, json.dumps(result.as_line("auto"))])


def leaks(project: Project, *printed: str) -> list[str]:
    """Return what was planted and stands in the store, in a log, or in what was printed."""
    names = "\n".join(path.name for path in (project.root / "snapshots").rglob("*"))
    everything = project.everything_written().decode("utf-8", "replace") + names + "\n".join(printed)
    return [canary for canary in PLANTED if canary in everything or quote(canary) in everything]


@pytest.mark.parametrize("said", SAID.values(), ids=SAID.keys())
@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES.keys())
def test_what_a_server_says_leaks_nothing(
    project: Project, server: ModelServer, reply: Callable[[str], Say], said: str
) -> None:
    """A secret that it was sent, somebody's key, and personal data: refused, scrubbed or taken out."""
    project.write({"id": "c", "prompt": "hi"}, target='api_key = "{{ env.K }}"\nretries = 1', more=RULES)
    server.fallback = lambda _asked: reply(said)
    result = project.capture(environ={"K": SECRET})

    assert [] == leaks(project, told(result))
    assert f"Bearer {SECRET}" == server.asked[0].headers["authorization"]


TARGETS = {
    "api key": ('api_key = "{{ env.K }}"', ""),
    "header": ('headers = { x-tenant = "{{ env.K }}" }', ""),
    "query": ("", "?code={{ env.K }}"),
    "path": ("", "/{{ env.K }}"),
    "params": ('params = { user = "{{ env.K }}" }', ""),
}


@pytest.mark.parametrize(("target", "url"), TARGETS.values(), ids=TARGETS.keys())
@pytest.mark.parametrize("echo", [False, True])
def test_a_secret_in_a_request_reaches_the_server_alone(
    project: Project, server: ModelServer, target: str, url: str, echo: bool
) -> None:
    """Wherever it stands in it, and whether the server repeats it or not; another value has the same key."""

    def reply(asked: Asked) -> Say:
        return say(f"{asked.path} {asked.headers} {asked.body.decode()}" if echo else "A")

    server.fallback = reply
    project.write({"id": "c", "prompt": "hi"}, target=target, base_url=f"{server.url}{url}", more=RULES)
    first, second = (project.capture(environ={"K": value}) for value in (SECRET, f"{SECRET}-other"))

    asked = server.asked[0]
    assert SECRET in f"{asked.path} {asked.headers} {asked.body.decode()}"
    assert (["refused"] * 2 if echo else ["recorded", "replayed"]) == [r.rows[0].outcome.value for r in (first, second)]
    assert [row.request_hash for row in first.rows] == [row.request_hash for row in second.rows]
    assert [] == leaks(project, told(first), told(second))


PROMPTS = {
    "prompt": {"prompt": f"I am {PERSONAL}"},
    "messages": {"request": {"messages": [{"role": "user", "content": f"I am {PERSONAL}"}], "user": PERSON}},
    "tool arguments": {
        "request": {
            "messages": [
                {
                    "role": "assistant",
                    "tool_calls": [
                        {"id": "1", "type": "function", "function": {"name": "f", "arguments": json.dumps({"a": f"\n{PERSON}"})}}
                    ],
                }
            ]
        }
    },
    "schema": {
        "request": {
            "messages": [],
            "tools": [
                {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {PERSON: {}, "a": {}}}}}
            ],
        }
    },
}  # fmt: skip


@pytest.mark.parametrize("case", PROMPTS.values(), ids=PROMPTS.keys())
def test_personal_data_in_a_request_reaches_the_server_alone(
    project: Project, server: ModelServer, case: dict[str, Any]
) -> None:
    """It is asked with, and neither stored nor keyed: other data of the same kind has the same key."""
    server.fallback = lambda _asked: say("A")
    project.write({"id": "c", **case}, more=RULES)
    first = project.capture()
    other = json.loads(json.dumps(case).replace("ann.canary", "bob").replace("0199", "0123"))
    project.write({"id": "c", **other}, more=RULES)
    second = project.capture()

    assert PERSON in server.asked[0].body.decode()
    assert ["recorded", "replayed"] == [first.rows[0].outcome.value, second.rows[0].outcome.value]
    assert [] == leaks(project, told(first), told(second))


@pytest.mark.parametrize("said", SAID.values(), ids=SAID.keys())
@pytest.mark.parametrize(
    "ending", ["", "\nsys.exit(1)", "\nos.kill(os.getpid(), 9)"], ids=["exit 0", "exit 1", "signal"]
)
@pytest.mark.parametrize("where", ["stdout", "stderr", "error"])
def test_what_a_program_says_leaks_nothing(project: Project, said: str, ending: str, where: str) -> None:
    """In its answer, in the error that it reports, and in its last words."""
    member = {"stdout": "{'output': SAID}", "stderr": "{'output': 'A'}", "error": "{'error': {'message': SAID}}"}[where]
    words = "print(SAID, file=sys.stderr)\n" if where == "stderr" else ""
    text = f"import json, os, sys\nSAID = {said!r}\n{words}print(json.dumps({member}), flush=True){ending}\n"
    write_program(project, text, target='env = { K = "{{ env.K }}" }\nretries = 0', more=RULES)

    assert [] == leaks(project, told(project.capture(environ={"K": SECRET})))


@pytest.mark.parametrize("said", [KEY, PERSONAL], ids=["key", "personal"])
@pytest.mark.parametrize("where", ["body", "error", "top", "error file"])
def test_what_comes_back_from_a_batch_leaks_nothing(project: Project, said: str, where: str) -> None:
    """The results were written by somebody else; what is filed and told of them is not."""
    batches.write(project, config=f"{RULES}\n{batches.CONFIG}".replace('suite = "s"\ncases = ["cases.jsonl"]\n', ""))
    config = project.root / "whichclock.toml"
    config.write_text('suite = "s"\ncases = ["cases.jsonl"]\n' + config.read_text())
    folder = project.root / "night"
    batches.out(project, folder)
    [line, *_] = next(iter(sorted(folder.glob("*gpt*.jsonl")))).read_text().splitlines()
    about: dict[str, Any] = {"custom_id": json.loads(line)["custom_id"], "error": None}
    told_error = {"error": {"message": said}}
    answers: dict[str, Any] = {
        "body": {"response": {"status_code": 200, "body": completion(f"It is {said}")}},
        "error": {"response": {"status_code": 400, "body": told_error}},
        "error file": {"response": {"status_code": 500, "body": told_error}},
        "top": {"response": None, "error": {"code": "x", "message": said}},
    }
    results = folder / "results.jsonl"
    results.write_text(json.dumps({**about, **answers[where]}) + "\n")

    assert [] == leaks(project, told(batches.back(project, results)))


def test_a_batch_file_holds_no_secret_and_nobody(project: Project, server: ModelServer) -> None:
    """What would have to be in it is refused: a body with a variable in it, or one that redaction changes."""
    cases = [
        {"id": "p", "prompt": f"I am {PERSONAL}"},
        {"id": "k", "prompt": f"key {KEY}"},
        {"id": "v", "prompt": "{{ env.K }}"},
    ]
    project.write(*cases, more=RULES)
    folder = project.root / "night"
    written = batches.out(project, folder, environ={"K": SECRET})
    text = "".join(path.read_text() for path in folder.rglob("*") if path.is_file()) if folder.exists() else ""

    assert [] == leaks(project, text, json.dumps(written.as_dict()), *written.lines())
