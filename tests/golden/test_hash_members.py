"""What moves a request hash and what does not: every member of a request document, and everything that stays out of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from golden.model import Case, Suite, Target
from golden.render import render

TOOL: dict[str, Any] = {"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {}, "b": {}}}}}
TURNED: dict[str, Any] = {
    "type": "function",
    "function": {"name": "f", "parameters": {"properties": {"b": {}, "a": {}}}},
}
HI = {"role": "user", "content": "hi"}

CASE = Case(
    id="c",
    place="a.yaml:1",
    request={"messages": [HI], "tools": [TOOL]},
    vars={"v": 1},
    expected=("a",),
    salt="s",
)
CHAT = Target(
    name="t",
    type="openai",
    base_url="https://api.example.com/v1",
    model="m1",
    params={"temperature": 0, "user": "{{ env.U }}"},
    headers={"X-Tenant": "acme"},
    query={"api-version": "1"},
    api_key="{{ env.K }}",
    salt="t",
)
SERVICE = Target(
    name="t",
    type="http",
    url="https://sut.example.com/a?k={{ env.K }}",
    headers={"X-Tenant": "acme", "Authorization": "Bearer {{ env.K }}"},
    body={"m": "{{ messages }}"},
    salt="t",
)
PROGRAM = Target(
    name="t",
    type="exec",
    command=("./sut", "{{ env.U }}"),
    env={"A": "1", "TOKEN": "{{ env.K }}"},
    model="m1",
    params={"temperature": 0},
    salt="t",
)
TARGETS = {"chat": CHAT, "service": SERVICE, "program": PROGRAM}
# A template of a service has no place for tools.
CASES = {"chat": CASE, "service": replace(CASE, request={"messages": [HI]}), "program": CASE}


def key(case: Case, target: Target, root: Path = Path("/project")) -> str:
    suite = Suite("s", root / "c.toml", root, {"t": target}, (case,), (), root / "snapshots", root / "results")
    rendered = render(suite, case, target)
    rendered.wire({"K": "sk-test-key", "U": "someone"})
    return rendered.request_hash


def with_tools(*tools: dict[str, Any]) -> dict[str, Any]:
    return {"request": {"messages": [HI], "tools": list(tools)}}


CASE_MOVES: list[dict[str, Any]] = [
    {"request": {"messages": [{"role": "user", "content": "hi "}], "tools": [TOOL]}},
    {"request": {"messages": [{"role": "system", "content": "hi"}], "tools": [TOOL]}},
    {"request": {"messages": [HI, HI], "tools": [TOOL]}},
    {"salt": "other"},
    {"salt": ""},
    {"salt": None},
]
CHAT_CASE_MOVES: list[dict[str, Any]] = [
    with_tools(TURNED),
    with_tools(),
    {"request": {"messages": [HI], "tools": [TOOL], "temperature": 1}},
    {"request": {"messages": [HI], "tools": [TOOL], "seed": None}},
    {"request": {"messages": [HI], "tools": [TOOL], "frobnicate": True}},
]
MOVES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    *((name, change, {}) for name in TARGETS for change in CASE_MOVES if name != "service" or "request" not in change),
    *((name, change, {}) for name in ("chat", "program") for change in CHAT_CASE_MOVES),
    ("service", {"request": {"messages": [HI, HI]}}, {}),
    ("program", {"vars": {"v": 2}}, {}),
    ("program", {"vars": {}}, {}),
    *((name, {}, {"salt": salt}) for name in TARGETS for salt in ("other", "", None)),
    *(
        ("chat", {}, change)
        for change in (
            {"base_url": "https://api.example.com/v2"},
            {"base_url": "https://other.example.com/v1"},
            {"base_url": "http://api.example.com/v1"},
            {"base_url": "https://api.example.com:8443/v1"},
            {"endpoint": "gw"},
            {"type": "openai-responses"},
            {"model": "m2"},
            {"model": None},
            {"params": {"temperature": 0.1, "user": "{{ env.U }}"}},
            {"params": {"temperature": 0, "user": "{{ env.K }}"}},
            {"headers": {"X-Tenant": "other"}},
            {"headers": {"X-Other": "acme"}},
            {"headers": {}},
            {"headers": {"X-Tenant": "acme", "OpenAI-Beta": "a"}},
            {"query": {"api-version": "2"}},
            {"query": {}},
        )
    ),
    *(
        ("service", {}, change)
        for change in (
            {"url": "https://sut.example.com/b?k={{ env.K }}"},
            {"url": "https://sut.example.com/a/?k={{ env.K }}"},
            {"url": "https://sut.example.com/a?k={{ env.U }}"},
            {"endpoint": "gw"},
            {"method": "PUT"},
            {"headers": {"X-Tenant": "other"}},
            {"body": {"messages": "{{ messages }}"}},
            {"body": {"m": "{{ messages }}", "x": "{{ env.K }}"}},
            {"body": None},
            {"body": None, "body_text": "{{ messages }}"},
            {"headers": {"X-Tenant": "acme", "Content-Type": "application/json"}},
        )
    ),
    *(
        ("program", {}, change)
        for change in (
            {"command": ("./other", "{{ env.U }}")},
            {"command": ("./sut",)},
            {"command": ("./sut", "{{ env.K }}")},
            {"env": {"A": "2", "TOKEN": "{{ env.K }}"}},
            {"env": {"B": "1", "TOKEN": "{{ env.K }}"}},
            {"env": {"A": "1", "TOKEN": "{{ env.U }}"}},
            {"env": {}},
            {"model": "m2"},
            {"params": {"temperature": 2}},
            {"params": {}},
        )
    ),
]
STAYS_CASE: list[dict[str, Any]] = [
    {"id": "other"},
    {"place": "b.yaml:9"},
    {"tags": ("x",)},
    {"trials": 5},
    {"pass_rule": "any"},
    {"expected": ("b",)},
    {"graders": ("g",)},
    {"checks": ({"contains": "x"},)},
    {"allowed_tools": ("f",)},
    {"context": {"now": "2026-01-01T00:00:00Z"}},
    {"known": "failing"},
    {"targets": ("t", "u")},
]
STAYS_TARGET: list[dict[str, Any]] = [
    {"name": "u"},
    {"timeout_s": 1.0},
    {"retries": 0},
    {"concurrency": 1},
    {"requests_per_minute": 1.0},
    {"tokens_per_minute": 1.0},
]
STAYS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    *((name, change, {}) for name in TARGETS for change in STAYS_CASE),
    *((name, {"vars": {"v": 2}}, {}) for name in ("chat", "service")),
    *((name, {}, change) for name in TARGETS for change in STAYS_TARGET),
    *(
        (name, {}, change)
        for name in ("chat", "service")
        for change in ({"connect_timeout_s": 1.0}, {"first_byte_timeout_s": 1.0}, {"accept_status": (404,)})
    ),
    ("chat", {}, {"api_key": "{{ env.U }}"}),
    ("chat", {}, {"api_key": None}),
    ("chat", {}, {"headers": {"x-tenant": "acme", "Cookie": "{{ env.K }}"}}),
    ("chat", {}, {"base_url": "HTTPS://API.Example.com:443/v1/"}),
    ("service", {}, {"select": "/a"}),
    ("service", {}, {"volatile": ("/id",)}),
    ("service", {}, {"headers": {"X-Tenant": "acme", "Authorization": "Bearer {{ env.U }}"}}),
    ("service", {}, {"url": "HTTPS://SUT.example.com:443/a?k={{ env.K }}#top"}),
]


@pytest.mark.parametrize(("name", "case", "target"), MOVES, ids=repr)
def test_what_is_asked_moves_the_hash(name: str, case: dict[str, Any], target: dict[str, Any]) -> None:
    """One change, another key."""
    before = key(CASES[name], TARGETS[name])

    assert before != key(replace(CASES[name], **case), replace(TARGETS[name], **target))


@pytest.mark.parametrize(("name", "case", "target"), STAYS, ids=repr)
def test_everything_else_does_not(name: str, case: dict[str, Any], target: dict[str, Any]) -> None:
    """Who asks, how patiently, and what is thought of the answer."""
    before = key(CASES[name], TARGETS[name])

    assert before == key(replace(CASES[name], **case), replace(TARGETS[name], **target))


@pytest.mark.parametrize("name", TARGETS)
def test_the_folder_of_the_project_is_in_no_key(name: str) -> None:
    """A program runs in it, and still."""
    assert key(CASES[name], TARGETS[name]) == key(CASES[name], TARGETS[name], Path("/elsewhere"))


@pytest.mark.parametrize("name", TARGETS)
def test_all_changes_give_different_keys(name: str) -> None:
    """No two of them are one request."""
    changed = [(case, target) for other, case, target in MOVES if other == name]
    keys = [key(replace(CASES[name], **case), replace(TARGETS[name], **target)) for case, target in changed]

    assert len(keys) == len(set(keys))
