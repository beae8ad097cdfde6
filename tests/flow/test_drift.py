"""Drift of a suite's model, through the whole command line."""

from __future__ import annotations

from fractions import Fraction

from tests.capture.server import Asked, Say, say
from tests.flow.conftest import Project

CONFIG = """\
suite = "support"
cases = ["cases.yaml"]
graders = ["graders.py"]
[defaults]
trials = 5
pass = "any"
[targets.gpt]
type = "openai"
base_url = "{url}"
endpoint = "openai"
model = "tiny-1"
"""


def _suite(project: Project, cases: int) -> None:
    (project.root / "whichclock.toml").write_text(CONFIG.format(url=project.server.url))
    lines = "".join(f"  - {{id: c{i}, prompt: 'case {i}', checks: [{{contains: good}}]}}\n" for i in range(cases))
    (project.root / "cases.yaml").write_text(f"cases:\n{lines}")
    (project.root / "graders.py").write_text("")


class Model:
    """Answers well in so many of each case's five trials."""

    def __init__(self, good: int) -> None:
        self.good = good
        self.seen: dict[str, int] = {}

    def __call__(self, asked: Asked) -> Say:
        number = self.seen[asked.prompt] = self.seen.get(asked.prompt, 0) + 1
        return say(f"good {number}" if number <= self.good else f"bad {number}")


def test_a_shift_of_many_cases_is_drift_although_no_verdict_changed(project: Project) -> None:
    """Eight cases go from five passing trials to three: no verdict under `any`, but two of 256 sign flips."""
    _suite(project, 8)
    project.server.fallback = Model(5)
    project.ok("capture", "--quiet", "--concurrency", "1")
    project.ok("grade", "--save", "main", "--quiet")
    project.server.fallback = Model(3)
    project.ok("capture", "--mode", "live", "--quiet", "--concurrency", "1")
    done = project.ok("diff", "main", "--format", "json")

    assert {
        "cases": 8,
        "worse": 8,
        "better": 0,
        "change": str(Fraction(-2, 5)),
        "p": 2 / 256,
        "smallest_p": 2 / 256,
        "fires": True,
    } == done.json["summary"]["drift"]
    assert (0, 8) == tuple(done.json["summary"]["verdict_changes"][v] for v in ("newly_failing", "still_passing"))
    assert "the model: drift: 8 pass less often, 0 more often, of 8 cases" in project.ok("diff", "main").out


def test_an_edited_prompt_is_no_drift(project: Project) -> None:
    """Cases whose request moved say nothing about the model."""
    _suite(project, 8)
    project.server.fallback = Model(5)
    project.ok("capture", "--quiet", "--concurrency", "1")
    project.ok("grade", "--save", "main", "--quiet")
    path = project.root / "cases.yaml"
    path.write_text(path.read_text().replace("'case ", "'the case "))
    project.server.fallback = Model(0)
    project.ok("capture", "--quiet", "--concurrency", "1")
    done = project.ok("diff", "main", "--format", "json", code=1)

    assert (0, None, False) == tuple(done.json["summary"]["drift"][name] for name in ("cases", "p", "fires"))


def test_trials_that_one_side_lacks_do_not_hide_the_drift(project: Project) -> None:
    """One trial before, two now: the paired one of each case went from pass to fail, eight times."""
    _suite(project, 8)
    path = project.root / "whichclock.toml"
    path.write_text(path.read_text().replace("trials = 5", "trials = 1"))
    project.server.fallback = Model(5)
    project.ok("capture", "--quiet", "--concurrency", "1")
    project.ok("grade", "--save", "main", "--quiet")
    path.write_text(path.read_text().replace("trials = 1", "trials = 2"))
    project.server.fallback = Model(0)
    project.ok("capture", "--mode", "live", "--quiet", "--concurrency", "1")
    done = project.ok("diff", "main", "--format", "json", code=1)

    assert (8, 8, 2 / 256) == tuple(done.json["summary"]["drift"][name] for name in ("cases", "worse", "p"))
