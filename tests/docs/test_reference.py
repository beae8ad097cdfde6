"""The reference is complete and true: names, columns, keys, links, and every example in a format of ours."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import whichclock
from capture.batch import TYPES as BATCH_TYPES
from capture.batch import read_manifest
from capture.program import INHERITED
from capture.result import CaptureResult, Outcome
from diff import compare, report, table
from diff.classify import CLOCKS, MOVES
from golden import schema, yaml_text
from golden.chat import NAMES as CHAT_NAMES
from golden.grader import MARK, count, takes_case
from golden.model import Selection
from golden.place import Place
from golden.price import Price
from golden.redaction import KINDS
from golden.suite import load_suite, select
from golden.target_type import TYPES
from grade import table as results
from grade.checks import CHECKS, EMPTY_ANSWER, RESERVED_CODES
from grade.verdict import STATUSES
from snapshots import (
    anthropic,
    bedrock,
    canonical,
    cohere,
    completions,
    dialects,
    embeddings,
    gemini,
    openai_responses,
    program,
    strict_json,
    verify,
)
from snapshots.envelope import FIELDS
from snapshots.request import property_order
from snapshots.response import KEPT_HEADERS
from tests.docs.page import ROOT, all_blocks, blocks, is_program, links, pages

DOCS = ROOT / "docs"
LINE = CaptureResult(rows=(), calls=0)
FUNCTIONS = ("load", "envelope", "grade", "diff")


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
        pytest.param(TYPES, "golden.md", id="types of targets"),
        pytest.param(KINDS, "capture.md", id="kinds of redaction"),
        pytest.param(KINDS, "golden.md", id="kinds of redaction in the configuration"),
        pytest.param(CHAT_NAMES, "targets.md", id="members of a chat body"),
        pytest.param(INHERITED, "exec.md", id="inherited variables"),
        pytest.param([*LINE.as_line("auto")], "capture.md", id="members of a line"),
        pytest.param(BATCH_TYPES, "capture.md", id="types with batches"),
        pytest.param(["prices", *asdict(Price(1))], "golden.md", id="prices"),
        pytest.param({*whichclock.__all__} - {"__version__", *FUNCTIONS}, "python.md", id="public names"),
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


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_functions_of_the_docs_have_the_signatures_that_the_page_gives(name: str) -> None:
    """Names, order and defaults of the arguments stand as they are."""
    arguments = inspect.signature(getattr(whichclock, name)).parameters.values()
    told = re.search(rf"^\| `{name}\((.*?)\)` \|", page("python.md"), re.MULTILINE)

    plain = inspect.Signature([one.replace(annotation=inspect.Parameter.empty) for one in arguments])
    assert told is not None
    assert f"({told[1]})" == str(plain)


def test_every_rule_leaves_out_in_the_docs_what_it_leaves_out() -> None:
    """The row of a rule names the last member of each of its pointers; the echoes of a response have a list of their own."""
    text = page("formats.md").split("## Answer hash")[1].split("## Capture log")[0]
    rows = dict(re.findall(r"^\| `([a-z-]+/1)` \| (.*) \|$", text, re.MULTILINE))
    echoes = text.split("### Echoes")[1]
    told = {
        openai_responses: rows["openai-responses/1"] + echoes,
        anthropic: rows["anthropic/1"],
        gemini: rows["gemini/1"].replace("scores of safety ratings", "`probabilityScore` `severityScore`"),
        completions: rows["openai-completions/1"],
        bedrock: rows["bedrock-converse/1"],
        cohere: rows["cohere/1"],
        embeddings: rows["embeddings/1"],
        program: rows["exec/1"],
    }

    silent = {
        f"{dialect.RULE} {pointer}"
        for dialect, said in told.items()
        for pointer in dialect.LEFT_OUT
        if f"{pointer.rpartition('/')[2]}`" not in said
    }

    assert set() == silent
    assert {*dialects.known_rules()} == {*rows}


def test_every_format_with_a_version_is_documented() -> None:
    """No schema name in the code is missing from the page."""
    code = [path for part in ("snapshots", "golden", "capture", "grade", "diff") for path in (ROOT / part).glob("*.py")]
    named = {name for path in code for name in re.findall(r'"(whichclock\.[a-z-]+/\d+)"', path.read_text("utf-8"))}

    assert [] == undocumented(named - {"whichclock.grader/1"}, page("formats.md"))


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


@pytest.mark.parametrize("block", [b for b in all_blocks("python") if not is_program(b)], ids=str)
def test_the_graders_in_the_docs_are_graders(block: Any) -> None:
    """Python examples run, and what is decorated takes an envelope and perhaps a case, and answers where it asks."""
    names: dict[str, Any] = {}
    exec(compile(block.text, str(block), "exec"), names)

    marked = [f for f in names.values() if getattr(f, MARK, False)]

    assert marked
    assert all(count(f) in (2, 3) if getattr(f, MARK) is not True else takes_case(f) in (True, False) for f in marked)


@pytest.mark.parametrize("block", all_blocks("json"), ids=str)
def test_json_in_the_docs_is_json(block: Any) -> None:
    """Examples are strict JSON, whole or one value a line."""
    lines = {"whichclock.capture-log/1": 3, "whichclock.batch/1": 2}
    of_lines = next((n for name, n in lines.items() if block.text.startswith(f'{{"schema":"{name}"')), None)
    if of_lines is None:
        assert strict_json.loads(block.text)
    else:
        assert of_lines == len([strict_json.loads(line) for line in block.text.splitlines()])


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


@pytest.mark.parametrize("transport", ["http", "exec"])
def test_the_request_documents_of_the_docs_fit_the_schema(transport: str) -> None:
    """The examples are request documents, and the order is that of the body."""
    mark = f'"transport": "{transport}"'
    document = json.loads(next(b.text for b in blocks(DOCS / "formats.md") if mark in b.text))
    shipped = schema.shipped("snapshot")

    valid = schema.validator({**shipped["$defs"][transport], "$defs": shipped["$defs"]})
    assert [] == list(valid.iter_errors(document))
    assert property_order(document.get("body")) == document.get("order", {})


def test_the_manifest_of_the_docs_is_one(tmp_path: Path) -> None:
    """The example is read as the manifest of its batch."""
    text = next(b.text for b in blocks(DOCS / "formats.md") if '"whichclock.batch/1"' in b.text)
    (tmp_path / "manifest.jsonl").write_text(text, encoding="utf-8")

    [listed] = read_manifest(tmp_path / "manifest.jsonl", "support")

    assert ("vectors", ("vector",), 1) == (listed.target, listed.cases, listed.trial)


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
