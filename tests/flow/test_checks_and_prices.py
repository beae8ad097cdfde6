"""What moves a check from run to run: a price, a schema in a file, and what it is told before it is asked."""

from __future__ import annotations

import pytest

from tests.capture.server import say
from tests.flow.conftest import Project

CONFIG = """\
suite = "support"
cases = ["cases.yaml"]

[defaults]
targets = ["gpt"]

[targets.gpt]
type = "openai"
base_url = "{url}"
endpoint = "openai"
model = "tiny-1"
retries = 0

[prices.tiny-1]
input = 1.0
output = 2.0
"""
# The scripted server counts 3 tokens in and 2 out: 7 millionths of a dollar.
CASES = """\
cases:
  - id: cheap
    prompt: "Greet Ann."
    checks: [{max_cost_usd: 0.000007}]
  - id: short
    prompt: "Greet Bob."
    checks: [{max_total_tokens: 5}]
"""


@pytest.fixture
def saved(project: Project) -> Project:
    """Two cases, captured, graded and saved as ``main``."""
    for path in (*project.root.rglob("*.toml"), *project.root.rglob("*.yaml"), *project.root.rglob("*.py")):
        path.unlink()
    (project.root / "whichclock.toml").write_text(CONFIG.format(url=project.server.url))
    (project.root / "cases.yaml").write_text(CASES)
    project.server.fallback = lambda _: say("Hello!")
    project.ok("capture", "--quiet")
    project.ok("grade", "--save", "main", "--quiet")
    return project


def test_a_dearer_price_is_the_expectation_clock_of_the_cases_that_limit_their_cost(saved: Project) -> None:
    """Nobody is asked again, and a case that limits only its tokens does not move."""
    saved.edit("whichclock.toml", "output = 2.0", "output = 2.5")
    rows = saved.diff("main", code=1)

    assert (["expectation"], "expectation_changed_on_frozen_hash") == (
        rows["cheap", 0]["clocks"],
        rows["cheap", 0]["move"],
    )
    assert ["too_costly"] == rows["cheap", 0]["head"]["findings"]
    assert ([], "none") == (rows["short", 0]["clocks"], rows["short", 0]["move"])


def test_a_dry_run_says_that_a_judge_may_be_asked(saved: Project) -> None:
    """The completion is recorded, so what the check asks about it is known and billed."""
    saved.edit("cases.yaml", "{max_total_tokens: 5}", "{judge: {rubric: Short., target: gpt}}")
    told = saved.ok("capture", "--dry-run").out

    assert "check:judge/" in told
