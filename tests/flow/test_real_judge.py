"""A suite that is judged by a real model, end to end: which clock moves when the judge's prompt, or its answer, does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from diff import model_server
from diff.model_process import running_model
from tests.capture.server import model_server as scripted
from tests.flow.conftest import Project

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not model_server.is_installed(), reason="the model is not installed: make demo"),
    # One model at a time: two of them on two cores are many times slower.
    pytest.mark.xdist_group("model"),
]
CONFIG = """\
suite = "support"
cases = ["cases.yaml"]
graders = ["graders.py"]

[defaults]
targets = ["bot"]

[targets.bot]
type = "openai"
base_url = "{url}/v1"
endpoint = "bot"
model = "smollm2-135m"
concurrency = 1
timeout_s = 120
params = {{ temperature = 0, max_tokens = 24 }}

[targets.judge]
type = "openai"
base_url = "{url}/v1"
endpoint = "judge"
model = "smollm2-135m"
concurrency = 1
timeout_s = 120
params = {{ temperature = {temperature}, max_tokens = 60 }}
"""
CASES = """\
cases:
  - id: greet
    prompt: "Greet Ann in one sentence."
    graders: [rude]
"""
GRADERS = '''\
import json

from whichclock import grader

SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["rude", "polite"]}, "score": {"type": "integer", "minimum": 0, "maximum": 99999}},
    "required": ["verdict", "score"],
    "additionalProperties": False,
}


def ask(envelope):
    """Put the answer before the judge, who can only answer with a verdict."""
    text = f"Is this rude or polite? {envelope['text']}"
    shape = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": SCHEMA}}
    return {"verdict": {"target": "judge", "request": {"messages": [{"role": "user", "content": text}], "response_format": shape}}}


def is_verdict(answer):
    """Tell whether it is one."""
    return json.loads(answer["text"])["verdict"] in ("rude", "polite")


@grader(asks=ask, usable=is_verdict)
def rude(envelope, answers):
    """Give back the verdict as it stands."""
    told = json.loads(answers["verdict"]["text"])
    return {told["verdict"]: str(told["score"])}
'''


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run the model's server and yield its address."""
    with running_model(tmp_path_factory.mktemp("model") / "log") as url:
        yield url


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, model: str) -> Project:
    """The suite, captured, with the judge's own verdict expected, graded and saved as ``main``; only ever copied."""
    with scripted() as nobody:  # a project knows a scripted server; this one asks a real one
        made = Project(tmp_path_factory.mktemp("judge") / "project", nobody)
    made.root.mkdir()
    # The judge draws: at this temperature it does not say the same twice, without a seed.
    (made.root / "whichclock.toml").write_text(CONFIG.format(url=model, temperature=1.5))
    (made.root / "cases.yaml").write_text(CASES)
    (made.root / "graders.py").write_text(GRADERS)
    capture(made)
    verdict = verdict_of(made)["verdict"]
    (made.root / "cases.yaml").write_text(f"{CASES}    expected: [{verdict}]\n")
    made.ok("grade", "--save", "main", "--quiet")
    return made


@pytest.fixture
def judged(template: Project, tmp_path: Path) -> Project:
    """A copy of the suite that may be edited."""
    return template.copy_to(tmp_path / "project")


def capture(project: Project) -> None:
    """Capture until the judge's answer can be read: now and then one is cut off at its longest, and is asked for again."""
    for _ in range(10):
        project.run("capture", "--quiet")
        if project.run("grade", "--quiet").code != 3:
            return
    raise AssertionError("the judge gave no verdict in ten attempts")


def verdict_of(project: Project) -> dict[str, object]:
    """Return the verdict that stands in the judge's last recorded answer, read from the raw file."""
    told = [json.loads(path.read_text()) for path in project.snapshots]
    raw = [one for one in told if one["meta"]["target"] == "judge"]
    last = max(raw, key=lambda one: one["recorded_at"])
    return json.loads(last["response"]["body"]["choices"][0]["message"]["content"])


def test_the_judge_gives_a_verdict_that_the_grader_reads(judged: Project) -> None:
    """Constrained by the schema it can only say one of two words; the finding is the word in the raw answer."""
    [row] = judged.ok("grade", "--format", "json", "--quiet").json["rows"]
    told = verdict_of(judged)

    assert told["verdict"] in ("rude", "polite")
    assert [told["verdict"]] == row["findings"]
    assert {told["verdict"]: {"rude": str(told["score"])}} == row["evidence"]
    assert ["rude/verdict"] == [asked["name"] for asked in row["asked"]]


def test_the_second_capture_asks_nobody(judged: Project) -> None:
    """Both answers are replayed."""
    done = judged.ok("capture", "--format", "json", "--quiet").json

    assert (0, 2) == (done["summary"]["calls"], done["summary"]["replayed"])


def test_a_judge_that_draws_again_is_the_model_clock(judged: Project) -> None:
    """The same request, another answer: only the judge's answer moved."""
    for _ in range(20):
        done = judged.run("capture", "--judges", "live", "--format", "json", "--quiet").json
        if "moved" in [row["outcome"] for row in done["rows"]]:
            break
    capture(judged)
    row = judged.diff("main", "--gate", "none")["greet", 0]

    assert ("judge_answer_moved_on_frozen_request", ["model"]) == (row["move"], row["clocks"])


def test_an_edited_judge_prompt_is_the_grader_clock(judged: Project) -> None:
    """Without a capture the command that is missing is named; with one the clock is the grader's."""
    judged.edit("graders.py", "Is this rude or polite?", "Would Ann be hurt by this? Say rude or polite.")
    missing = judged.run("grade")
    capture(judged)
    row = judged.diff("main", "--gate", "none")["greet", 0]

    assert 3 == missing.code
    assert "no answer is recorded for its request 'verdict' to target judge" in missing.out
    assert "whichclock capture --target bot greet" in missing.err
    assert ["grader"] == row["clocks"]
    assert row["move"] in ("grader_changed_on_frozen_hash", "none")  # the verdict may be the same by chance
