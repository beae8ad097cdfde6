"""Rendering gives the documents and hashes of the known answers, and a wire form that differs only where a secret stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.model import Case, Suite, Target
from golden.render import Rendered, render
from snapshots import canonical
from snapshots.errors import CallError, ConfigError
from tests.golden.conftest import Project

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "requests.json").read_text("utf-8"))["requests"]


def suite_of(case: Case, target: Target) -> Suite:
    here = Path()
    return Suite("s", here / "whichclock.toml", here, {"t": target}, (case,), (), here / "snapshots", here / "results")


def made(target: dict[str, Any], case: dict[str, Any]) -> Rendered:
    to = Target(**{"name": "t", "type": "openai", "base_url": "https://api.example.com/v1", **target})
    one = Case(id="c", place="a.yaml:1", **case)
    return render(suite_of(one, to), one, to)


@pytest.mark.parametrize("vector", VECTORS, ids=[v["name"] for v in VECTORS])
def test_known_requests_have_their_documents_and_hashes(vector: dict[str, Any]) -> None:
    """Document, canonical text and hash, value by value."""
    rendered = made(vector["given"]["target"], vector["given"]["case"])

    assert vector["request"] == rendered.document
    assert vector["canonical"] == canonical.encode(rendered.document).decode()
    assert vector["request_hash"] == rendered.request_hash


def test_the_same_values_in_toml_and_yaml_give_the_same_request(project: Project) -> None:
    """The first known answer, through files."""
    project.config(
        'suite = "s"\ncases = ["cases/*"]\n[targets.t]\ntype = "openai"\nbase_url = "HTTPS://API.Example.com:443/v1/"\n'
        'model = "m1"\nparams = { temperature = 0.0 }\napi_key = "{{ env.K }}"\n'
    )
    project.write("cases/a.yaml", "cases:\n- id: c\n  request:\n    messages: [{role: user, content: hi}]\n")
    suite = project.load()

    assert VECTORS[0]["request_hash"] == render(suite, suite.cases[0], suite.targets["t"]).request_hash


def test_the_wire_form_has_the_credential_and_the_order_of_the_author() -> None:
    """Model, then params, then the request's own members; numbers as the canonical form prints them."""
    rendered = made(
        {
            "model": "m1",
            "params": {"temperature": 1.0, "a": None},
            "api_key": "{{ env.K }}",
            "headers": {"X-T": "{{ env.T }}"},
        },
        {"request": {"messages": [{"role": "user", "content": "hé"}], "temperature": 0.50}},
    )
    wire = rendered.wire({"K": "sk-test-key", "T": "t", "OTHER": "no"})

    assert ("POST", "https://api.example.com/v1/chat/completions") == (wire.method, wire.url)
    assert {"X-T": "t", "Authorization": "Bearer sk-test-key", "content-type": "application/json"} == wire.headers
    assert '{"model":"m1","temperature":0.5,"a":null,"messages":[{"role":"user","content":"hé"}]}'.encode() == wire.body
    assert ("sk-test-key", "t") == wire.secrets
    assert ("K", "T") == rendered.env


def test_the_document_never_holds_what_the_environment_holds() -> None:
    """Every place that may read it is keyed by name."""
    rendered = made(
        {
            "base_url": "https://api.example.com/{{ env.A }}/v1",
            "query": {"key": "{{ env.B }}"},
            "headers": {"X-C": "{{ env.C }}"},
            "params": {"user": "u {{ env.D }}", "metadata": {"l": ["{{ env.E }}"]}},
            "model": "{{ env.F }}",
            "api_key": "{{ env.G }}",
        },
        {"prompt": "say {{ env.H }}"},
    )
    environ = {name: f"value of {name}" for name in "ABCDEFGH"}
    wire = rendered.wire(environ)

    assert tuple("ABCDEFGH") == rendered.env
    assert "value of" not in json.dumps(rendered.document)
    assert "https://api.example.com/${env:A}/v1/chat/completions?key=${env:B}" == rendered.document["url"]
    assert {"user": "u ${env:D}", "metadata": {"l": ["${env:E}"]}, "model": "${env:F}"}.items() <= rendered.document[
        "body"
    ].items()
    assert "say ${env:H}" == rendered.document["body"]["messages"][0]["content"]
    assert "https://api.example.com/value%20of%20A/v1/chat/completions?key=value%20of%20B" == wire.url
    assert "say value of H" == json.loads(wire.body)["messages"][0]["content"]
    assert tuple(environ.values()) == wire.secrets


def test_who_asks_is_no_part_of_the_key() -> None:
    """Another credential variable, another timeout, another id: the same hash."""
    case: dict[str, Any] = {"prompt": "hi"}
    plain = made({}, case).request_hash

    assert plain == made({"api_key": "{{ env.K }}"}, case).request_hash
    assert plain == made({"timeout_s": 5, "retries": 0, "concurrency": 1, "name": "other"}, case).request_hash
    assert (
        plain
        == made({}, {**case, "tags": ("x",), "expected": ("a",), "graders": ("g",), "vars": {"v": 1}}).request_hash
    )
    assert plain != made({"endpoint": "e"}, case).request_hash
    assert plain != made({}, {"prompt": "hi "}).request_hash


def test_an_unset_variable_is_an_error_of_the_call_only() -> None:
    """Rendering and grading need no credentials."""
    rendered = made({"api_key": "{{ env.K }}"}, {"prompt": "hi"})
    with pytest.raises(CallError) as caught:
        rendered.wire({})

    assert ("variable K is not set", "set K where capture runs") == (caught.value.message, caught.value.hint)


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "key\n", "\x00"])
def test_a_value_with_a_line_end_cannot_become_a_header(value: str) -> None:
    """The message names the header and not the value."""
    with pytest.raises(CallError) as caught:
        made({"api_key": "{{ env.K }}"}, {"prompt": "hi"}).wire({"K": value})

    assert "target t: the value of header 'Authorization' holds a control character" == caught.value.message


def test_bytes_that_are_no_text_are_not_sent() -> None:
    """They have no JSON form; the value is not repeated."""
    with pytest.raises(CallError, match="the value of variable K is not UTF-8"):
        made({"params": {"user": "{{ env.K }}"}}, {"prompt": "hi"}).wire({"K": "a\udcff"})


def test_the_representation_of_a_wire_form_shows_no_secret() -> None:
    """Tracebacks and logs print representations."""
    wire = made({"api_key": "{{ env.K }}"}, {"prompt": "hi"}).wire({"K": "sk-test-key"})

    assert "Wire(method='POST')" == repr(wire)


def test_an_empty_key_is_not_sent() -> None:
    """Automation sets unset secrets to empty text."""
    with pytest.raises(CallError, match="the api_key is empty"):
        made({"api_key": "{{ env.K }}"}, {"prompt": "hi"}).wire({"K": ""})


def test_a_declared_content_type_is_kept() -> None:
    """Not doubled."""
    wire = made({"headers": {"Content-Type": "application/json; charset=utf-8"}}, {"prompt": "hi"}).wire({})

    assert {"Content-Type": "application/json; charset=utf-8"} == wire.headers


def test_a_body_is_sent_as_it_is() -> None:
    """Neither model nor params of the target are merged."""
    rendered = made({"model": "m1", "params": {"temperature": 0}}, {"body": {"model": "m2", "input": "hi"}})

    assert {"model": "m2", "input": "hi"} == rendered.document["body"]


def test_a_member_of_the_case_replaces_the_whole_member_of_the_target() -> None:
    """One level deep; null is sent, not removed."""
    rendered = made(
        {"params": {"metadata": {"a": 1}, "stop": ["x"]}}, {"request": {"metadata": {"b": 2}, "stop": None}}
    )

    assert {"metadata": {"b": 2}, "stop": None} == rendered.document["body"]


def test_requests_are_literal(project: Project) -> None:
    """Braces in them are text."""
    request = {"messages": [{"role": "user", "content": "{{ env.X }} {% raw %}"}]}

    assert request["messages"] == project.rendered(request=request, vars={"a": 1}).document["body"]["messages"]


def test_messages_of_a_prompt_are_templates_in_their_texts_only(project: Project) -> None:
    """Contents and the texts of parts; roles, images and tool calls are literal."""
    image = {"type": "image_url", "image_url": {"url": "data:{{ who }}"}}
    rendered = project.rendered(
        prompt=[
            {"role": "system", "content": "You are {{ who }}.", "name": "{{ who }}"},
            {"role": "user", "content": [{"type": "text", "text": "I am {{ who }}"}, image]},
            {"role": "assistant", "content": None, "tool_calls": []},
        ],
        vars={"who": "no one"},
    )

    assert [
        {"role": "system", "content": "You are no one.", "name": "{{ who }}"},
        {"role": "user", "content": [{"type": "text", "text": "I am no one"}, image]},
        {"role": "assistant", "content": None, "tool_calls": []},
    ] == rendered.document["body"]["messages"]


def test_a_prompt_file_is_one_user_message(project: Project) -> None:
    """With its trailing newline; CRLF reads as LF, so that a checkout re-keys nothing."""
    project.write("p.txt", "Hi {{ who }}\r\nbye\r\n")

    assert [{"role": "user", "content": "Hi you\nbye\n"}] == (
        project.rendered(prompt={"file": "p.txt"}, vars={"who": "you"}).document["body"]["messages"]
    )


def test_a_changed_prompt_file_is_another_request_and_a_renamed_one_is_not(project: Project) -> None:
    """The text is keyed, its path is not."""
    project.write("p.txt", "one")
    first = project.rendered(prompt={"file": "p.txt"}).request_hash
    project.write("q.txt", "one")
    renamed = project.rendered(prompt={"file": "q.txt"}).request_hash
    project.write("p.txt", "onf")

    assert first == renamed
    assert first != project.rendered(prompt={"file": "p.txt"}).request_hash


def test_one_loading_sees_one_state_of_the_files(project: Project) -> None:
    """A file that is edited during a run does not split it."""
    project.write("p.txt", "before")
    project.cases({"id": "c", "prompt": {"file": "p.txt"}})
    suite = project.load()
    project.write("p.txt", "after")

    rendered = render(suite, suite.cases[0], suite.targets["gpt"])

    assert "before" == rendered.document["body"]["messages"][0]["content"]


def test_an_error_in_a_template_names_the_case(project: Project) -> None:
    """The author finds it."""
    with pytest.raises(ConfigError) as caught:
        project.rendered(prompt="{{ who }}")

    assert "cases/a.json#/0: template (line 1 of the text): 'who' is undefined at /prompt" == caught.value.message


bodies = st.dictionaries(
    st.text("abé😀\uff20", max_size=3),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text("{}$ env.é", max_size=6),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xyz", max_size=2), inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


@given(bodies, bodies)
def test_what_is_keyed_is_what_is_sent(params: dict[str, Any], request: dict[str, Any]) -> None:
    """Without variables the body on the wire is the body in the document, and equal requests have equal hashes."""
    rendered = made({"params": params}, {"request": request})

    assert canonical.encode(rendered.document["body"]) == canonical.encode(json.loads(rendered.wire({}).body))
    assert made({"params": dict(reversed(params.items()))}, {"request": request}).request_hash == rendered.request_hash
