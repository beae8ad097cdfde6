"""JUnit XML: what counts as failed and skipped, and that any text of a model leaves it well formed.

The structure is that of Jenkins' junit-10.xsd, which pytest's xunit2 family follows: names of elements, their children, and attributes.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diff.junit import junit
from tests.diff.sides import HOSTILE, compared, row

OUTCOME = (set(), {"type", "message"}, set())
# element → children, attributes, attributes that must be there
STRUCTURE: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": ({"testsuite"}, {"name", "time", "tests", "failures", "errors"}, set()),
    "testsuite": (
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
        {"name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
        {"name", "tests", "failures", "errors"},
    ),
    "properties": ({"property"}, set(), set()),
    "property": (set(), {"name", "value"}, {"name", "value"}),
    "testcase": ({"skipped", "failure", "system-out", "system-err"}, {"name", "time", "classname", "group"}, {"name"}),
    "failure": OUTCOME,
    "skipped": OUTCOME,
    "system-out": (set(), set(), set()),
}  # fmt: skip


def parsed(base: list[dict[str, Any]], head: list[dict[str, Any]]) -> ET.Element:
    """Return the parsed document of a diff, once its structure is that of the schema."""
    root = ET.fromstring(junit(compared(base, head)).encode())
    for element in root.iter():
        children, attributes, needed = STRUCTURE[element.tag]
        assert {child.tag for child in element} <= children
        assert needed <= set(element.attrib) <= attributes
    return root


def outcomes(root: ET.Element) -> dict[str, tuple[str, str | None]]:
    """Return test case → its outcome and the type of it."""
    found: dict[str, tuple[str, str | None]] = {}
    for case in root.iter("testcase"):
        outcome = next((child for child in case if child.tag != "system-out"), None)
        found[case.attrib["name"]] = ("passed", None) if outcome is None else (outcome.tag, outcome.get("type"))
    return found


def test_cases_that_fail_are_failures_and_what_has_no_verdict_is_skipped() -> None:
    """A regression, an old failure, a known one, one that could not be judged, one that is gone, and two that pass."""
    base = [
        row("broke"),
        row("old", found="bad"),
        row("known"),
        row("lost"),
        row("gone"),
        row("fine"),
        row("cured", found="bad"),
    ]
    head = [
        row("broke", answer="2", found="bad"),
        row("old", found="bad"),
        row("known", answer="2", found="bad", known="flaky"),
        row("lost", status="missing_snapshot", case_passed=None, findings=None),
        row("fine"),
        row("cured", answer="2"),
    ]
    root = parsed(base, head)

    assert {
        "broke [gpt]": ("failure", "regression"),
        "old [gpt]": ("failure", "still_failing"),
        "known [gpt]": ("skipped", "known"),
        "lost [gpt]": ("skipped", "incomparable"),
        "gone [gpt]": ("skipped", "incomparable"),
        "fine [gpt]": ("passed", None),
        "cured [gpt]": ("passed", None),
    } == outcomes(root)
    assert ("7", "2", "0", "3") == tuple(root[0].attrib[name] for name in ("tests", "failures", "errors", "skipped"))


def test_a_case_tells_its_move_its_clocks_and_its_share() -> None:
    """The model alone moved: its share of the change from 1 to 0 is the whole of it."""
    root = parsed([row("a")], [row("a", answer="2", found="bad")])
    told = (root.findtext(".//system-out") or "").splitlines()

    assert [
        "[[PROPERTY|verdict_change=newly_failing]]",
        "[[PROPERTY|move=answer_moved_on_frozen_request]]",
        "[[PROPERTY|clocks=model]]",
        "[[PROPERTY|attribution.model=-1]]",
        "[[PROPERTY|what_moved=findings +bad]]",
    ] == told
    assert "-1" == root.find(".//property[@name='attribution.model']").attrib["value"]  # type: ignore[union-attr]


def test_trials_of_a_case_are_one_test_case() -> None:
    """Verdicts are counted once for each case and target."""
    rows = [row("a", trial=trial) for trial in range(3)]

    assert {"a [gpt]": ("passed", None)} == outcomes(parsed(rows, rows))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_leaves_the_document_well_formed(text: str) -> None:
    """Ids, errors and models are free text: tags, ends of CDATA, controls and what is no character of XML."""
    head = row(text, status="grader_error", case_passed=None, findings=None, error=text, reported_model=text)
    root = parsed([row(text)], [head])

    assert 1 == len(list(root.iter("testcase")))
    assert {"testsuites", "testsuite", "properties", "property", "testcase", "skipped", "system-out"} == {
        e.tag for e in root.iter()
    }


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_every_character_can_stand_in_an_id(text: str) -> None:
    """Whatever Unicode holds, half of surrogate pairs aside, which no table can hold."""
    assert [("passed", None)] == list(outcomes(parsed([row(text)], [row(text)])).values())
