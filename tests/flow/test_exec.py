"""A program as a target, from capture to diff: what it said is graded, what it cost is told, and an edit of it is seen."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.capture.server import ModelServer
from tests.flow.conftest import Project

CONFIG = f"""\
suite = "programs"
cases = ["cases.yaml"]
graders = ["graders.py"]

[targets.sut]
type = "exec"
command = {json.dumps([sys.executable, "-I", "-S", "programs/sut.py"])}
model = "m-1"
retries = 0
"""
CASES = """\
cases:
  - id: calls
    request:
      messages: [{role: user, content: "Where is A-17?"}]
      tools: [{type: function, function: {name: get_order, parameters: {type: object, properties: {order_id: {type: string}}}}}]
    graders: [called]
    expected: [called_a_17]
    allowed_tools: [get_order]
  - id: says
    prompt: "Say {{ word }}."
    vars: {word: hello}
    checks: [{contains: hello}]
"""
GRADERS = """\
from whichclock import grader

@grader
def called(envelope):
    [call] = envelope["tool_calls"]
    usage = envelope["usage"]
    assert (envelope["finish_reason"], envelope["model"], envelope["reasoning"]) == ("tool_calls", "m-1b", "Hm.")
    assert (usage["input_tokens"], usage["output_tokens"]) == (7, 2), usage
    return {"called_a_17"} if call["arguments"] == {"order_id": "A-17"} else set()
"""
PROGRAM = """\
import json, sys
asked = json.load(sys.stdin)
if "tools" in asked:
    call = {"id": "1", "name": asked["tools"][0]["name"], "arguments": {"order_id": "A-17"}}
    answer = {
        "output": "", "tool_calls": [call], "stop_reason": "tool_calls", "model": "m-1b", "reasoning": "Hm.",
        "usage": {"input_tokens": 4, "cache_read_tokens": 3, "output_tokens": 2}, "cost_usd": 0.25,
    }
else:
    answer = {"output": f"You said {asked['vars']['word']}", "usage": {"input_tokens": 4, "output_tokens": 2}}
json.dump(answer, sys.stdout)
"""


@pytest.fixture
def programs(tmp_path: Path, server: ModelServer) -> Project:
    """A suite whose target is a program, nothing recorded yet."""
    root = tmp_path / "project"
    (root / "programs").mkdir(parents=True)
    (root / "whichclock.toml").write_text(CONFIG)
    (root / "cases.yaml").write_text(CASES)
    (root / "graders.py").write_text(GRADERS)
    (root / "programs/sut.py").write_text(PROGRAM)
    return Project(root, server)


def test_a_program_is_captured_and_graded_like_a_model(programs: Project, tmp_path: Path) -> None:
    """From anywhere; text, tool calls, usage, reasoning, the model and the stop reason are what it said."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    config = programs.root / "whichclock.toml"
    done = programs.run("capture", "--config", config, "--format", "json", cwd=elsewhere)
    assert ["recorded", "recorded"] == [row["outcome"] for row in done.json["rows"]], done.err

    rows = {row["case_id"]: row for row in programs.ok("grade", "--format", "json").json["rows"]}

    columns = ("status", "input_tokens", "output_tokens", "cost_usd", "finish_reason", "reported_model")
    assert ("pass", 7, 2, 0.25, "tool_calls", "m-1b") == tuple(rows["calls"][name] for name in columns)
    assert ("pass", 4, 2, None, None, None) == tuple(rows["says"][name] for name in columns)
    assert 0 == programs.run("snapshots", "verify").code


def test_what_a_program_cost_is_replayed_as_it_said(programs: Project) -> None:
    """A price of its model is for the answers that say nothing: 4 tokens in and 2 out at a dollar each."""
    programs.ok("capture")
    programs.edit(
        "whichclock.toml", "[targets.sut]", '[prices."m-1"]\ninput = 1000000\noutput = 1000000\n\n[targets.sut]'
    )
    rows = {row["case_id"]: row for row in programs.ok("grade", "--format", "json").json["rows"]}

    assert (0.25, 6.0) == (rows["calls"]["cost_usd"], rows["says"]["cost_usd"])


def test_an_edited_program_is_warned_of_and_moves_no_clock(programs: Project) -> None:
    """Until it is asked again: then its answer moves the model's clock."""
    programs.ok("capture")
    programs.ok("grade", "--save", "main")
    programs.edit("programs/sut.py", "You said", "You told me")

    replayed = programs.ok("capture", "--mode", "replay")
    assert "programs/sut.py is another file than when answers were recorded" in replayed.err
    assert [[], []] == [row["clocks"] for row in programs.diff("main").values()]
    programs.ok("capture", "--mode", "live")

    assert {"calls": [], "says": ["model"]} == {case: row["clocks"] for (case, _), row in programs.diff("main").items()}


def test_a_recorded_program_need_not_be_there(programs: Project, tmp_path: Path) -> None:
    """Replay and grade run nothing."""
    programs.ok("capture")
    copy = programs.copy_to(tmp_path / "copy")
    shutil.rmtree(copy.root / "programs")

    assert "2 replayed" in copy.ok("capture", "--mode", "replay").out
    copy.ok("grade")
