"""YAML is read by the core rules of YAML 1.2, and only as JSON values."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden import yaml_text
from snapshots.errors import ConfigError


def value(text: str) -> Any:
    return yaml_text.read(text, "a.yaml").value


def refused(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        value(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no", "no"),
        ("on", "on"),
        ("Yes", "Yes"),
        ("y", "y"),
        ("null", None),
        ("~", None),
        ("NULL", None),
        ("nUll", "nUll"),
        ("true", True),
        ("TRUE", True),
        ("tRUE", "tRUE"),
        ("False", False),
        ("12", 12),
        ("-0", 0),
        ("+3", 3),
        ("012", 12),
        ("0o17", 15),
        ("0o18", "0o18"),
        ("0x1F", 31),
        ("0b1", "0b1"),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("190:20:30.15", "190:20:30.15"),
        ("2026-01-01", "2026-01-01"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("1e-05", 1e-05),
        ("1e5", 100000.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("-1.5E+3", -1500.0),
        ("1e", "1e"),
        (".", "."),
        ("-", [None]),
        ("--", "--"),
        ("1.2.3", "1.2.3"),
        ("9007199254740993", 9007199254740993),
        ("18446744073709551617", 18446744073709551617),
        ('"12"', "12"),
        ("'null'", "null"),
        ("! 12", "12"),
        ("!!str 12", "12"),
        ("!!float 1", 1.0),
        ('!!int "7"', 7),
        ("=", "="),
        ("<<", "<<"),
    ],
)
def test_plain_scalars_follow_the_core_rules(text: str, expected: Any) -> None:
    """Each spelling has the value that the core schema gives it, and its very type."""
    found = value(text)

    assert (expected, type(expected)) == (found, type(found))


def test_infinities_and_nan_are_read_for_the_strict_check_to_refuse() -> None:
    """`.inf` and `.nan` become floats; the check of JSON values names them by pointer."""
    assert [math.inf, -math.inf] == value("[.inf, -.INF]")
    assert math.isnan(value(".NaN"))


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.system [echo]",
        "!!python/name:os.system x",
        "!x 1",
        "!!binary aGk=",
        "!!timestamp 2026-01-01",
        "!!set {a, b}",
        "!!omap [a: 1]",
        "!!str [a]",
        "!!map [a]",
        "!<tag:example.com,2000:x> 1",
    ],
)
def test_tags_that_would_build_something_are_refused(tag: str) -> None:
    """Any tag but JSON's own kinds is an error with its line and a remedy."""
    error = refused(f"a: 1\nb: {tag}")

    assert error.message.startswith("a.yaml:2: tag ")
    assert "leave the tag out" in error.hint


def test_a_standard_tag_on_another_kind_of_value_is_refused() -> None:
    """`!!int x` is no integer and is not made one."""
    assert "a.yaml:1: 'x' is no !!int" == refused("!!int x").message


def test_duplicate_keys_are_refused_with_the_line_of_the_second() -> None:
    """No member silently wins over another."""
    assert "a.yaml:3: duplicate key 'a'" == refused("a: 1\nb: 2\na: 3").message


@pytest.mark.parametrize(("key", "shown"), [("1", "1"), ("~", "null"), ("true", "true"), ("1.5", "1.5")])
def test_keys_that_are_no_text_are_refused_and_the_quotes_are_offered(key: str, shown: str) -> None:
    """JSON names are text; `logit_bias: {50256: -100}` has to say so."""
    error = refused(f"{{{key}: 1}}")

    assert f"a.yaml:1: key {shown} is no text" == error.message
    assert f'quote it: "{shown}"' == error.hint


def test_collections_as_keys_are_refused() -> None:
    """A list cannot name a member."""
    assert "a.yaml:1: a key is no text" == refused("? [a]\n: 1").message


def test_merge_keys_are_refused_and_quoted_ones_are_names() -> None:
    """`<<` is no rule of YAML 1.2; the author may still want the name."""
    assert "merge keys are not read" in refused("a: &x {b: 1}\nc:\n  <<: *x").message
    assert {"<<": 1} == value('"<<": 1')


def test_an_alias_stands_for_the_value_of_its_anchor() -> None:
    """Ordinary aliases work, for scalars, lists and keys."""
    assert {"a": [1], "b": [1], "c": "t", "t": 2} == value("a: &x [1]\nb: *x\nc: &k t\n*k : 2")


def test_a_recursive_alias_is_refused() -> None:
    """A value cannot hold itself."""
    assert "a.yaml:1: alias *x stands inside its own anchor" == refused("&x [*x]").message


def test_an_alias_without_an_anchor_is_refused() -> None:
    """The name is told."""
    assert "alias *q has no anchor" in refused("[*q]").message


def test_aliases_cannot_blow_a_small_file_up() -> None:
    """Nine lines that stand for a billion values are refused before anything walks them."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]

    assert "aliases repeat more than 1,000,000 values" in refused("\n".join(lines)).message


def test_aliases_of_one_long_text_count_by_its_length() -> None:
    """A megabyte repeated by name is as large as one written out."""
    text = f"a: &a {'x' * 1_000_000}\nb: [{', '.join(['*a'] * 200)}]"

    assert "aliases repeat" in refused(text).message


def test_deep_nesting_is_refused() -> None:
    """Neither flow nor block nesting reaches the interpreter's own limits."""
    assert "a.yaml:1:" in refused("[" * 100_000).message
    assert "more than 200 nested containers" in refused("- " * 300 + "x").message


def test_a_second_document_is_refused() -> None:
    """It would otherwise be left out in silence."""
    assert "a.yaml:2: a second document starts here" == refused("a: 1\n---\nb: 2").message


def test_text_that_is_no_yaml_is_refused_with_its_line() -> None:
    """libyaml's own words, and where."""
    assert refused("a: 1\nb: [").message.startswith("a.yaml:3: not YAML: ")


def test_control_characters_are_refused() -> None:
    """YAML allows none of them raw."""
    assert "not YAML" in refused("a: \x00").message


def test_an_empty_file_is_null() -> None:
    """There is no document, so there is no value."""
    assert value("") is None
    assert value("# nothing\n") is None


def test_lines_are_remembered_as_deep_as_asked() -> None:
    """Pointers map to 1-based lines."""
    text = "cases:\n  - id: a\n    tags:\n      - x\n  - id: b\n"

    assert {"": 1, "/cases": 2, "/cases/0": 2, "/cases/1": 5} == yaml_text.read(text, "f").lines
    assert 4 == yaml_text.read(text, "f", lines_to=9).lines["/cases/0/tags/0"]


def test_integers_too_long_to_read_are_refused() -> None:
    """The limit is the one of JSON reading."""
    assert "integer of 5000 digits" in refused("1" * 5000).message


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff\ufffe\uffff")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc<~. ", max_size=3), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_json_texts_read_as_yaml_give_the_same_values(wanted: Any) -> None:
    """YAML 1.2 holds JSON: what JSON writes, YAML reads, type by type."""
    assert repr(wanted) == repr(value(json.dumps(wanted, ensure_ascii=False)))
