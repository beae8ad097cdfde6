"""YAML, JSON, JSONL and CSV hold the same cases."""

from __future__ import annotations

from typing import Any

import pytest

from golden.model import Case
from tests.golden.conftest import Project


def members(case: Case) -> tuple[Any, ...]:
    return case.id, case.prompt, case.expected, case.tags, case.graders, case.salt, case.vars


def test_all_formats_give_the_same_case(project: Project) -> None:
    """Only the place differs."""
    project.write("cases/grade.csv", "id,prompt,expected,tags,graders,salt,who\nx,Hi {{ who }},a;b, t ;u,g,s1,no\n")
    project.write(
        "cases/grade.jsonl",
        '{"id":"x","prompt":"Hi {{ who }}","expected":["a","b"],"tags":["t","u"],"graders":["g"],"salt":"s1","vars":{"who":"no"}}',
    )
    project.write(
        "cases/grade.yaml",
        "- {id: x, prompt: 'Hi {{ who }}', expected: [a, b], tags: [t, u], graders: [g], salt: s1, vars: {who: no}}\n",
    )
    project.write(
        "cases/grade.json",
        '{"cases":[{"id":"x","prompt":"Hi {{ who }}","expected":["a","b"],"tags":["t","u"],"graders":["g"],"salt":"s1",'
        '"vars":{"who":"no"}}]}',
    )
    found: list[Any] = []
    for ending in ("csv", "jsonl", "yaml", "json"):
        project.config(
            f'suite="s"\ncases=["cases/*.{ending}"]\n[targets.t]\ntype="openai"\nbase_url="https://api.example.com"\n'
        )
        found.append(members(project.load().cases[0]))

    assert [("x", "Hi {{ who }}", ("a", "b"), ("t", "u"), ("g",), "s1", {"who": "no"})] * 4 == found


def test_places_are_file_and_line_where_the_format_has_lines(project: Project) -> None:
    """JSON has pointers instead."""
    project.write("cases/a.yaml", "# first\ncases:\n- id: y1\n  prompt: p\n\n- id: y2\n  prompt: p\n")
    project.write("cases/b.jsonl", '\n{"id":"l1","prompt":"p"}\n\n  \n{"id":"l2","prompt":"p"}\r\n')
    project.write("cases/c.csv", 'id,prompt\nv1,"two\nlines"\nv2,p\n')
    project.write("cases/d.json", '[{"id":"j1","prompt":"p"}]')

    assert {
        "y1": "cases/a.yaml:3",
        "y2": "cases/a.yaml:6",
        "l1": "cases/b.jsonl:2",
        "l2": "cases/b.jsonl:5",
        "v1": "cases/c.csv:2",
        "v2": "cases/c.csv:4",
        "j1": "cases/d.json#/0",
    } == {case.id: case.place for case in project.load().cases}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.txt", "x", "cases/a.txt: .txt is no format of cases"),
        ("a.yaml", "x: 1", "cases/a.yaml: no list of cases"),
        ("a.yaml", "", "cases/a.yaml: no list of cases"),
        ("a.yaml", "cases: []\ncasez: []", "cases/a.yaml: unknown key 'casez' beside cases"),
        (
            "a.yaml",
            "- {id: a, prompt: p}\n- {id: b, prompt: p, context: {x: .inf}}",
            "cases/a.yaml:2: inf is not a JSON number at /1/context/x",
        ),
        ("a.json", '[{"id":"a","id":"b"}]', 'cases/a.json: duplicate member "id" at /0/id'),
        ("a.json", "[1] 2", "cases/a.json: not JSON: Extra data (line 1, column 5)"),
        ("a.json", b"\xef\xbb\xbf[]", "cases/a.json: a byte order mark stands before the text"),
        ("a.json", b"\xff", "cases/a.json: 'a.json' is not UTF-8: byte 0"),
        ("a.jsonl", '{"id":"a","prompt":"p"}\n{"id":"b","prompt":NaN}', "cases/a.jsonl:2: NaN is not JSON at /prompt"),
        (
            "a.jsonl",
            "\n{",
            "cases/a.jsonl:2: not JSON: Expecting property name enclosed in double quotes (line 1, column 2)",
        ),
        ("a.jsonl", '{"id":"\\ud83d","prompt":"p"}', "cases/a.jsonl:1: lone surrogate in text at /id"),
        ("a.csv", "id,text\n", "cases/a.csv:1: no column 'prompt'"),
        ("a.csv", "id,prompt,prompt\n", "cases/a.csv:1: column 'prompt' stands twice"),
        ("a.csv", "id,prompt,\n", "cases/a.csv:1: a column has no name"),
        ("a.csv", "id,prompt\na,b\nc,d,e\n", "cases/a.csv:3: found 3 cells, expected 2"),
        ("a.csv", 'id,prompt\na,"b', "cases/a.csv:2: not CSV: unexpected end of data"),
    ],
)
def test_what_is_not_of_its_format_is_refused_with_its_place(
    project: Project, name: str, text: str | bytes, message: str
) -> None:
    """File, line where there is one, pointer, and what was found."""
    project.write(f"cases/{name}", text)

    assert message == project.refused().message


def test_line_separators_of_unicode_end_no_line(project: Project) -> None:
    """U+2028 and U+0085 may stand raw in JSON."""
    project.write("cases/a.jsonl", '{"id":"a","prompt":"x\u2028y\u0085z"}\n')

    assert "x\u2028y\u0085z" == project.load().cases[0].prompt


def test_a_byte_order_mark_is_no_part_of_csv_or_yaml(project: Project) -> None:
    """Spreadsheets write one."""
    project.write("cases/a.csv", b"\xef\xbb\xbfid,prompt\na,p\n")
    project.write("cases/b.yaml", b"\xef\xbb\xbf- {id: b, prompt: p}\n")

    assert ["a", "b"] == [case.id for case in project.load().cases]


def test_empty_cells_of_lists_and_salt_are_unset_and_others_are_empty_text(project: Project) -> None:
    """CSV cannot tell unset from empty."""
    project.write("cases/a.csv", "id,prompt,expected,salt,who\na,p,,,\n")
    case = project.load().cases[0]

    assert ((), None, {"who": ""}) == (case.expected, case.salt, case.vars)


def test_big_integers_keep_their_digits(project: Project) -> None:
    """In YAML and in JSONL."""
    project.write("cases/a.yaml", "- {id: a, request: {seed: 18446744073709551617}}\n")
    project.write("cases/b.jsonl", '{"id":"b","request":{"seed":9007199254740993}}\n')

    assert [18446744073709551617, 9007199254740993] == [(case.request or {})["seed"] for case in project.load().cases]
