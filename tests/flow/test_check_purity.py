"""Graders that depend on what must not matter: found by grading twice."""

from __future__ import annotations

import pytest

from tests.flow.conftest import Project

SOURCE = """\
from whichclock import grader
{head}

@grader
def first(envelope):
    {body}


@grader
def second(envelope):
    return set()
"""


def _suite(project: Project, body: str, head: str = "") -> Project:
    project.edit("whichclock.toml", 'cases = ["golden/cases/*.yaml"]', 'cases = ["cases.yaml"]')
    (project.root / "cases.yaml").write_text(
        "cases:\n"
        "  - {id: a, prompt: 'one', graders: [first, second]}\n"
        "  - {id: b, prompt: 'two', graders: [first, second], context: {now: '2026-01-01T00:00:00Z'}}\n"
    )
    (project.root / "golden/cases/graders.py").write_text(SOURCE.format(body=body, head=head))
    project.ok("capture", "--quiet")
    return project


def test_a_pure_grader_passes(project: Project) -> None:
    """Nothing differs, and the report says what was tried and which locks held."""
    done = _suite(project, 'return {"hello"} if "Hello" in envelope["text"] else set()').ok("grade", "--check-purity")

    assert done.out.startswith("pure: 2 rows are the same under another date, folder, hash seed and order (audit")


@pytest.mark.parametrize(
    ("body", "head", "impure"),
    [
        pytest.param('return {"y" + str(datetime.now().year)}', "from datetime import datetime", ["a"], id="the date"),
        pytest.param('return {"x": hash("text") % 1000}', "", ["a", "b"], id="the hash seed"),
        pytest.param(
            'return {"x": next(iter({"p", "q", "r", "s", "t", "u", "v", "w"}))}', "", ["a", "b"], id="set order"
        ),
        pytest.param('SEEN.append(1); return {"x": len(SEEN)}', "SEEN = []", ["a", "b"], id="memory"),
        pytest.param('import os; return {"x": os.getcwd()}', "", ["a", "b"], id="the folder"),
    ],
)
def test_an_impure_grader_is_named_by_case(project: Project, body: str, head: str, impure: list[str]) -> None:
    """Exit code 3, and the rows that differ; a case that sets its own date is not blamed for the date."""
    done = _suite(project, body, head).run("grade", "--check-purity", "--format", "json")

    assert 3 == done.code
    assert impure == [row["case_id"] for row in done.json["rows"]]
