"""A suite whose grader asks a judge, from capture to diff: which clock moves when the judge, its prompt or its answer does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.capture.server import Asked, ModelServer, Say, echo, model_server, say
from tests.flow.conftest import Project

JUDGED = ("greet", 0)
CONFIG = """\
suite = "support"
cases = ["cases.yaml"]
graders = ["graders.py"]

[defaults]
targets = ["gpt"]

[targets.gpt]
type = "openai"
base_url = "{url}"
endpoint = "openai"
model = "tiny-1"
retries = 0

[targets.judge]
type = "openai"
base_url = "{url}"
endpoint = "judge"
model = "judge-1"
retries = 0
"""
CASES = """\
cases:
  - id: greet
    prompt: "Greet Ann."
    graders: [rude]
    context: {rubric: "Is it rude?"}
  - id: count
    prompt: "Count to three."
"""
GRADERS = '''\
from whichclock import grader


def ask(envelope, case):
    """Put the answer before the judge."""
    text = f"{case['context']['rubric']} Say rude or polite: {envelope['text']}"
    return {"verdict": {"target": "judge", "request": {"messages": [{"role": "user", "content": text}]}}}


@grader(asks=ask)
def rude(envelope, case, answers):
    """Say what the judge says."""
    return {"rude"} if answers["verdict"]["text"] == "rude" else set()
'''


def _reply(verdict: str):
    def reply(asked: Asked) -> Say:
        return say(verdict, model="judge-1") if asked.json["model"] == "judge-1" else say("Hello, Ann!")

    return reply


@pytest.fixture(scope="session")
def judged_template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The suite, captured with a polite judge, graded and saved; only ever copied."""
    root = tmp_path_factory.mktemp("judged") / "project"
    root.mkdir()
    with model_server() as running:
        running.fallback = _reply("polite")
        made = Project(root, running)
        (root / "whichclock.toml").write_text(CONFIG.format(url=running.url))
        (root / "cases.yaml").write_text(CASES)
        (root / "graders.py").write_text(GRADERS)
        made.ok("capture", "--quiet")
        made.ok("grade", "--save", "main", "--quiet")
        made.server = running
        return made


@pytest.fixture
def judged(judged_template: Project, tmp_path: Path, server: ModelServer) -> Project:
    """A copy of the captured suite with a server of its own; the endpoints' names keep the keys."""
    copy = judged_template.copy_to(tmp_path / "project")
    copy.server = server
    (copy.root / "whichclock.toml").write_text(CONFIG.format(url=server.url))
    server.fallback = _reply("polite")
    return copy


def test_a_capture_asks_the_judge_about_the_answer_it_has_recorded(judged_template: Project) -> None:
    """One call for each case and one for what the grader asks; the judge saw the answer."""
    made = judged_template.server.asked

    assert ["judge-1", "tiny-1", "tiny-1"] == sorted(asked.json["model"] for asked in made)
    [asked] = [one for one in made if one.json["model"] == "judge-1"]
    assert "Is it rude? Say rude or polite: Hello, Ann!" == asked.prompt


def test_the_second_capture_asks_nobody(judged: Project) -> None:
    """Answers to graders' requests are replayed like all others, and stand in rows of their own."""
    done = judged.run("capture", "--format", "json", "--quiet")

    assert {"planned": 3, "calls": 0, "replayed": 3} == {
        name: done.json["summary"][name] for name in ("planned", "calls", "replayed")
    }
    assert [("greet", "gpt", None), ("count", "gpt", None), ("greet", "judge", "rude/verdict")] == [
        (row["case_id"], row["target"], row.get("asked")) for row in done.json["rows"]
    ]


def test_the_row_says_which_answer_the_judge_gave(judged: Project) -> None:
    """`asked` names the observation: grader and request, hash, trial, second, answer, rule and integrity."""
    rows = judged.run("grade", "--format", "json", "--quiet").json["rows"]

    [asked] = next(row["asked"] for row in rows if row["case_id"] == "greet")
    assert ("rude/verdict", 0, "openai-chat/1") == (asked["name"], asked["trial"], asked["answer_rule"])
    assert {"name", "request_hash", "trial", "recorded_at", "answer_hash", "answer_rule", "integrity"} == set(asked)
    assert [] == next(row["asked"] for row in rows if row["case_id"] == "count")


def test_a_judge_that_answers_otherwise_is_the_model_clock(judged: Project) -> None:
    """The completion stays; the judge was asked again under the same request."""
    judged.server.fallback = _reply("rude")
    judged.ok("capture", "--judges", "live", "--quiet")

    row = judged.diff("main", code=1)[JUDGED]

    assert ("judge_answer_moved_on_frozen_request", ["model"], "newly_failing") == (
        row["move"],
        row["clocks"],
        row["verdict_change"],
    )


def test_an_edited_judge_prompt_without_a_capture_names_the_command(judged: Project) -> None:
    """Nobody guesses: the row cannot be judged, exit code 3, and the text says what records the answer."""
    judged.edit("graders.py", "Say rude or polite", "Say polite or rude")

    done = judged.run("grade")

    assert 3 == done.code
    assert "no answer is recorded for its request 'verdict' to target judge" in done.out
    assert "whichclock capture --target gpt greet" in done.err


def test_an_edited_judge_prompt_is_the_grader_clock(judged: Project) -> None:
    """The prompt is the grader's code; the completion and its request are the same."""
    judged.edit("graders.py", "Say rude or polite", "Say polite or rude")
    judged.server.fallback = _reply("rude")
    judged.ok("capture", "--quiet")

    row = judged.diff("main", code=1)[JUDGED]

    assert ("grader_changed_on_frozen_hash", ["grader"], "newly_failing") == (
        row["move"],
        row["clocks"],
        row["verdict_change"],
    )


def test_an_edited_rubric_in_the_case_is_the_expectation_clock(judged: Project) -> None:
    """No digest moved and the expectation did: what the judge was asked is the author's edit."""
    judged.edit("cases.yaml", "Is it rude?", "Is it impolite?")
    judged.server.fallback = _reply("rude")
    judged.ok("capture", "--quiet")

    row = judged.diff("main", code=1)[JUDGED]

    assert ("expectation_changed_on_frozen_hash", ["expectation"]) == (row["move"], row["clocks"])


def test_frozen_reads_the_very_answer_that_the_judge_gave(judged: Project) -> None:
    """What the judge says since is no part of a frozen grading."""
    judged.server.fallback = _reply("rude")
    judged.ok("capture", "--judges", "live", "--quiet")

    assert 1 == judged.run("grade", "--quiet").code
    assert 0 == judged.run("grade", "--frozen", "main", "--quiet").code


def test_replay_asks_no_judge_and_misses_what_is_not_recorded(judged: Project) -> None:
    """Offline is offline for graders too."""
    judged.edit("graders.py", "Say rude or polite", "Say polite or rude")
    before = len(judged.server.asked)
    done = judged.run("capture", "--mode", "replay", "--format", "json")

    assert 3 == done.code
    assert before == len(judged.server.asked)
    assert [("rude/verdict", "missed")] == [
        (row["asked"], row["outcome"]) for row in done.json["rows"] if "asked" in row
    ]


def test_judges_off_leaves_them_alone(judged: Project) -> None:
    """The completions are recorded, the judges are not asked."""
    judged.edit("graders.py", "Say rude or polite", "Say polite or rude")
    before = len(judged.server.asked)
    done = judged.run("capture", "--judges", "off", "--format", "json")

    assert (0, before, 2) == (done.code, len(judged.server.asked), done.json["summary"]["planned"])


def test_a_judge_shares_the_trial_of_its_completion(judged: Project) -> None:
    """Two trials, two answers, two questions to the judge."""
    judged.server.fallback = lambda asked: (
        say("polite", model="judge-1") if asked.json["model"] == "judge-1" else echo(asked)
    )
    done = judged.run("capture", "--trials", "2", "--format", "json", "greet")

    assert [(0, None), (1, None), (0, "rude/verdict"), (1, "rude/verdict")] == [
        (row["trial"], row.get("asked")) for row in done.json["rows"]
    ]


ROUNDS = '''\
from whichclock import grader


def one(target, text):
    return {"target": target, "request": {"messages": [{"role": "user", "content": text}]}}


def ask(envelope, case, answers):
    """Ask, then ask about the answer, then about that one."""
    asked = {"first": one("judge", "first")}
    if "first" in answers:
        asked["second"] = one("judge", "second after " + answers["first"]["text"])
    if "second" in answers:
        asked["third"] = one("judge", "third after " + answers["second"]["text"])
    return asked


@grader(asks=ask)
def rude(envelope, answers):
    """Give back the last answer."""
    return {"rude": answers["third"]["text"]}
'''


def _says_it_back(asked: Asked) -> Say:
    return say(f"<{asked.prompt}>") if asked.json["model"] == "judge-1" else say("Hello, Ann!")


def test_three_rounds_build_on_each_other(judged: Project) -> None:
    """What a round is answered decides what the next one asks."""
    (judged.root / "graders.py").write_text(ROUNDS)
    judged.server.fallback = _says_it_back
    judged.ok("capture", "--quiet")
    rows = judged.run("grade", "--format", "json", "--quiet").json["rows"]

    evidence = next(row["evidence"] for row in rows if row["case_id"] == "greet")
    assert {"rude": {"rude": "<third after <second after <first>>>"}} == evidence


def test_a_live_judge_is_asked_nothing_that_hangs_on_its_old_answer(judged: Project) -> None:
    """The second round waits for today's answer to the first."""
    (judged.root / "graders.py").write_text(ROUNDS)
    judged.server.fallback = _says_it_back
    judged.ok("capture", "--quiet")
    before = len(judged.server.asked)
    judged.server.fallback = lambda asked: (
        say(f"[{asked.prompt}]") if asked.json["model"] == "judge-1" else say("Hello, Ann!")
    )
    judged.ok("capture", "--judges", "live", "--quiet")

    assert ["first", "second after [first]", "third after [second after [first]]"] == [
        asked.prompt for asked in judged.server.asked[before:]
    ]


def test_a_fourth_round_is_a_fault_of_the_grader(judged: Project) -> None:
    """Three are enough for judges of judges; more would be a conversation."""
    more = ROUNDS.replace(
        "    return asked\n",
        '    if "third" in answers:\n        asked["fourth"] = one("judge", "x")\n    return asked\n',
    )
    (judged.root / "graders.py").write_text(more)
    judged.server.fallback = _says_it_back
    done = judged.run("capture", "--format", "json")

    assert 3 == done.code
    assert "asks wants more than 3 rounds of requests" in done.json["rows"][-1]["error"]


USABLE = '''\
import json

from whichclock import grader


def ask(envelope):
    """Ask for a structured verdict."""
    return {"verdict": {"target": "judge", "request": {"messages": [{"role": "user", "content": envelope["text"]}]}}}


def is_verdict(answer):
    """Tell whether the judge kept to the form."""
    return isinstance(json.loads(answer["text"])["rude"], bool)


@grader(asks=ask, usable=is_verdict)
def rude(envelope, answers):
    """Read the verdict."""
    return {"rude"} if json.loads(answers["verdict"]["text"])["rude"] else set()
'''


def _verdicts(text: str):
    return lambda asked: say(text, model="judge-1") if asked.json["model"] == "judge-1" else say("Hello, Ann!")


@pytest.fixture
def loose(judged: Project) -> Project:
    """The judge has answered in a form that today's parser cannot read."""
    text = '    return {"verdict": {"target": "judge", "request": {"messages": [{"role": "user", "content": envelope["text"]}]}}}\n'
    (judged.root / "graders.py").write_text(
        "from whichclock import grader\n\n\ndef ask(envelope):\n"
        + text
        + "\n\n@grader(asks=ask)\ndef rude(envelope, answers):\n    return set()\n"
    )
    judged.server.fallback = _verdicts("polite, I should say")
    judged.ok("capture", "--quiet")
    (judged.root / "graders.py").write_text(USABLE)
    return judged


def test_a_recorded_answer_that_the_parser_cannot_read_is_asked_again(loose: Project) -> None:
    """In auto it counts as a miss; the new answer stands beside the old one and is the current one."""
    loose.server.fallback = _verdicts(json.dumps({"rude": False}))
    done = loose.run("capture", "--format", "json", "--quiet")

    assert [("rude/verdict", "moved")] == [
        (row["asked"], row["outcome"]) for row in done.json["rows"] if "asked" in row
    ]
    assert 0 == loose.run("grade", "--quiet").code


def test_a_recorded_answer_that_the_parser_cannot_read_is_an_error_in_replay(loose: Project) -> None:
    """And the message says that a changed judge prompt needs a capture."""
    done = loose.run("capture", "--mode", "replay")
    graded = loose.run("grade")

    assert (3, 3) == (done.code, graded.code)
    assert "cannot be read by the grader as it is now" in done.out
    assert "a changed judge prompt needs a capture" in done.err
    assert "a changed request needs a capture" in graded.out


def test_an_answer_that_cannot_be_read_twice_in_a_row_is_a_failure(loose: Project) -> None:
    """It was asked again once; the run says that it did not help."""
    before = len(loose.server.asked)
    loose.server.fallback = _verdicts("very polite")
    done = loose.run("capture", "--format", "json", "--quiet")

    assert (3, 1) == (done.code, len(loose.server.asked) - before)
    assert "cannot read the new one either" in done.json["rows"][-1]["error"]


@pytest.mark.parametrize(
    ("body", "what"),
    [
        pytest.param("    return None", "asks returned None", id="nothing"),
        pytest.param("    return {'a': {'target': 'judge'}}", "asks returned", id="no request"),
        pytest.param(
            "    return {'a': {'target': 'nobody', 'request': {'messages': []}}}",
            "names no target of the suite",
            id="target",
        ),
        pytest.param(
            "    return {'a': {'target': 'judge', 'request': {'x': object()}}}", "no JSON form", id="an object"
        ),
        pytest.param("    open('/etc/hostname')", "touched the world", id="a file"),
        pytest.param("    raise ValueError('no idea')", "ValueError: no idea", id="an exception"),
        pytest.param("    import os; os._exit(3)", "ended its worker process", id="an end"),
    ],
)
def test_what_asks_does_wrong_is_told_and_the_other_rows_go_on(judged: Project, body: str, what: str) -> None:
    """The grader's author is told; nothing is asked for it, and the row is a grader error."""
    source = f"from whichclock import grader\n\n\ndef ask(envelope):\n{body}\n\n\n@grader(asks=ask)\ndef rude(envelope, answers):\n    return set()\n"
    (judged.root / "graders.py").write_text(source)
    done = judged.run("capture", "--format", "json")
    graded = judged.run("grade", "--format", "json")

    assert (3, 3) == (done.code, graded.code)
    assert what in done.json["rows"][-1]["error"]
    assert ["pass", "grader_error"] == [row["status"] for row in graded.json["rows"]]


def test_a_dry_run_counts_what_graders_would_ask(judged: Project) -> None:
    """An edited judge prompt is a call for the answer that is recorded; nothing is asked, and the line says for whom."""
    judged.edit("graders.py", "Say rude or polite", "Say polite or rude")
    told = judged.run("capture", "--dry-run").out.splitlines()
    made = judged.run("capture", "--dry-run", "--format", "json").json

    assert "greet  judge  for rude/verdict  differs from" == told[0][:44]
    assert "3 planned, 2 replayed: 1 call, retries not counted" == told[-2]
    assert ({"judge": 1}, True, []) == (made["targets"], made["more"], judged.server.asked)
    assert ["rude/verdict"] == [row["asked"] for row in made["rows"]]


def test_a_dry_run_of_what_is_all_recorded_costs_nothing(judged: Project) -> None:
    """Graders' requests are among what is replayed, and no more can come."""
    told = judged.run("capture", "--dry-run").out.splitlines()

    assert ["3 planned, 3 replayed: 0 calls, retries not counted"] == told


def test_a_dry_run_says_that_new_answers_may_bring_more(judged: Project) -> None:
    """What a grader asks about an answer that nobody has given yet is not known."""
    judged.edit("cases.yaml", "Greet Ann.", "Greet Bob.")
    told = judged.run("capture", "--dry-run").out.splitlines()

    assert [
        "2 planned, 1 replayed: 1 call, retries not counted",
        "what graders ask about answers that are not recorded yet is not counted: it may bring more calls",
    ] == told[-2:]


def test_a_dry_run_of_live_judges_counts_each_of_them(judged: Project) -> None:
    """They are asked again; the completions are not."""
    made = judged.run("capture", "--dry-run", "--judges", "live", "--format", "json").json

    assert ({"judge": 1}, 2) == (made["targets"], made["summary"]["replayed"])


def test_a_dry_run_without_judges_counts_none(judged: Project) -> None:
    """With --judges off nothing is asked for graders."""
    judged.edit("graders.py", "Say rude or polite", "Say polite or rude")
    made = judged.run("capture", "--dry-run", "--judges", "off", "--format", "json").json

    assert ({}, False, 2) == (made["targets"], made["more"], made["summary"]["planned"])


def test_one_line_tells_a_job_all_it_acts_on(judged: Project) -> None:
    """`--format line`: one line of JSON, with the exit code, the counts, what a budget left, the cost and the log's name."""
    judged.edit("cases.yaml", "Greet Ann.", "Greet Bob.")
    judged.edit("cases.yaml", "Count to three.", "Count to four.")
    done = judged.run("capture", "--format", "line", "--max-calls", "1")
    line = done.json
    [log] = sorted((judged.root / "snapshots" / "log").glob("*.jsonl"))[-1:]

    assert (3, 1) == (done.code, done.out.count("\n"))
    assert {"schema", "mode", "exit_code", "summary", "left", "cost_usd", "log", "warnings"} == line.keys()
    assert ("whichclock.capture-line/1", "auto", 3, 1, None, log.name, 0) == tuple(
        line[name] for name in ("schema", "mode", "exit_code", "left", "cost_usd", "log", "warnings")
    )
    assert (1, 1) == (line["summary"]["calls"], line["summary"]["refused"])
    assert "hint: 1 row is left by the budget: run the same command again" in done.err
