"""What changed between two requests: pointers, and the part each belongs to."""

from __future__ import annotations

from typing import Any

import pytest

from diff.request_changes import part_of, request_changes


@pytest.mark.parametrize(
    ("pointer", "part"),
    [
        ("/body/messages/0/content", "prompt"),
        ("/body/system", "prompt"),
        ("/body/input/0", "prompt"),
        ("/stdin/prompt", "prompt"),
        ("/body/tools/0/function/name", "tools"),
        ("/body/tool_choice", "tools"),
        ("/body/functions", "tools"),
        ("/body/model", "model"),
        ("/body/temperature", "params"),
        ("/body/response_format/json_schema", "params"),
        ("/body/frobnicate", "params"),
        ("/salt/case", "salt"),
        ("/salt", "salt"),
        ("/url", "endpoint"),
        ("/headers/x-tenant", "endpoint"),
        ("/method", "endpoint"),
        ("/command/0", "endpoint"),
        ("/env", "endpoint"),
    ],
)
def test_a_pointer_belongs_to_a_part(pointer: str, part: str) -> None:
    """Prompt, tools, model, salt, endpoint; the rest is params."""
    assert part == part_of(pointer)


def body(**members: Any) -> dict[str, Any]:
    """Return a request document."""
    return {"transport": "http", "method": "POST", "url": "https://api.example.com/v1", "body": members}


@pytest.mark.parametrize(
    ("old", "new", "pointers"),
    [
        (body(a=1), body(a=1.0), []),
        (body(a=1), body(a=True), ["/body/a"]),
        (body(a=None), body(), ["/body/a"]),
        (body(m=[1, 2]), body(m=[1, 2, 3]), ["/body/m/2"]),
        (body(m={"x/y": 1}), body(m={"x/y": 2}), ["/body/m/x~1y"]),
        ({**body(), "salt": {"case": "a"}}, body(), ["/salt"]),
    ],
)
def test_the_smallest_differing_parts_are_named(old: dict[str, Any], new: dict[str, Any], pointers: list[str]) -> None:
    """Pointers go as deep as the difference does; equal numbers are equal, true is no number."""
    assert pointers == [c["pointer"] for c in request_changes(old, new)]


def test_a_changed_order_is_shown_at_the_properties_it_names() -> None:
    """The order member itself is bookkeeping; people edited a schema."""
    at = "/body/tools/0/function/parameters/properties"
    old = {**body(), "order": {at: ["b", "a"]}}

    assert [{"pointer": at, "part": "tools"}] == request_changes(old, body())
    assert [{"pointer": at, "part": "tools"}] == request_changes(old, {**body(), "order": {at: ["b", "c", "a"]}})


GEMINI = "https://api.example.com/v1beta/models/{}"


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("gemini-a:generateContent", "gemini-b:generateContent", "model"),
        ("gemini-a:streamGenerateContent?alt=sse", "gemini%2Fb:streamGenerateContent?alt=sse", "model"),
        ("gemini-a:generateContent", "gemini-a:streamGenerateContent", "endpoint"),
        ("gemini-a:generateContent", "gemini-b:streamGenerateContent", "endpoint"),
        ("gemini-a:generateContent", "gemini-b:generateContent?key=x", "endpoint"),
        ("gemini-a", "gemini-b", "endpoint"),
        ("${env:M}:generateContent", "gemini-b:generateContent", "model"),
    ],
)
def test_a_model_in_the_path_is_the_model(old: str, new: str, part: str) -> None:
    """Where the two URLs differ in nothing else."""
    before, after = ({**body(a=1), "url": GEMINI.format(tail)} for tail in (old, new))

    assert [{"pointer": "/url", "part": part}] == request_changes(before, after)


def test_another_host_with_another_model_is_another_endpoint() -> None:
    """Only the smallest difference is the model's."""
    old, new = "https://a.example.com/models/x:generateContent", "https://b.example.com/models/y:generateContent"

    assert [{"pointer": "/url", "part": "endpoint"}] == request_changes({**body(), "url": old}, {**body(), "url": new})


def test_a_url_on_one_side_only_is_the_endpoint() -> None:
    """A program has none."""
    program = {"transport": "exec", "command": ["./a"], "stdin": {}}

    assert {"pointer": "/url", "part": "endpoint"} in request_changes(body(), program)
