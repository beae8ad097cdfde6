"""What ``why`` names where a judge or a program is behind a move, where several clocks moved, and where there is no git."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.capture.server import Asked, ModelServer, Say, say
from tests.flow.conftest import Project
from tests.flow.test_judges import CASES, CONFIG, GRADERS


class Model:
    """A model that greets, and a judge that says one word."""

    verdict = "polite"

    def __call__(self, asked: Asked) -> Say:
        return say(self.verdict, model="judge-1") if asked.json["model"] == "judge-1" else say("Hello, Ann!")


@pytest.fixture
def model(server: ModelServer) -> Model:
    """The model behind the suite."""
    server.fallback = made = Model()
    return made


@pytest.fixture
def judged(tmp_path: Path, server: ModelServer, model: Model) -> Project:
    """A suite whose judge is asked with seed 7: captured, graded and saved as ``main``."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "whichclock.toml").write_text(CONFIG.format(url=server.url) + "params = { seed = 7 }\n")
    (root / "cases.yaml").write_text(CASES)
    (root / "graders.py").write_text(GRADERS)
    (root / ".gitignore").write_text("results/\n")
    project = Project(root, server)
    project.ok("capture", "--quiet")
    project.ok("grade", "--save", "main", "--quiet")
    return project


def _reseed(project: Project) -> None:
    project.edit("whichclock.toml", "seed = 7", "seed = 8")
    project.ok("capture", "--quiet")


def test_a_judge_with_another_configuration_is_named_with_target_and_pointer(judged: Project) -> None:
    """No code moved: the grader clock says what the judge is asked otherwise, and its digest stands once."""
    _reseed(judged)
    lines = judged.ok("why", "greet", "main").out.splitlines()
    grader = next(i for i, line in enumerate(lines) if line.startswith("  grader "))
    digest = judged.run("grade", "--format", "json", "--quiet").json["rows"][1]["grader_digest"][:12]

    assert [
        f"  grader       moved    {digest} on both sides",
        "      rude/verdict to judge /body/seed",
        "        - 7",
        "        + 8",
    ] == lines[grader : grader + 4]


def test_the_commit_that_configured_the_judge_is_named(judged: Project) -> None:
    """The commit of the target's table, and not that of the grader's code."""
    judged.git("init", "-q")
    for subject in ("First state", "Seed the judge otherwise"):
        if subject != "First state":
            _reseed(judged)
        judged.git("add", "-A")
        judged.git("commit", "-qm", subject)
    clocks = judged.ok("why", "greet", "git:HEAD~1", "--format", "json").json["cases"][0]["clocks"]

    [moved_by] = [clock["moved_by"] for clock in clocks if clock["state"] == "moved"]
    assert "Seed the judge otherwise" == moved_by.partition(" ")[2]


def test_a_judge_that_answers_otherwise_is_the_model_clock_with_both_answers(judged: Project, model: Model) -> None:
    """The answer itself stands still; the judge's is shown before and after."""
    model.verdict = "rude"
    judged.ok("capture", "--judges", "live", "--quiet")
    out = judged.ok("why", "greet", "main").out

    assert "      rude/verdict to judge /choices/0/message/content\n        - polite\n        + rude\n" in out


def test_without_git_it_is_said_once(judged: Project, model: Model) -> None:
    """One sentence for all clocks of all cases, and no word of git's own."""
    _reseed(judged)
    judged.edit("cases.yaml", "Count to three.", "Count to four.")
    judged.ok("capture", "--quiet")
    done = judged.ok("why", "*", "main")
    cases = judged.ok("why", "*", "main", "--format", "json").json["cases"]

    assert (1, 0) == (done.out.count("no git here: no commit is named\n"), done.out.count("fatal"))
    assert [("no git here: no commit is named", {None})] * 2 == [
        (case["note"], {clock["moved_by"] for clock in case["clocks"]}) for case in cases
    ]


def test_a_program_that_changed_is_named_by_its_file(tmp_path: Path, server: ModelServer) -> None:
    """The request is the same, the answer is another: the model clock says which of the program's files differs."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "whichclock.toml").write_text(
        f'suite = "s"\ncases = ["cases.yaml"]\n[targets.sut]\ntype = "exec"\ncommand = ["{sys.executable}", "sut.py"]\n'
    )
    (root / "cases.yaml").write_text("cases:\n  - id: says\n    prompt: Say hello.\n")
    (root / "sut.py").write_text('print(\'{"output": "hello"}\')\n')
    project = Project(root, server)
    project.ok("capture", "--quiet")
    project.ok("grade", "--save", "main", "--quiet")
    project.edit("sut.py", "hello", "goodbye")
    project.ok("capture", "--mode", "live", "--quiet")
    out = project.ok("why", "says", "main").out

    assert "      the program changed: sut.py\n" in out
    assert "      /output\n        - hello\n        + goodbye\n" in out


CAPPED = """\
from whichclock import grader


@grader
def long(envelope):
    return {{"long": len(envelope["text"])}} if len(envelope["text"]) > {limit} else set()
"""


@pytest.fixture
def capped(tmp_path: Path, server: ModelServer) -> Project:
    """A case of an answer that may have 20 characters and has 10, saved as ``main``."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "whichclock.toml").write_text(
        'suite = "s"\ncases = ["cases.yaml"]\ngraders = ["graders.py"]\n[targets.gpt]\ntype = "openai"\n'
        f'base_url = "{server.url}"\nmodel = "m"\n'
    )
    (root / "cases.yaml").write_text("cases:\n  - id: a\n    prompt: one\n    graders: [long]\n")
    (root / "graders.py").write_text(CAPPED.format(limit=20))
    server.fallback = lambda asked: say("x" * 10)
    project = Project(root, server)
    project.ok("capture", "--quiet")
    project.ok("grade", "--save", "main", "--quiet")
    return project


def _ask_otherwise(project: Project, length: int) -> None:
    """Move the request clock, and let the model answer with so many characters."""
    project.server.fallback = lambda asked: say("x" * length)
    project.edit("cases.yaml", "prompt: one", "prompt: two")
    project.ok("capture", "--quiet")


def test_what_two_clocks_did_together_is_told_with_both_cures(capped: Project) -> None:
    """Fifteen characters pass the old limit, and ten pass the new one."""
    _ask_otherwise(capped, 15)
    (capped.root / "graders.py").write_text(CAPPED.format(limit=12))
    out = capped.ok("why", "a", "main").out
    [case] = capped.ok("why", "a", "main", "--format", "json").json["cases"]

    together = "only together: undoing either brings the pass back"
    assert f"  share of the change: request+model -0.5, grader -0.5; {together}\n" in out
    assert "      +long (long: 15)\n" in out
    assert ({"request+model": "-1/2", "grader": "-1/2"}, [["request+model"], ["grader"]]) == (
        case["attribution"],
        case["cures"],
    )


def test_another_question_shows_both_answers(capped: Project) -> None:
    """The model is not accused, and what it said is shown all the same."""
    _ask_otherwise(capped, 15)
    out = capped.ok("why", "a", "main").out

    told = "      the request moved: another question has another answer\n      /choices/0/message/content\n"
    assert f"{told}        - xxxxxxxxxx\n        + xxxxxxxxxxxxxxx\n" in out


def test_another_question_with_the_same_answer_says_so(capped: Project) -> None:
    """No answer changed, and none is shown."""
    _ask_otherwise(capped, 10)
    [case] = capped.ok("why", "a", "main", "--format", "json").json["cases"]

    assert ("unknown", "another question, the same answer", []) == tuple(
        case["clocks"][1][name] for name in ("state", "note", "changes")
    )


def test_another_question_without_an_answer_says_what_there_is_not(capped: Project) -> None:
    """A prompt that was edited and not asked yet."""
    capped.edit("cases.yaml", "prompt: one", "prompt: two")
    [case] = capped.ok("why", "a", "main", "--format", "json").json["cases"]

    assert "the request moved; base: pass, head: missing_snapshot" == case["clocks"][1]["note"]


def test_a_trial_that_there_is_not_is_an_error_of_usage(capped: Project) -> None:
    """It names those that there are."""
    done = capped.run("why", "a", "main", "--trial", "3")

    assert (2, "error: 'a' has no trial 3\nhint: it has trial 0\n") == (done.code, done.err)
