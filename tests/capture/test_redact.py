"""No resolved value is ever written: not in a snapshot, a log, a result, an error or on the terminal."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import unicodedata
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.redact import Scrubber
from capture.storable import Storable
from tests.capture.conftest import Project, outcomes
from tests.capture.server import Asked, ModelServer, Say, completion, say, say_json

# Made-up values with what every encoding treats in its own way: quotes, backslashes, slashes, plus, percent, non-ASCII.
CANARIES = {
    "CANARY_API_KEY": 'sk-test-"q"\\b/+%é-canary1',
    "CANARY_HEADER": "tenant-canary2/+=?&",
    "CANARY_QUERY": "query canary3/ü&=",
    "CANARY_PROMPT": "prompt-canary4<>\\n",
}
TARGET = """api_key = "{{ env.CANARY_API_KEY }}"
headers = { x-tenant = "{{ env.CANARY_HEADER }}" }
retries = 1"""


def canary_project(project: Project, url: str) -> None:
    project.write(
        {"id": "c", "prompt": "say {{ env.CANARY_PROMPT }}"},
        target=TARGET,
        base_url=url + "?key={{ env.CANARY_QUERY }}",
    )


def everything(asked: Asked) -> str:
    return json.dumps({"path": asked.path, "headers": asked.headers, "body": asked.body.decode()}, ensure_ascii=False)


ECHOES = {
    "in an error": lambda asked: say_json({"error": {"message": everything(asked)}}, 401),
    "in a passing error": lambda asked: say_json({"error": {"message": everything(asked)}}, 500),
    "in an error page": lambda asked: Say(everything(asked).encode(), 404),
    "in a redirect": lambda asked: Say(b"", 302, {"Location": quote(everything(asked))}),
    "in an answer": lambda asked: say(everything(asked)),
    "in an answer's tool call": lambda asked: say(
        None, tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": everything(asked)}}]
    ),
    "in a kept header": lambda asked: say_json(completion("A"), X_Request_Id=quote(everything(asked))),
    "in base64": lambda asked: say(base64.b64encode(b"x" + everything(asked).encode()).decode()),
    "in a broken answer": lambda asked: Say(everything(asked).encode()[:-3]),
    "in a refusal sent as 400": lambda asked: say_json(
        {"error": {"code": "content_filter", "message": everything(asked)}}, 400
    ),
}


def forms() -> list[bytes]:
    found = []
    for value in CANARIES.values():
        found += [
            value,
            json.dumps(value)[1:-1],
            json.dumps(value, ensure_ascii=False)[1:-1],
            quote(value),
            quote(value, safe=""),
        ]
        found += [base64.b64encode(value.encode()).decode()]
    return [form.encode() for form in found]


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES.keys())
def test_a_server_that_echoes_everything_gets_nothing_written(project: Project, server: ModelServer, echo) -> None:
    """Neither the store, nor the log, nor the result holds a value in any form."""
    server.fallback = echo
    canary_project(project, server.url)
    result = project.capture(environ=CANARIES)

    assert CANARIES["CANARY_API_KEY"].encode() in server.asked[0].headers["authorization"].encode("latin-1")
    assert 3 == result.exit_code
    assert [] == project.files()
    told = project.everything_written() + orjson.dumps(result.as_dict()) + repr(result).encode()
    assert [] == [form for form in forms() if form in told]
    assert b"canary" not in told


def test_a_refused_answer_says_what_to_do_without_the_value(project: Project, server: ModelServer) -> None:
    """The message names the variable and the way out."""
    server.fallback = lambda asked: say(f"your key is {CANARIES['CANARY_HEADER']}")
    canary_project(project, server.url)
    result = project.capture(environ=CANARIES)

    assert ["refused"] == outcomes(result)
    assert (result.rows[0].error or "").startswith(
        "the answer holds the value of {{ env.CANARY_HEADER }} and is not stored; keep the value out of what is sent"
    )


def test_no_value_enters_the_key_or_the_file_of_a_stored_answer(project: Project, server: ModelServer) -> None:
    """An answer without a value is stored under a key that no value has touched."""
    server.fallback = lambda asked: say("A")
    canary_project(project, server.url)
    first = project.capture(environ=CANARIES)
    second = project.capture(environ={name: value + "-other" for name, value in CANARIES.items()})

    assert (["recorded"], ["replayed"]) == (outcomes(first), outcomes(second))
    written = project.everything_written()
    assert b"canary" not in written
    assert b"${env:CANARY_PROMPT}" in written


def test_a_request_that_spells_a_value_out_is_not_even_asked(project: Project, server: ModelServer) -> None:
    """A key pasted into a prompt would be stored with the request."""
    project.write({"id": "c", "prompt": "is tenant-canary2/+=?& fine?"}, target=TARGET)
    result = project.capture(environ=CANARIES)

    assert ["refused"] == outcomes(result)
    assert [] == server.asked
    assert b"canary2" not in project.everything_written()


@pytest.mark.parametrize("value", ["sk-test-1\n", "sk-test-\x001", "sk-test-\r\nx: y"])
def test_a_value_that_breaks_a_header_is_refused_without_being_told(
    project: Project, server: ModelServer, value: str
) -> None:
    """The commonest case is a line end behind a key that was read from a file."""
    project.write({"id": "c", "prompt": "hi"}, target=TARGET)
    result = project.capture(environ=CANARIES | {"CANARY_API_KEY": value})

    assert ["failed"] == outcomes(result)
    assert "sk-test" not in (result.rows[0].error or "")
    assert [] == server.asked


def test_the_command_prints_no_value(project: Project, server: ModelServer) -> None:
    """Neither stdout nor stderr of the real command holds one, whatever the format."""
    server.fallback = ECHOES["in an error"]
    canary_project(project, server.url)
    for arguments in ([], ["--format", "json"], ["--dry-run"]):
        ran = subprocess.run(
            [sys.executable, "-m", "whichclock", "capture", *arguments],
            cwd=project.root,
            env={**os.environ, **CANARIES, "PYTHONPATH": os.getcwd(), "PYTHONUTF8": "1"},
            capture_output=True,
            check=False,
        )

        assert (0 if "--dry-run" in arguments else 3) == ran.returncode
        assert b"canary" not in ran.stdout + ran.stderr


@pytest.mark.parametrize(
    "text",
    [
        "plain {v}",
        "json " + json.dumps("{v}"),
        "Basic {b64}",
        "url %73 {q}",
    ],
)
def test_each_form_is_struck_out_by_name(text: str) -> None:
    """What replaces a value says where it came from."""
    value = "p@ss/word+1"
    filled = text.replace("{v}", value).replace("{q}", quote(value, safe=""))
    filled = filled.replace("{b64}", base64.b64encode(b"user:" + value.encode()).decode())
    scrubbed = Scrubber({"PW": value}).scrub(filled)

    assert "${env:PW}" in scrubbed
    assert value not in scrubbed


@pytest.mark.parametrize("before", [b"", b"a", b"ab", b"abc"])
@pytest.mark.parametrize("after", [b"", b"y", b"yz", b"xyz"])
def test_base64_is_found_at_every_offset(before: bytes, after: bytes) -> None:
    """The same value has three spellings inside a longer text."""
    scrub = Scrubber({"K": "sk-test-abcdef"})

    assert "K" == scrub.find(base64.b64encode(before + b"sk-test-abcdef" + after))


def test_a_value_spelled_over_two_chunks_of_a_stream_is_found(project: Project, server: ModelServer) -> None:
    """A stream is searched as it reads, too."""
    project.write({"id": "c", "prompt": "hi"}, target=TARGET)
    parts = ["tenant-", "canary2", "/+=?&"]
    events = [
        {"choices": [{"index": 0, "delta": {"content": part}, "finish_reason": "stop" if part == parts[-1] else None}]}
        for part in parts
    ]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    server.replies = [Say(body.encode(), headers={"Content-Type": "text/event-stream"})]

    assert ["refused"] == outcomes(project.capture(environ=CANARIES))


@pytest.mark.parametrize("start", ["{", '{"seed": 123456789012345678901, '], ids=["body", "text"])
@pytest.mark.parametrize("escaped", ["tenant\\u002dcanary2\\/+=?&", "\\u0074enant-canary2/+=?\\u0026"])
def test_a_value_in_unusual_json_escapes_is_found(
    project: Project, server: ModelServer, escaped: str, start: str
) -> None:
    """JSON can spell a character in more than one way, in an answer that is kept as text, too."""
    project.write({"id": "c", "prompt": "hi"}, target=TARGET)
    server.replies = [Say((start + json.dumps(completion("HERE"))[1:]).replace("HERE", escaped).encode())]

    assert ["refused"] == outcomes(project.capture(environ=CANARIES))


def test_a_short_value_refuses_no_answer_but_is_struck_out_of_messages(project: Project, server: ModelServer) -> None:
    """Five characters stand in too many answers by chance."""
    project.write({"id": "c", "prompt": "hi"}, target='api_key = "{{ env.SHORT }}"')
    server.replies = [say("abcde"), say_json({"error": {"message": "bad key abcde"}}, 401)]
    stored = project.capture(environ={"SHORT": "abcde"})
    failed = project.capture(trials=2, environ={"SHORT": "abcde"})

    assert ["recorded"] == outcomes(stored)
    assert "HTTP 401: bad key ${env:SHORT}" == failed.rows[1].error


OTHER_CASES = {
    "long s": ("secret-sesame", "\u017fecret-\u017fe\u017fame"),
    "kelvin": ("kind-of-key", "\u212aind-of-\u212aey"),
    "umlauts": ("Pässwört-ÄÖ1", "PÄSSWÖRT-äö1"),
    "sharp s": ("strasse-99", "STRAßE-99"),
    "final sigma": ("ΟΔΟΣ-12345", "οδος-12345"),
    "dotted i": ("i\u0307stanbul-1", "İSTANBUL-1"),
    "decomposed": ("Pässwört-ÄÖ1", unicodedata.normalize("NFD", "Pässwört-ÄÖ1")),
    "escaped in upper case": ("pässwört-äö1", json.dumps("PÄSSWÖRT-ÄÖ1")[1:-1]),
    "percent-encoded": ("Pässwört-ÄÖ1", quote("Pässwört-ÄÖ1").lower()),
}


@pytest.mark.parametrize(("value", "text"), OTHER_CASES.values(), ids=OTHER_CASES.keys())
def test_a_value_in_another_case_is_found_and_struck_out(value: str, text: str) -> None:
    """Letters whose case is more than a bit of ASCII: each is found, and no look-up of one fails."""
    scrub = Scrubber({"PW": value})

    assert "PW" == scrub.find(f"it is {text}!".encode())
    assert "it is ${env:PW}!" == scrub.scrub(f"it is {text}!")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16-le", "utf-16-be"])
def test_a_value_in_another_encoding_is_found(encoding: str) -> None:
    """A body need not be UTF-8."""
    assert "PW" == Scrubber({"PW": "Pässwört-ÄÖ1"}).find("x Pässwört-ÄÖ1 x".encode(encoding))


@given(
    st.text(min_size=1, max_size=12),
    st.text(max_size=30),
    st.sampled_from(["upper", "lower", "swapcase", "title", "casefold"]),
)
def test_whatever_the_text_scrubbing_ends(value: str, around: str, how: str) -> None:
    """No text breaks it, and what stands around a value without letters in common stays."""
    text = around + getattr(value, how)() + around

    assert isinstance(Scrubber({"PW": value}).scrub(text), str)


def test_a_secret_that_is_no_ascii_is_neither_sent_nor_written(project: Project, server: ModelServer) -> None:
    """In the prompt in lower case: the request is refused before it is sent."""
    project.write({"id": "c", "prompt": "pässwört-äö1"}, target='api_key = "{{ env.PW }}"')
    result = project.capture(environ={"PW": "Pässwört-ÄÖ1"})

    assert (["refused"], []) == (outcomes(result), server.asked)
    assert "pässwört".encode() not in project.everything_written()


@pytest.mark.parametrize("text", ["\\\\u0074enant-canary2/+=?&", "```json\n\\u0074enant-canary2/+=?&\n```"])
def test_a_value_in_escapes_within_a_text_is_found(project: Project, server: ModelServer, text: str) -> None:
    """JSON in the words of a model, in a fence or in a text of JSON."""
    project.write({"id": "c", "prompt": "hi"}, target=TARGET)
    server.replies = [say(text)]

    assert ["refused"] == outcomes(project.capture(environ=CANARIES))


def test_a_fault_of_ours_ends_one_row_and_tells_no_value(
    project: Project, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other answers, which were paid for, are stored."""
    project.write({"id": "a", "prompt": "a"}, {"id": "b", "prompt": "b"}, target=TARGET)
    sound = Storable.response

    def broken(self: Storable, document: Any, response: Any, **how: Any) -> Any:
        if document["body"]["messages"][0]["content"] == "a":
            raise KeyError(CANARIES["CANARY_HEADER"])
        return sound(self, document, response, **how)

    monkeypatch.setattr(Storable, "response", broken)
    result = project.capture(environ=CANARIES)

    assert ["failed", "recorded"] == outcomes(result)
    assert (result.rows[0].error or "").startswith("an unexpected KeyError in test_redact.py, line ")
    assert b"canary" not in project.everything_written()
