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
