"""The pages about targets, programs and graders that ask: every example loads, is asked, and is graded."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from golden import schema
from golden.model import Suite
from golden.render import Rendered, Wire, render
from golden.suite import load_suite
from golden.target_type import TYPES
from tests.capture.server import Asked, ModelServer, Say, completion, model_server, say_json
from tests.docs.page import ROOT, Block, blocks, is_program, written_files
from tests.flow.conftest import Project

DOCS = ROOT / "docs"
TARGETS = DOCS / "targets.md"
TABLES = [block for page in (TARGETS, DOCS / "exec.md") for block in blocks(page) if block.lang == "toml"]
SECRETS = {"SEARCH_TOKEN": "test-0123456789", "ORDERS_TOKEN": "test-0123456789"}
ANSWERS = {"gpt-4.1-mini": "Order A-17 is on its way.", "gpt-4.1": '{"verdict": "polite"}'}


def _section(kind: str) -> str:
    return TARGETS.read_text("utf-8").split(f"\n## {kind}\n", 1)[1].split("\n## ", 1)[0]


def _loaded(folder: Path, tables: str, cases: str) -> Suite:
    head = "" if tables.startswith("suite") else 'suite = "support"\ncases = ["cases.yaml"]\n'
    (folder / "whichclock.toml").write_text(head + tables, encoding="utf-8")
    (folder / "cases.yaml").write_text(cases, encoding="utf-8")
    return load_suite(folder / "whichclock.toml", environ={})


def _rendered(suite: Suite) -> Rendered:
    case = suite.cases[0]
    return render(suite, case, suite.targets[case.targets[0]])


def _reply(asked: Asked) -> Say:
    model = asked.json["model"]
    if asked.path.endswith("/embeddings"):
        near = [3.0, 4.0] if "shipped" in asked.json["input"] else [4.0, 3.0]
        return say_json({"object": "list", "model": model, "data": [{"index": 0, "embedding": near}]})
    text = "SELECT * FROM orders" if "query" in asked.prompt else ANSWERS[model]
    return say_json(completion(text, model=model))


@pytest.fixture
def asking(tmp_path: Path) -> Any:
    """The project of the page about graders, and a server for its models."""
    with model_server() as server:
        server.fallback = _reply
        written_files(DOCS / "graders.md", tmp_path)
        yield Project(tmp_path, server, _environment(server))


def _environment(server: ModelServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-test-0123456789"}


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_of_target_has_a_section_with_an_example_of_it(kind: str) -> None:
    """Types, their table, their sections and their examples are the same list, in one order of reading."""
    assert f'type = "{kind}"' in _section(kind)
    assert f"| `{kind}` | " in TARGETS.read_text("utf-8").split("## Members")[0]


@pytest.mark.parametrize("kind", [name for name in TYPES if not TYPES[name].form])
def test_the_table_of_types_names_the_path_that_is_asked(kind: str) -> None:
    """The path stands in the row of its type."""
    row = next(line for line in TARGETS.read_text("utf-8").splitlines() if line.startswith(f"| `{kind}` | "))

    assert f"`{TYPES[kind].path.replace('{model}', 'MODEL')}`" in row


def test_every_member_of_a_target_is_in_the_table() -> None:
    """The table of members and the schema name the same ones."""
    table = TARGETS.read_text("utf-8").split("## Members")[1].split("\n## ", 1)[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {name for cell in cells for name in re.findall(r"`([a-z_]+)`", cell)}

    assert set(schema.shipped("config")["$defs"]["target"]["properties"]) - {"type"} == named


@pytest.mark.parametrize("block", TABLES, ids=str)
def test_the_targets_of_the_docs_load(block: Block, tmp_path: Path) -> None:
    """Each table is accepted as it stands, without a warning."""
    suite = _loaded(tmp_path, block.text, "- {id: a, prompt: b, vars: {index: i, language: l, filters: {}}}\n")

    assert [] == list(suite.warnings)
    assert _rendered(suite).request_hash


def test_the_generic_request_is_the_one_that_the_page_says(tmp_path: Path) -> None:
    """Path and body of the example, as they go over the wire."""
    section = _section("http")
    found = {block.lang: block.text for block in blocks(TARGETS) if block.text in section}

    wire = _rendered(_loaded(tmp_path, found["toml"], found["yaml"])).wire(SECRETS)

    said = re.search(r"`(POST) (\S+)` with the body `(.*)`", section)
    assert isinstance(wire, Wire) and said is not None and wire.body is not None
    assert (said[1], f"https://search.example.com{said[2]}", said[3]) == (wire.method, wire.url, wire.body.decode())


def test_the_body_of_the_docs_goes_as_it_is(tmp_path: Path) -> None:
    """A case with a body: nothing is added to it."""
    claude = next(block.text for block in TABLES if 'type = "anthropic"' in block.text)
    cases = next(block.text for block in blocks(TARGETS) if "raw_message" in block.text)

    body = _rendered(_loaded(tmp_path, claude, cases)).document["body"]

    expected = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 64,
        "messages": [{"role": "user", "content": "Say hello."}],
    }
    assert expected == body


def test_the_program_of_the_docs_answers_and_is_graded(tmp_path: Path) -> None:
    """The three files of the page are a project: one call, one answer that passes, and the document that the page shows."""
    page = DOCS / "exec.md"
    written_files(page, tmp_path)
    with model_server() as nobody:
        project = Project(tmp_path, nobody)
        project.ok("capture", "--quiet")
        project.ok("grade", "--quiet")

    [snapshot] = [json.loads(path.read_bytes()) for path in project.snapshots]
    shown = next(block.text for block in blocks(page) if block.lang == "json" and '"provider"' in block.text)
    assert "Order A-17 is shipped." == snapshot["response"]["body"]["output"]
    assert json.loads(shown) == snapshot["request"]["stdin"]


@pytest.mark.parametrize("block", [b for b in blocks(DOCS / "graders.md") if is_program(b)], ids=str)
@pytest.mark.parametrize(("output", "passes"), [("SELECT * FROM orders", True), ("Here you are", False)])
def test_the_checker_of_the_docs_judges_the_document_that_the_docs_show(
    block: Block, output: str, passes: bool
) -> None:
    """The program reads an assert document and prints a verdict."""
    shown = next(b.text for b in blocks(DOCS / "exec.md") if '"assert"' in b.text)
    asked = json.dumps({**json.loads(shown), "output": output})

    done = subprocess.run([sys.executable, "-c", block.text], input=asked, capture_output=True, text=True, check=True)

    assert passes is json.loads(done.stdout)["pass"]


def test_the_graders_of_the_docs_ask_and_are_answered(asking: Project) -> None:
    """Two answers, and about them one judgement, two vectors and one verdict of a program; then nobody is asked again."""
    first = asking.run("capture", "--format", "json", "--quiet").json
    asking.ok("grade", "--quiet")
    asking.ok("capture", "--mode", "replay", "--quiet")

    told = [(row["target"], row.get("asked")) for row in first["rows"] if row["outcome"] == "recorded"]
    assert [
        ("gpt", None),
        ("gpt", None),
        ("judge", "tone/verdict"),
        ("sql", "parsed/verdict"),
        ("vectors", "meaning/answer"),
        ("vectors", "meaning/reference"),
    ] == sorted(told, key=lambda row: (row[0], row[1] or ""))


def test_the_finding_of_meaning_is_the_cosine(asking: Project) -> None:
    """(4, 3) and (3, 4) have the cosine 24/25; a threshold above it makes the finding."""
    asking.ok("capture", "--quiet")
    asking.edit("meaning.py", "NEAR = 0.8", "NEAR = 0.97")

    rows = asking.run("grade", "--format", "json", "--quiet").json["rows"]

    evidence = next(row["evidence"] for row in rows if row["case_id"] == "where_is_my_order")
    assert {"other_meaning": {"meaning": 0.96}} == evidence
