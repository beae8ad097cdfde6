"""How a recorded request is keyed: as a target would key it, and without who asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from golden.model import Case, Suite, Target
from golden.place import Place
from golden.render import render
from golden.salt import Salts
from golden.target import make
from snapshots import request
from tests.capture import cassettes
from tests.capture.cassettes import asked, interaction, only, reasons, run

KEY = "sk-test-" + "a" * 24


def keyed(tmp_path: Path, made: dict[str, Any], endpoint: str | None = None) -> dict[str, Any]:
    """Import one interaction and return its request document."""
    run(tmp_path / "store", cassettes.write(tmp_path / "c.json", made), endpoint=endpoint)
    return only(tmp_path / "store")["request"]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTPS://API.Example.COM:443/v1/chat/completions", "https://api.example.com/v1/chat/completions"),
        ("http://api.example.com:80/x", "http://api.example.com/x"),
        ("http://127.0.0.1:8080/v1/x", "http://127.0.0.1:8080/v1/x"),
        ("https://api.example.com/x#part", "https://api.example.com/x"),
        ("https://user:secret@api.example.com/x", "https://api.example.com/x"),
        ("https://api.example.com/x?api-version=1&key=k&alt=sse", "https://api.example.com/x?api-version=1&alt=sse"),
        ("https://api.example.com/x?API_KEY=k", "https://api.example.com/x"),
        ("https://api.example.com/x?X-Amz-Signature=k&X-Amz-Date=1&b=2", "https://api.example.com/x?b=2"),
        ("https://api.example.com/x?b=2&a=%2F1", "https://api.example.com/x?b=2&a=%2F1"),
        ("https://api.example.com/model/m%3A0/invoke", "https://api.example.com/model/m%3A0/invoke"),
        ("https://api.example.com/x/", "https://api.example.com/x/"),
        ("https://api.example.com", "https://api.example.com"),
        ("https://[2001:DB8::1]:8080/x", "https://[2001:db8::1]:8080/x"),
    ],
)
def test_a_url_is_keyed_as_a_target_s(url: str, expected: str, tmp_path: Path) -> None:
    """What names the server is normalised, what tells who asks is left out, the rest stays as it is spelled."""
    assert expected == keyed(tmp_path, interaction(url=url))["url"]


def test_an_endpoint_stands_for_scheme_host_and_port(tmp_path: Path) -> None:
    """Path and query stay."""
    made = interaction(url="http://localhost:8787/v1/x?a=1")

    assert "endpoint:gateway/v1/x?a=1" == keyed(tmp_path, made, "gateway")["url"]


def test_only_version_headers_are_in_the_key(tmp_path: Path) -> None:
    """The others are the client's noise, and some of them its credentials."""
    made = interaction()
    made["request"]["headers"] = {
        "Anthropic-Version": ["2023-06-01"], "ANTHROPIC-BETA": ["b", "c"], "openai-beta": "x", "Authorization": [f"Bearer {KEY}"],
        "X-Stainless-Lang": ["python"], "OpenAI-Organization": ["org"], "Cookie": ["a=b"],
    }  # fmt: skip

    assert {"anthropic-beta": "b, c", "anthropic-version": "2023-06-01", "openai-beta": "x"} == keyed(tmp_path, made)[
        "headers"
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (None, {}),
        ("", {}),
        ('{"b": 1, "a": 1.0}', {"body": {"b": 1, "a": 1.0}}),
        ("[1]", {"body": [1]}),
        ("7", {"body": 7}),
        ("null", {"body_text": "null"}),
        ("a=1&b=2", {"body_text": "a=1&b=2"}),
        ('{"a": 1, "a": 2}', {"body_text": '{"a": 1, "a": 2}'}),
        ('{"a": NaN}', {"body_text": '{"a": NaN}'}),
        ('{"seed": 18446744073709551617}', {"body": {"seed": 18446744073709551617}}),
        ({"string": '{"a": 1}'}, {"body": {"a": 1}}),
        ({"model": "m"}, {"body": {"model": "m"}}),
    ],
)
def test_a_body_is_json_or_text(body: Any, expected: dict[str, Any], tmp_path: Path) -> None:
    """No number changes its value, and what strict JSON refuses is keyed as the text that it is."""
    made = interaction()
    made["request"]["body"] = body
    document = keyed(tmp_path, made)

    assert expected == {name: value for name, value in document.items() if name.startswith("body")}


def test_the_order_of_a_schema_s_properties_is_keyed(tmp_path: Path) -> None:
    """It reaches the model."""
    properties = {"b": {"type": "string"}, "a": {"type": "string"}}
    tools = [
        {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": properties}}}
    ]
    document = keyed(tmp_path, interaction(json.dumps({"tools": tools})))

    assert {"/body/tools/0/function/parameters/properties": ["b", "a"]} == document["order"]


SUITE = Suite("s", Path("whichclock.toml"), Path(), {}, (), (), Path("snapshots"), Path("results"))


def rendered(table: dict[str, Any], body: dict[str, Any]) -> str:
    """Return the request hash of a case with a body for a target."""
    target: Target = make("t", table, Place("whichclock.toml"), Salts(Path()))
    return render(SUITE, Case("c", "cases.yaml:1", body=body), target).request_hash


def test_an_imported_request_has_the_key_of_the_target_that_would_send_it(tmp_path: Path) -> None:
    """A suite finds what was imported, with and without an endpoint."""
    body = json.loads(asked("Q"))
    named = {"type": "openai", "base_url": "https://elsewhere.example.com/v1", "endpoint": "openai"}

    assert rendered({"type": "openai", "base_url": "https://api.example.com/v1"}, body) == request.request_hash(
        keyed(tmp_path / "a", interaction())
    )
    assert rendered(named, body) == request.request_hash(keyed(tmp_path / "b", interaction(), "openai"))


def test_an_anthropic_request_has_it_too(tmp_path: Path) -> None:
    """Its version header is the one that the type sends."""
    body = {"model": "m", "max_tokens": 5, "messages": []}
    made = interaction(json.dumps(body), url="https://api.anthropic.com/v1/messages")
    made["request"]["headers"]["anthropic-version"] = ["2023-06-01"]

    assert rendered({"type": "anthropic", "base_url": "https://api.anthropic.com"}, body) == request.request_hash(
        keyed(tmp_path, made)
    )


def multipart() -> dict[str, Any]:
    """Return a request that uploads a file."""
    made = interaction('--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nA\r\n--x--\r\n')
    made["request"]["headers"]["Content-Type"] = ["multipart/form-data; boundary=x"]
    return made


def odd(**request_members: Any) -> dict[str, Any]:
    """Return an interaction whose request has other members."""
    made = interaction()
    made["request"].update(request_members)
    return made


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ({"request_sample": {}, "response_sample": {}}, "a gRPC call"),
        ({"request_stream": {}, "response_stream": {}}, "a gRPC call"),
        (odd(headers={"content-type": ["application/grpc+proto"]}), "a gRPC call"),
        ({"kind": "message", "direction": "sent", "data": {}}, "a message of a WebSocket session"),
        (odd(uri="wss://api.example.com/v1/realtime"), "a WebSocket session"),
        (interaction(status=101), "a WebSocket session"),
        (multipart(), "a multipart request"),
        (odd(body={"base64_string": "/wA="}), "the request's body is no text"),
        (odd(body={"base64_string": "###"}), "the body is no base64"),
        (odd(body={"string": 7}), "the body's string is no text"),
        (odd(uri="https://api.example.com/a b"), "the URL holds a space"),
        (odd(uri="https://api.example.com/a\nb"), "the URL holds a space or a control character"),
        (odd(uri="/v1/x"), "the URL is no absolute http or https URL"),
        (odd(uri="https://[::1"), "the URL is"),
        (odd(uri="https://x:99999999/"), "the URL is no URL"),
        (odd(uri=None), "the request has no URL"),
        (odd(uri=""), "the URL is no text"),
        (odd(method=None), "the method is no text"),
        (odd(method="PO ST"), "the method is no word"),
        (7, "the entry is no interaction"),
        ({"request": 7, "response": {}}, "the entry has no request and response"),
        ({"request": {}, "response": None}, "the entry has no request and response"),
        (
            odd(body=json.dumps({"messages": [{"content": KEY}]})),
            "the request holds what looks like a credential at /request/body",
        ),
        (odd(uri=f"https://api.example.com/{KEY}/x"), "the request holds what looks like a credential at /request/url"),
        (odd(body="grant_type=refresh_token&refresh_token=abc"), "the request holds a credential: refresh_token"),
    ],
)
def test_what_no_target_could_send_is_refused_by_name(made: Any, reason: str, tmp_path: Path) -> None:
    """The other interaction of the cassette is imported, and no secret is shown."""
    result = run(tmp_path / "store", cassettes.write(tmp_path / "c.json", made, interaction(asked("other"))))

    assert (1, 0) == (result.summary()["imported"], result.files[0].refused[0].index)
    assert reasons(result)[0].startswith(reason)
    assert KEY not in reasons(result)[0]
