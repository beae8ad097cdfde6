"""The reference is complete and true: names, columns, keys, links, and every example in a format of ours."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from capture.result import Outcome
from diff import compare, report, table
from diff.classify import CLOCKS, MOVES
from golden import schema, yaml_text
from golden.grader import MARK, takes_case
from golden.model import Selection
from golden.place import Place
from golden.suite import load_suite, select
from grade import table as results
from grade.checks import CHECKS, EMPTY_ANSWER, RESERVED_CODES
from grade.verdict import STATUSES
from snapshots import canonical, dialects, strict_json, verify
from snapshots.envelope import FIELDS
from snapshots.request import property_order
from snapshots.response import KEPT_HEADERS
from tests.docs.page import ROOT, all_blocks, blocks, links, pages

DOCS = ROOT / "docs"


def page(name: str) -> str:
    """Return the text of a page of the docs."""
    return (DOCS / name).read_text("utf-8")


def undocumented(names: Any, text: str) -> list[str]:
    """Return the names that do not stand in a text as code."""
    return sorted(name for name in names if f"`{name}`" not in text)


@pytest.mark.parametrize(
    ("names", "where"),
    [
        pytest.param(RESERVED_CODES, "checks.md", id="codes of checks"),
        pytest.param({*CHECKS, EMPTY_ANSWER}, "checks.md", id="checks"),
        pytest.param(STATUSES, "commands.md", id="statuses"),
        pytest.param(MOVES, "diff.md", id="moves"),
        pytest.param(CLOCKS, "diff.md", id="clocks"),
        pytest.param(compare.VERDICTS, "diff.md", id="verdict changes"),
        pytest.param([o.value for o in Outcome], "capture.md", id="outcomes"),
        pytest.param(KEPT_HEADERS, "capture.md", id="kept headers"),
        pytest.param(FIELDS, "graders.md", id="fields of the envelope"),
        pytest.param(dialects.known_rules(), "formats.md", id="answer rules"),
        pytest.param(results.NAMES, "formats.md", id="result columns"),
        pytest.param([name for name, _ in table._OWN], "formats.md", id="diff columns"),
        pytest.param(["context", "allowed_tools", "checks", "graders", "request"], "graders.md", id="case view"),
    ],
)
def test_every_name_that_a_reader_meets_is_explained(names: Any, where: str) -> None:
    """Nothing comes out of the tool that its page does not name."""
    assert [] == undocumented(names, page(where))


def test_a_move_means_in_the_docs_what_reports_say() -> None:
    """The table of moves is in the order in which they apply."""
    listed = [
        m for m in re.findall(r"^\| `([a-z_]+)` \|", page("diff.md").split("## Moves")[1], re.MULTILINE) if m in MOVES
    ]

    assert list(MOVES) == listed
    assert set(MOVES) == set(report.MEANING)


def test_every_key_of_configuration_and_case_is_documented() -> None:
    """The tables of golden.md hold all keys of the two schemas."""
    config, case = schema.shipped("config"), schema.shipped("case")
    own = config["properties"]
    keys = [name for name, value in own.items() if "properties" not in value and name != "targets"]
    keys += [f"{name}.{key}" for name, value in own.items() for key in value.get("properties", ())]
    keys += [*config["$defs"]["target"]["properties"], *case["properties"]]

    rows = set(re.findall(r"^\| `([a-z_.]+)` \|", page("golden.md"), re.MULTILINE))

    assert [] == sorted(set(keys) - rows)
    assert [] == sorted(rows - set(keys))


def test_the_types_of_the_result_columns_are_those_of_the_table() -> None:
    """formats.md gives each column the type that Parquet gives it."""
    words = {
        "string": "string",
        "int64": "int64",
        "double": "double",
        "bool": "bool",
        "list<element: string>": "list of strings",
    }
    rows = dict(
        re.findall(r"^\| `([a-z_]+)` \| ([^|]+?) \|", page("formats.md").split("## Result table")[1], re.MULTILINE)
    )

    told = {name: rows[name].removesuffix(", JSON") for name in results.NAMES}

    assert {name: words.get(str(kind), "timestamp") for name, kind in results.FIELDS} == told
    assert results.JSON_COLUMNS == {name for name in results.NAMES if rows[name].endswith(", JSON")}


def test_the_defaults_in_the_docs_are_the_defaults(tmp_path: Path) -> None:
    """A configuration that writes all documented defaults out loads as one that leaves them out."""
    least = 'suite = "s"\ncases = ["c.yaml"]\n[targets.t]\ntype = "openai"\nbase_url = "http://example.com/v1"\n'
    defaults = dict(re.findall(r"^\| `([a-z_.]+)` \| `?([^`|]+?)`? \|", page("golden.md"), re.MULTILINE))
    (tmp_path / "c.yaml").write_text("- {id: a, prompt: b}\n", "utf-8")
    (tmp_path / "whichclock.toml").write_text(least, "utf-8")

    suite = load_suite(tmp_path / "whichclock.toml", environ={})
    target, case = suite.targets["t"], suite.cases[0]

    found = {name: getattr(target, name) for name in ("timeout_s", "connect_timeout_s", "retries", "concurrency")}
    found |= {"grade.timeout_s": suite.grader_timeout_s, "grade.memory_mb": suite.grader_memory_mb}
    assert {name: float(defaults[name]) for name in found} == found
    assert (defaults["defaults.trials"], defaults["defaults.pass"]) == (str(case.trials), case.pass_rule)
    assert (defaults["snapshots"], defaults["results"]) == (suite.snapshots.name, suite.results.name)


def test_the_configuration_and_the_case_files_of_the_docs_load(tmp_path: Path) -> None:
    """The examples of golden.md are a suite."""
    found = {block.lang: block.text for block in reversed(blocks(DOCS / "golden.md"))}
    files = {
        "whichclock.toml": found["toml"].replace('*.yaml"]', '*.yaml", "golden/cases/*.csv"]'),
        "golden/cases/cases.yaml": found["yaml"],
        "golden/cases/more.csv": found["csv"],
        "golden/cases/graders.py": "",
        "prompts/translate.md": "Translate to {{ language }}.",
        "glossary/terms.md": "spade: Spaten",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")

    suite = load_suite(tmp_path / "whichclock.toml", environ={})

    assert {"refuse_invented_order_id", "translate_politely", "greet_ann", "greet_bob"} == {c.id for c in suite.cases}
    assert 8 == len(select(suite, Selection()))


@pytest.mark.parametrize("block", [b for b in blocks(DOCS / "checks.md") if b.lang == "yaml"], ids=str)
def test_the_examples_of_checks_are_checks(block: Any) -> None:
    """Each example fits the schema of a case."""
    value = yaml_text.read(block.text, block.page).value
    cases = value["cases"] if "cases" in value else [{"checks": value}] if isinstance(value, list) else [value]

    for case in cases:
        schema.require({"id": "a", **({} if "prompt" in case else {"prompt": "b"}), **case}, "case", Place(block.page))


@pytest.mark.parametrize("block", all_blocks("python"), ids=str)
def test_the_graders_in_the_docs_are_graders(block: Any) -> None:
    """Python examples run, and what is decorated takes an envelope and perhaps a case."""
    names: dict[str, Any] = {}
    exec(compile(block.text, str(block), "exec"), names)

    marked = [f for f in names.values() if getattr(f, MARK, False)]

    assert marked
    assert all(takes_case(f) in (True, False) for f in marked)


@pytest.mark.parametrize("block", all_blocks("json"), ids=str)
def test_json_in_the_docs_is_json(block: Any) -> None:
    """Examples are strict JSON, whole or one value a line."""
    if block.text.startswith('{"schema":"whichclock.capture-log/1"'):
        assert 3 == len([strict_json.loads(line) for line in block.text.splitlines()])
    else:
        assert strict_json.loads(block.text)


def test_the_snapshot_of_the_docs_is_sound(tmp_path: Path) -> None:
    """The example file passes every check of ``snapshots verify`` under the name that its members spell."""
    text = next(b.text for b in blocks(DOCS / "formats.md") if '"integrity"' in b.text)
    value = json.loads(text)
    second = re.sub("[-:]", "", value["recorded_at"])
    tail = f"{value['request_hash'][2:]}.0.{second}.{value['answer_hash'][:16]}.{value['integrity'][7:15]}.json"
    file = tmp_path / value["request_hash"][:2] / tail
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")

    assert None is verify.check(file).reason


def test_the_request_document_of_the_docs_fits_the_schema() -> None:
    """The example is a request document, and its order is that of its body."""
    document = json.loads(next(b.text for b in blocks(DOCS / "formats.md") if '"transport": "http"' in b.text))
    shipped = schema.shipped("snapshot")

    of_http = schema.validator({**shipped["$defs"]["http"], "$defs": shipped["$defs"]})
    assert [] == list(of_http.iter_errors(document))
    assert property_order(document["body"]) == document["order"]


def test_the_canonical_bytes_of_the_docs_are_ours() -> None:
    """The example of canonical bytes is what the function gives."""
    block = next(b for b in blocks(DOCS / "formats.md") if "--canonical" in b.text)
    given, printed = re.match(r"\$ echo '(.*)' \|.*\n(.*)\n", block.text).groups()  # type: ignore[union-attr]

    assert printed.encode() == canonical.encode(strict_json.loads(given))


@pytest.mark.parametrize("path", pages(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    """Every relative link names a file, and every fragment a heading."""
    broken: list[str] = []
    for link in links(path):
        if link.startswith(("https://", "http://")):
            continue
        name, _, fragment = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists() or (fragment and fragment not in _anchors(target)):
            broken.append(link)

    assert [] == broken


def test_every_page_and_record_is_linked_from_an_index() -> None:
    """No page is an island."""
    for folder in (DOCS, DOCS / "decisions"):
        linked = set(links(folder / "README.md"))

        assert [] == [p.name for p in sorted(folder.glob("*.md")) if p.name != "README.md" and p.name not in linked]


@pytest.mark.parametrize("path", pages(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_a_line_holds_one_sentence(path: Path) -> None:
    """Semantic newlines: a full stop ends a line, so that differences show sentences."""
    text = re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
    lines = [line for line in text.splitlines() if not line.startswith(("#", "|", "- ", "1.", "2.", "3.", "4.", "5."))]

    assert [] == [line for line in lines if re.search(r"[a-z)`]\. [A-Z`][a-z]", line)]


def _anchors(path: Path) -> set[str]:
    """Return the fragments that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
