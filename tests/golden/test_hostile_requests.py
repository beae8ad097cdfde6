"""Whatever a case or a grader puts into a request, rendering gives a document or an error about its place."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.target_type import TYPES
from snapshots.errors import ConfigError
from tests.golden.rendering import CALL, FORMAT, HI, PIXEL, TOOL, made

SENSIBLE: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "a"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "b"},
                {"type": "image_url", "image_url": {"url": PIXEL}},
                {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERg=="}},
                {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
            ],
        },
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "d"},
    ],
    "tools": [TOOL],
    "tool_choice": {"type": "function", "function": {"name": "get_order"}},
    "response_format": FORMAT,
    "stop": ["x"],
    "stream": True,
    "stream_options": {"include_usage": True},
    "parallel_tool_calls": False,
    "max_tokens": 5,
    "logprobs": True,
}
ODD: list[Any] = [
    None,
    True,
    0,
    -1.5,
    "",
    "text",
    [],
    [None],
    ["x"],
    {},
    {"type": "x"},
    {"function": {}},
    [{"type": "function"}],
    [{}],
]
# What may stand in a case of each type: everything for a program, nothing but messages for a service.
OPTIONS = {
    "gemini": {"model": "m1"},
    "http": {"url": "https://h.example.com/", "body": {"m": "{{ messages }}"}},
    "exec": {"command": ("./a",)},
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for name, item in inner for found in places(item, (*path, name)))]


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    """Return a JSON value with one part of it replaced."""
    if not path:
        return by
    if isinstance(value, dict):
        return {name: replaced(item, path[1:], by) if name == path[0] else item for name, item in value.items()}
    return [replaced(item, path[1:], by) if i == path[0] else item for i, item in enumerate(value)]


def attempt(kind: str, request: dict[str, Any], params: dict[str, Any] | None = None) -> None:
    options = {"params": params} if params is not None else {}
    with contextlib.suppress(ConfigError):
        made(kind, {"request": request}, **OPTIONS.get(kind, {"model": "m1"}), **options).wire({})


@pytest.mark.parametrize("kind", TYPES)
def test_a_request_with_one_odd_part_is_no_surprise(kind: str) -> None:
    """Every part of a sensible request, replaced by everything that it is not; in the case and in params."""
    for path in places(SENSIBLE)[1:]:
        for odd in ODD:
            request = replaced(SENSIBLE, path, odd)
            attempt(kind, request)
            if path[0] != "messages":
                attempt(kind, {"messages": HI}, {path[0]: request[path[0]]})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "role", "content", "function", "name", "text", "x"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(sorted(TYPES)), st.dictionaries(st.sampled_from([*SENSIBLE, "output", "input", "x"]), json_values)
)
def test_no_request_at_all_is_a_surprise(kind: str, request: dict[str, Any]) -> None:
    """Numbers that are none, texts that are none, and what nobody would write."""
    attempt(kind, request)


def test_the_sensible_request_is_understood() -> None:
    """Else the test above would show nothing."""
    understood = {name: value for name, value in SENSIBLE.items() if name not in ("logprobs",)}
    user = replaced(understood, ("messages", 1, "content"), "b")

    assert made("anthropic", {"request": user}, model="m1").document["body"]["messages"]
    assert made("openai-responses", {"request": {**user, "stop": None}}, model="m1").document["body"]["input"]
    assert made("gemini", {"request": {**SENSIBLE, "parallel_tool_calls": True}}, model="m1").document["body"][
        "contents"
    ]
