"""Checks of JSON, of what stands at a path in it, and of numbers in texts."""

from __future__ import annotations

from typing import Any

import pytest

from golden import json_path
from grade.checks import CHECKS
from tests.grade.test_checks import envelope

# RFC 9535 section 1.1.
STORE = {
    "store": {
        "book": [{"title": "Sayings of the Century", "price": 8.95}, {"title": "Moby Dick", "price": 8.99}],
        "bicycle": {"color": "red", "price": 399},
    }
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", (True, STORE)),
        ("$.store.bicycle.color", (True, "red")),
        ("$['store']['book'][0]['title']", (True, "Sayings of the Century")),
        ('$["store"].book[-1].title', (True, "Moby Dick")),
        ("$ .store [ 'bicycle' ] .price", (True, 399)),
        ("$.store.book[2]", (False, None)),
        ("$.store.book[-3]", (False, None)),
        ("$.store.book.title", (False, None)),
        ("$.store[0]", (False, None)),
        ("$.store.bicycle.color[0]", (False, None)),
    ],
)
def test_a_path_names_one_value_or_none(path: str, found: tuple[bool, Any]) -> None:
    """Names and indices, the latter from the end where they are negative."""
    assert found == json_path.find(STORE, path)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (r"$['a\'b']", "a'b"),
        (r"""$['a"b']""", 'a"b'),
        (r'$["a\"b"]', 'a"b'),
        (r"$['\\']", "\\"),
        (r"$['\u263a']", "☺"),
        ("$.ünit", "ünit"),
        ("$['']", ""),
    ],
)
def test_quoted_names_have_the_escapes_of_json(path: str, name: str) -> None:
    """RFC 9535 section 2.3.1: either quote, and the other one as it is."""
    assert (True, 1) == json_path.find({name: 1}, path)


@pytest.mark.parametrize(
    "path",
    ["", "a", "/a", "$.", "$a", "$..a", "$.*", "$[*]", "$[0:1]", "$[?@.a]", "$[01]", "$[-0]", "$.a b", r"$['\x']", "$['a", "$[1,2]", "$.1"],
)  # fmt: skip
def test_what_names_several_values_is_no_path(path: str) -> None:
    """Wildcards, slices, filters and descendants, and what is no JSONPath at all."""
    with pytest.raises(ValueError):
        json_path.parse(path)


@pytest.mark.parametrize(
    ("name", "argument", "text", "evidence"),
    [
        ("is_json", "any", "null", None),
        ("is_json", "object", ' {"a": 1}\n', None),
        ("is_json", "object", "[1]", {"found": "array"}),
        ("is_json", "number", "true", {"found": "boolean"}),
        ("is_json", "any", "", {"reason": "not JSON: Expecting value (line 1, column 1)"}),
        ("is_json", "any", None, {"reason": "not JSON: Expecting value (line 1, column 1)"}),
        ("is_json", "any", '{"a": 1} and so on', {"reason": "not JSON: Extra data (line 1, column 10)"}),
        ("json_path", {"path": "$.a", "equals": 1}, '{"a": 1.0}', None),
        ("json_path", {"path": "$.a", "equals": 1}, '{"a": true}', {"path": "$.a", "found": True}),
        ("json_path", {"path": "$.a", "equals": None}, '{"a": null}', None),
        ("json_path", {"path": "$.a", "equals": None}, "{}", {"path": "$.a", "exists": False}),
        ("json_path", {"path": "$.a", "equals": {"b": [1, 2]}}, '{"a": {"b": [1, 2.0]}}', None),
        ("json_path", {"path": "$.a", "equals": []}, '{"a": [1]}', {"path": "$.a", "found": "an array of 1 items"}),
        ("json_path", {"path": "$.a", "equals": []}, '{"a": {"b": 1}}', {"path": "$.a", "found": "an object of 1 members"}),
        ("json_path", {"path": "$.a", "matches": "^A-[0-9]+$"}, '{"a": "A-17"}', None),
        ("json_path", {"path": "$.a", "matches": "17"}, '{"a": 17}', {"path": "$.a", "found": 17}),
        ("json_path", {"path": "$.a", "exists": True}, '{"a": null}', None),
        ("json_path", {"path": "$.a", "exists": False}, "{}", None),
        ("json_path", {"path": "$.a", "exists": False}, '{"a": 1}', {"path": "$.a", "exists": True}),
        ("json_path", {"path": "$.a", "exists": False}, "", {"reason": "not JSON: Expecting value (line 1, column 1)"}),
        ("json_path", {"path": "$.a", "equals": "x"}, '{"a": "' + "y" * 1000 + '"}', {"path": "$.a", "found": "y" * 299 + "…"}),
    ],
)  # fmt: skip
def test_json_is_read_strictly_and_as_a_whole(name: str, argument: Any, text: str | None, evidence: Any) -> None:
    """What is violated says where and what was found, never the whole answer."""
    assert evidence == CHECKS[name].rule(envelope(text), argument)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("The answer is 42.", ["42"]),
        ("1,234.5", ["1,234.5"]),
        ("$1,234,567 in all", ["1,234,567"]),
        ("1.234,5", ["1.234", "5"]),
        ("1,2345", ["1", "2345"]),
        ("-3 and +4 and \u22125", ["-3", "+4", "\u22125"]),
        ("3-5", ["3", "5"]),
        ("order A-17 costs .5", ["17", ".5"]),
        ("6.02e23, 1E-3", ["6.02e23", "1E-3"]),
        ("40kg at 12%", ["40", "12"]),
        ("x2 and 1_000 and 10_000", []),
        ("version 1.2.3", ["1.2", "3"]),
        ("(7)", ["7"]),
        ("none", []),
        ("\u0663 (an Arabic three)", []),
    ],
)
def test_what_is_read_as_a_number(text: str, numbers: list[str]) -> None:
    """Several numbers are never silently one: a check that means the only one tells them all."""
    violated = CHECKS["number"].rule(envelope(text), {"value": -1})

    if len(numbers) == 1:
        assert {"number": numbers[0]} == violated
    else:
        assert {"numbers": numbers} == violated


@pytest.mark.parametrize(
    ("argument", "text", "holds"),
    [
        (1234.5, "It is 1,234.5.", True),
        (-5, "\u22125", True),
        (0.3, "0.30000000000000004", False),
        ({"value": 0.3, "tolerance": 1e-9}, "0.30000000000000004", True),
        ({"value": 3.14, "tolerance": 0.01}, "3.15", True),
        ({"value": 3.14, "tolerance": 0.01}, "3.1500001", False),
        ({"min": 1, "max": 2}, "2", True),
        ({"min": 1, "max": 2}, "2.1", False),
        ({"min": 1, "max": 2, "tolerance": 0.1}, "2.1", True),
        ({"min": 1}, "1e999999999999999999", True),
        ({"value": 1}, "1e999999999999999999", False),
        ({"max": 1}, "9" * 5000, False),
        ({"value": 10**30 + 1}, "1000000000000000000000000000000", False),
        ({"value": 5, "which": "last"}, "3 - 8 = 5", True),
        ({"value": 3, "which": "first"}, "3 - 8 = 5", True),
        ({"value": 3}, "3 - 8 = 5", False),
        (1, "", False),
        ({"value": 17, "path": "$.n"}, '{"n": 17.0}', True),
        ({"value": 1234, "path": "$.n"}, '{"n": "1,234 pieces"}', True),
        ({"value": 1, "path": "$.n"}, '{"n": true}', False),
        ({"value": 1, "path": "$.m"}, '{"n": 1}', False),
        ({"value": 1, "path": "$.n"}, "n = 1", False),
        ({"value": 12345678901234567890123, "path": "$.n"}, '{"n": 12345678901234567890123}', True),
    ],
)
def test_numbers_are_compared_as_exact_decimals(argument: Any, text: str, holds: bool) -> None:
    """A tolerance is written where one is wanted, and its edge belongs to it."""
    assert holds == (CHECKS["number"].rule(envelope(text), argument) is None)
