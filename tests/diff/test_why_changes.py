"""What exactly moved in an expectation or an answer: sets by their members, and nothing where a side has nothing."""

from __future__ import annotations

import pytest

from diff.why_changes import answer_changes, changes, expectation_changes


@pytest.mark.parametrize("name", ["allowed_tools", "expected", "graders"])
def test_a_set_is_compared_by_its_members(name: str) -> None:
    """They are stored sorted: a member that is gone moves the places of all others, and nobody edited those."""
    old, new = {name: ["issue", "look", "other"]}, {name: ["look", "new", "other"]}

    assert [
        {"pointer": f"/{name}", "before": old[name], "after": new[name], "removed": ["issue"], "added": ["new"]}
    ] == (expectation_changes(old, new))


def test_a_set_that_is_not_there_is_left_out() -> None:
    """A case that allows every tool has no list; one that allows none has an empty one."""
    assert [{"pointer": "/allowed_tools", "after": []}] == expectation_changes({}, {"allowed_tools": []})
    assert [{"pointer": "/allowed_tools", "before": ["look"]}] == expectation_changes({"allowed_tools": ["look"]}, {})


def test_lists_that_have_an_order_are_compared_by_place() -> None:
    """Checks and the facts of a context."""
    old = {"checks": [{"contains": "a"}], "context": {"expected": ["x"]}}
    new = {"checks": [{"contains": "b"}], "context": {"expected": ["y"]}}

    assert ["/checks/0/contains", "/context/expected/0"] == [one["pointer"] for one in expectation_changes(old, new)]


def test_null_is_a_value_and_absent_is_none() -> None:
    """A member that is null on one side and missing on the other has moved."""
    assert [{"pointer": "/a", "before": None}, {"pointer": "/b", "before": 1, "after": None}] == changes(
        {"a": None, "b": 1}, {"b": None}, ["/a", "/b"]
    )


def test_a_file_that_a_program_no_longer_has_is_absent() -> None:
    """Its digest before is told alone."""
    old, new = ({"status": 0, "body": {"output": "x"}, "program": files} for files in ({"a.py": "sha256:1"}, {}))

    assert [{"pointer": "/program/a.py", "before": "sha256:1", "file": "a.py"}] == answer_changes(old, new)
