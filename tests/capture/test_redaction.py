"""What is refused before it is written, and what a capture under redaction keys, sends and stores."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from capture.result import Ended
from capture.run import Mode
from capture.storable import Storable
from golden.credential import credentials
from golden.model import NO_REDACTION
from golden.redaction import Redaction
from snapshots import request
from snapshots.errors import ConfigError
from snapshots.verify import check, files
from tests.capture.conftest import Project, outcomes
from tests.capture.server import ModelServer, Say, completion, say
from tests.golden.test_redaction import TAKEN

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "open.jsonl"
KEY = "sk-test-abcdef0123456789"
DOCUMENT = {"transport": "http", "method": "POST", "url": "https://api.example.com/v1/chat/completions", "body": {}}
ALL_KINDS = '[redact]\nkinds = ["email", "phone", "card"]'


def kept(response: dict[str, Any], rules: Redaction = NO_REDACTION) -> dict[str, Any] | Ended:
    return Storable(rules).response(DOCUMENT, {"status": 200, "headers": {}, **response})


def stream(*pieces: str) -> str:
    """Return a streamed chat completion whose text comes in these pieces."""
    choices: list[Any] = [{"index": 0, "delta": {"content": piece}} for piece in pieces]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    chunks = [{"object": "chat.completion.chunk", "choices": [choice]} for choice in choices]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


@pytest.mark.parametrize("text", [*TAKEN["api_key"], r"{\"line\": \"\nsk-test-abcdef0123456789\"}", "?k=%3D" + KEY])
def test_an_answer_that_holds_a_credential_is_refused(text: str) -> None:
    """Every known shape, also behind an escape; the message has the place and not the value."""
    ended = kept({"body": {"choices": [{"message": {"content": f"Use {text} now"}}]}})

    assert isinstance(ended, Ended)
    assert (
        "the answer holds what looks like a credential at /response/body/choices/0/message/content and is not stored"
        == ended.error
    )
    assert text not in ended.hint


@pytest.mark.parametrize(
    ("response", "place"),
    [
        ({"body": {"a/b": [{KEY: "x"}]}}, "/response/body/a~1b/0"),
        ({"body": {"arguments": json.dumps({"k": KEY}).replace("sk-", "\\u0073k-")}}, "/response/body/arguments"),
        ({"body": {"big": 2**70, "k": KEY}}, "/response/body/k"),
        ({"text": f"plain {KEY}"}, "/response/text"),
        ({"base64": base64.b64encode(b"\xff\x00 " + KEY.encode()).decode()}, "/response/base64"),
        ({"headers": {"server": KEY}, "body": {}}, "/response/headers/server"),
        ({"text": stream("Use sk-te", "st-abcdef01", "23456789!")}, "/response/text, assembled: /choices/0/message/content"),
        ({"text": stream(f"Use\n{KEY}")}, "/response/text"),
    ],
)  # fmt: skip
def test_the_place_of_a_credential_is_named(response: dict[str, Any], place: str) -> None:
    """Member names, text within text, headers, bytes, and what a stream spells out."""
    ended = kept(response)

    assert isinstance(ended, Ended)
    assert f"the answer holds what looks like a credential at {place} and is not stored" == ended.error


def test_the_kind_takes_a_credential_out_instead() -> None:
    """Then there is nothing left to refuse."""
    made = kept({"body": {"k": f"Use {KEY}."}}, Redaction(kinds=("api_key",)))

    assert {"status": 200, "headers": {}, "body": {"k": "Use [redacted:api_key]."}} == made


def test_an_allowed_text_is_stored() -> None:
    """A pattern of the suite says that it is none."""
    assert not isinstance(kept({"body": KEY}, Redaction(allow=("sk-test-.*",))), Ended)
    assert isinstance(kept({"body": KEY}, Redaction(allow=("sk-test-",))), Ended)


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus of recorded calls is not there")
def test_no_recorded_body_is_taken_for_a_credential() -> None:
    """Nobody left one in them, and neither base64 nor hashes, ids and signatures look like one."""
    found: list[tuple[str, int, str]] = []
    for line in CORPUS.read_text(encoding="utf-8").splitlines():
        call = json.loads(line)
        for part in ("request_body", "response_body"):
            found += [(call["source_path"], call["index"], at) for at in credentials(call[part], (), f"/{part}")]

    assert [] == found


@pytest.mark.parametrize("size", [3, 7, 20])
def test_a_stream_that_spells_out_what_is_to_be_taken_out_is_refused(size: int) -> None:
    """No single event holds it, so that no rule can take it out."""
    text = "Write to ann@example.com!"
    ended = kept(
        {"text": stream(*(text[i : i + size] for i in range(0, len(text), size)))}, Redaction(kinds=("email",))
    )

    assert isinstance(ended, Ended)
    assert ("spelled over several events" in (ended.error or ""), "ask without stream: true") == (True, ended.hint)


def test_a_stream_with_a_match_within_one_event_is_stored_without_it() -> None:
    """It is still a stream that can be read."""
    made = kept({"text": stream("Hi\n", "\nann@example.com", ".")}, Redaction(kinds=("email",)))

    assert isinstance(made, dict)
    assert "ann@" not in made["text"]
    assert "\\n[redacted:email]" in made["text"]


@pytest.mark.parametrize(
    "response", [{"text": stream("Hi")}, {"text": '{"choices": [{"message": {"content": "Hi"}, "logprobs": NaN}]}'}]
)
def test_a_pointer_into_a_body_that_is_kept_as_text_refuses_it(response: dict[str, Any]) -> None:
    """The text would hold what the rule is to take out."""
    pointer = "/response/body/choices/*/message/content"
    ended = kept(response, Redaction(pointers=(pointer,)))

    assert isinstance(ended, Ended)
    assert f"the answer is not stored: {pointer} cannot be taken out of " in (ended.error or "")


def test_bytes_that_hold_what_is_to_be_taken_out_are_refused() -> None:
    """A body that is no text cannot be kept without it."""
    data = base64.b64encode(b"\xff ann@example.com").decode()

    assert isinstance(kept({"base64": data}, Redaction(kinds=("email",))), Ended)


def test_the_server_sees_what_the_store_does_not(project: Project, server: ModelServer) -> None:
    """The wire holds the text; the file hashes to its own name, says its rules and verifies."""
    project.write({"id": "c", "prompt": "Write to ann@example.com."}, more=ALL_KINDS)
    server.replies = [say("I wrote to ann@example.com, +15550100199.")]

    assert ["recorded"] == outcomes(project.capture())

    [path] = project.files()
    snapshot = json.loads(path.read_bytes())
    assert "Write to ann@example.com." == server.asked[0].prompt
    assert "Write to [redacted:email]." == snapshot["request"]["body"]["messages"][0]["content"]
    assert (
        "I wrote to [redacted:email], [redacted:phone]."
        == snapshot["response"]["body"]["choices"][0]["message"]["content"]
    )
    assert path.parent.name + path.name[:62] == request.request_hash(snapshot["request"]) == snapshot["request_hash"]
    assert Redaction(kinds=("email", "phone", "card")).digest == snapshot["meta"]["redaction"]
    assert [None] == [check(one).reason for one in files(project.root / "snapshots")]
    assert b"example.com" not in project.everything_written()
    assert ["replayed"] == outcomes(project.capture(Mode.REPLAY))


@pytest.mark.parametrize("selected", [None, ["a"], ["b"]])
def test_two_requests_that_differ_only_in_what_is_taken_out_are_refused(
    project: Project, server: ModelServer, selected: list[str] | None
) -> None:
    """Before anything is asked, with both places; also where only one of them is captured today."""
    from capture.run import capture
    from golden.model import Selection
    from golden.suite import select

    project.write(
        {"id": "a", "prompt": "I am ann@example.com"}, {"id": "b", "prompt": "I am bob@example.com"}, more=ALL_KINDS
    )
    suite = project.suite()
    with pytest.raises(ConfigError) as caught:
        capture(suite, select(suite, Selection(cases=tuple(selected or ()))))

    assert (
        "the requests of 'a' (cases.jsonl:1) and 'b' (cases.jsonl:2) differ only in what redaction takes out: "
        "they would share one answer"
    ) == caught.value.message
    assert ([], []) == (server.asked, project.files())


def test_a_salt_keeps_two_such_requests_apart(project: Project) -> None:
    """The remedy that the error names."""
    first, second = (
        {"id": "a", "prompt": "I am ann@example.com"},
        {"id": "b", "prompt": "I am bob@example.com", "salt": "b"},
    )
    project.write(first, second, more=ALL_KINDS)

    assert ["recorded", "recorded"] == outcomes(project.capture())


def test_equal_requests_share_an_answer_under_redaction_too(project: Project, server: ModelServer) -> None:
    """They differ in nothing."""
    project.write(
        {"id": "a", "prompt": "I am ann@example.com"}, {"id": "b", "prompt": "I am ann@example.com"}, more=ALL_KINDS
    )

    assert (["recorded", "recorded"], 1) == (outcomes(project.capture()), len(server.asked))


def test_a_request_that_holds_a_credential_is_not_sent(one: Project, server: ModelServer) -> None:
    """It would be stored in clear."""
    one.write({"id": "c", "prompt": f"My key is {KEY}"})
    [row] = one.capture().rows

    assert ("refused", []) == (row.outcome.value, server.asked)
    assert (
        "the request holds what looks like a credential at /request/body/messages/0/content and is not stored"
        == row.error
    )


def test_an_answer_in_which_two_names_become_one_is_refused(one: Project, server: ModelServer) -> None:
    """One of the values would be lost, so nothing is stored."""
    one.write({"id": "c", "prompt": "hi"}, more=ALL_KINDS)
    body = {**completion("A"), "who": {"ann@example.com": 1, "bob@example.com": 2}}
    server.fallback = lambda _asked: Say(json.dumps(body).encode(), headers={"Content-Type": "application/json"})
    [row] = one.capture().rows

    assert ("refused", []) == (row.outcome.value, one.files())
    assert row.error is not None
    assert "two members one name" in row.error


EVENTS = "".join(f"data: {json.dumps({'said': piece})}\n\n" for piece in ("ann@exa", "mple.com"))
LINES = "".join(json.dumps({"said": piece}) + "\n" for piece in ("ann@exa", "mple.com"))


@pytest.mark.parametrize("text", [EVENTS, LINES], ids=["events", "lines"])
def test_a_stream_that_nobody_can_put_together_is_refused_where_something_may_not_be_written(text: str) -> None:
    """No rule and no search sees what is spelled over two events; without rules and secrets it is kept."""
    document = {**DOCUMENT, "url": "https://example.com/say"}
    response = {"status": 200, "headers": {}, "text": text}
    ended = Storable(Redaction(kinds=("email",))).response(document, dict(response))
    secret = Storable(NO_REDACTION).response(document, dict(response), has_secrets=True)

    assert response == Storable(NO_REDACTION).response(document, dict(response))
    assert isinstance(ended, Ended)
    assert isinstance(secret, Ended)
    assert "ask without stream: true" == ended.hint == secret.hint
    assert "may spell over several events" in (ended.error or "")


def test_a_text_of_one_json_value_is_no_stream() -> None:
    """A body that strict JSON has no place for is kept as before."""
    text = '{"choices": [{"message": {"content": "Hi"}, "logprobs": NaN}],\n "x": {}\n}'

    assert not isinstance(kept({"text": text}, Redaction(kinds=("email",))), Ended)


@pytest.mark.parametrize(("case", "target"), [({"salt": "ann@example.com"}, ""), ({}, 'salt = "ann@example.com"')])
def test_a_salt_that_holds_what_is_taken_out_is_refused(project: Project, case: dict[str, Any], target: str) -> None:
    """Salts are keyed and stored as they are."""
    project.write({"id": "c", "prompt": "hi", **case}, target=target, more=ALL_KINDS)
    with pytest.raises(ConfigError, match="salt holds what redaction takes out"):
        project.capture()


def test_two_rule_sets_take_out_what_either_does() -> None:
    """What one allows, both must allow."""
    one = Redaction(kinds=("email",), allow=("a", "b"))
    two = Redaction(kinds=("phone",), patterns=(("n", "x"),), pointers=("/request/body/user",), allow=("b",))
    both = Redaction(("/request/body/user",), (("n", "x"),), ("email", "phone"), ("b",))

    assert (both, one) == (one.joined(two), one.joined(one))
