"""Requests to programs: protocol 1 on standard input; the documents are those that existing programs read."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from golden.model import Suite, Target
from golden.render import ProgramWire, render_request
from snapshots.errors import CallError, ConfigError
from tests.golden.rendering import CALL, HI, SCHEMA, TOOL, made

KIND = "exec"


def program(case: dict[str, Any], **target: Any) -> Any:
    return made(KIND, case, **{"command": ("./sut",), **target})


def test_a_prompt_is_a_document_of_kind_provider() -> None:
    """The vector D6 of the protocol, but that its prompt is a list of messages."""
    assert {
        "transport": "exec",
        "command": ["./sut"],
        "stdin": {
            "domarinn": {"kind": "provider", "protocol": 1},
            "params": {},
            "prompt": {"messages": [{"role": "user", "content": "hi"}]},
            "vars": {"x": "a"},
        },
    } == program({"prompt": "hi", "vars": {"x": "a"}}).document


def test_members_of_a_request_are_params_and_tools() -> None:
    """Model and params of the target below those of the case; tools and calls in the protocol's shape."""
    request = {
        "messages": [
            *HI,
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": "shipped"},
        ],
        "tools": [TOOL],
        "temperature": 0,
        "seed": None,
    }
    stdin = program({"request": request}, model="m1", params={"temperature": 1, "beam": 4}).document["stdin"]

    assert {
        "domarinn": {"kind": "provider", "protocol": 1},
        "params": {"model": "m1", "temperature": 0, "beam": 4, "seed": None},
        "prompt": {
            "messages": [
                {"role": "user", "content": "hi"},
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"id": "call_1", "name": "get_order", "arguments": {"order_id": "A-17"}}],
                },
                {"role": "tool", "tool_call_id": "call_1", "content": "shipped"},
            ]
        },
        "vars": {},
        "tools": [
            {
                "name": "get_order",
                "description": "Look up an order.",
                "input_schema": TOOL["function"]["parameters"],
            }
        ],
    } == stdin


def test_arguments_that_are_no_json_stay_text() -> None:
    """A model said them, and the program may say so."""
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{a"}}
    stdin = program({"request": {"messages": [{"role": "assistant", "tool_calls": [call]}]}}).document["stdin"]

    assert "{a" == stdin["prompt"]["messages"][0]["tool_calls"][0]["arguments"]


def test_a_request_with_an_output_is_a_document_of_kind_assert() -> None:
    """The vector D7 of the protocol, member by member."""
    request = {
        "config": {"value": "hello"},
        "output": "hello, world",
        "provider": {"id": "renderer"},
        "vars": {"user_input": "hello world"},
    }

    assert {
        "transport": "exec",
        "command": ["./check.py", "--strict"],
        "stdin": {
            "config": {"value": "hello"},
            "domarinn": {"kind": "assert", "protocol": 1},
            "output": "hello, world",
            "provider": {"id": "renderer"},
            "vars": {"user_input": "hello world"},
        },
    } == program({"request": request}, command=("./check.py", "--strict")).document


def test_what_an_assert_does_not_say_is_null_and_empty() -> None:
    """The protocol's own defaults; params are of completions alone."""
    stdin = program({"request": {"output": "x", "tool_calls": []}}, params={"a": 1}).document["stdin"]

    assert {
        "domarinn": {"kind": "assert", "protocol": 1},
        "config": None,
        "output": "x",
        "tool_calls": [],
        "vars": {},
    } == stdin


def test_a_body_is_the_whole_input() -> None:
    """For programs that speak something else."""
    assert {"question": "hi"} == program({"body": {"question": "hi"}}, params={"a": 1}).document["stdin"]


def test_the_environment_is_keyed_by_its_digest() -> None:
    """Declared names and values, what is read at call time by its name; an empty table is undeclared."""
    declared = program({"prompt": "hi"}, env={"B": "{{ env.TOKEN }}", "A": "x"}).document["env"]

    assert "sha256:" + hashlib.sha256(b'{"A":"x","B":"${env:TOKEN}"}').hexdigest() == declared
    assert program({"prompt": "hi"}).document == program({"prompt": "hi"}, env={}).document


def test_the_wire_form_is_the_command_with_its_values() -> None:
    """Nothing secret is in its representation; the version of the protocol is in the environment and in no key."""
    rendered = program(
        {"prompt": "hi {{ env.Q }}"}, command=("./sut", "--to={{ env.H }}"), env={"API": "{{ env.K }}", "N": "1"}
    )
    wire = rendered.wire({"H": "box", "K": "sk-test-key", "Q": "q", "OTHER": "no"})

    assert isinstance(wire, ProgramWire)
    assert ("./sut", "--to=box") == wire.command
    assert {"DOMARINN_PROTOCOL": "1", "API": "sk-test-key", "N": "1"} == wire.env
    assert {"messages": [{"role": "user", "content": "hi q"}]} == json.loads(wire.stdin)["prompt"]
    assert (Path("/project"), ("sk-test-key", "box", "q")) == (wire.cwd, wire.secrets)
    assert ("H", "K", "Q") == rendered.env
    assert "ProgramWire()" == repr(wire)


def test_a_null_character_cannot_become_a_word() -> None:
    """No system takes one in a command or an environment."""
    with pytest.raises(CallError, match="target t: a word of the command or a value of its environment holds a null"):
        program({"prompt": "hi"}, env={"A": "{{ env.K }}"}).wire({"K": "a\0b"})


def test_the_order_of_a_schema_is_kept() -> None:
    """A program may hand it on to a model."""
    tool = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}
    format_ = {"type": "json_schema", "json_schema": {"name": "r", "schema": SCHEMA}}
    request = {"messages": HI, "tools": [tool], "response_format": format_}

    assert {
        "/stdin/tools/0/input_schema/properties": ["b", "a"],
        "/stdin/params/response_format/json_schema/schema/properties": ["b", "a"],
    } == program({"request": request}).document["order"]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"temperature": 0}, "no member 'messages' at /request"),
        ({"messages": "hi"}, 'found "hi", expected a list at /request/messages'),
        ({"messages": ["hi"]}, 'found "hi", expected a mapping at /request/messages/0'),
        (
            {"messages": HI, "tools": [{"type": "custom"}]},
            "a tool of type 'custom' cannot be expressed in a request of type exec at /request/tools/0/type",
        ),
        (
            {"messages": HI, "tools": [{"type": "function", "function": {"name": "f", "strict": True}}]},
            "strict cannot be expressed in a request of type exec at /request/tools/0/function/strict",
        ),
    ],
)
def test_what_has_no_place_is_named(request_: dict[str, Any], message: str) -> None:
    """Before any program runs."""
    with pytest.raises(ConfigError) as caught:
        program({"request": request_})

    assert f"a.yaml:1: {message}" == caught.value.message


def test_a_grader_asks_by_the_same_code() -> None:
    """Its own salt in the place of a case's, its vars in the place of a case's."""
    here = Path("/project")
    to = Target(name="t", type=KIND, command=("./check.py",), salt="s1")
    suite = Suite("s", here / "whichclock.toml", here, {"t": to}, (), (), here / "snapshots", here / "results")
    rendered = render_request(suite, {"output": "x"}, to, salt="s2", vars={"v": 1}, place="grader g")

    assert {
        "transport": "exec",
        "command": ["./check.py"],
        "stdin": {
            "domarinn": {"kind": "assert", "protocol": 1},
            "config": None,
            "vars": {"v": 1},
            "output": "x",
        },
        "salt": {"target": "s1", "case": "s2"},
    } == rendered.document
