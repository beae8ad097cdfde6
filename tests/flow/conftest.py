"""A whole project on disk, a scripted model on the loopback, and the command line as a user runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.capture.server import ModelServer, model_server

WHICHCLOCK = Path(sys.executable).with_name("whichclock")

CONFIG = """\
suite = "support"
cases = ["golden/cases/*.yaml"]
graders = ["golden/cases/graders.py"]

[targets.gpt]
type = "openai"
base_url = "{url}"
endpoint = "openai"
model = "tiny-1"
retries = 0
"""

CASES = """\
cases:
  - id: refuse_invented_order_id
    request:
      messages: [{role: user, content: "Get my order, you know the id."}]
      tools: [{type: function, function: {name: get_order, parameters: {type: object, properties: {order_id: {type: string}, note: {type: string}}}}}]
    expected: [ok_refusal]
    allowed_tools: [get_order]
    graders: [order_grader]
  - id: greet
    prompt: {file: golden/cases/greet.txt}
    vars: {name: Ann}
    checks: [{contains: Ann}]
"""

GRADERS = '''\
from whichclock import grader


@grader
def order_grader(envelope):
    """Say what the answer does about the order id."""
    if envelope["refusal"]:
        return {"ok_refusal"}
    return {"invented_argument"} if envelope["tool_calls"] else {"ok"}
'''


@dataclass
class Done:
    """A finished command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Project:
    """A project root and the ways to work in it."""

    root: Path
    server: ModelServer
    env: dict[str, str] = field(default_factory=dict)

    def run(self, *arguments: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> Done:
        """Run ``whichclock`` with an environment that holds nothing but what is given."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.root), **self.env, **(env or {})}
        done = subprocess.run(
            [WHICHCLOCK, *map(str, arguments)],
            cwd=cwd or self.root,
            env=environment,
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def ok(self, *arguments: str | Path, code: int = 0) -> Done:
        """Run a command that must end with ``code``."""
        done = self.run(*arguments)
        assert (done.code, "Traceback" in done.err) == (code, False), done.out + done.err
        return done

    def diff(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        """Return the rows of a diff by (case id, trial)."""
        rows = self.ok("diff", *arguments, "--format", "json", code=code).json["rows"]
        return {(row["case_id"], row["trial"]): row for row in rows}

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text that must be there."""
        path = self.root / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def git(self, *arguments: str) -> str:
        """Run git with an invented author."""
        identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main"]
        return subprocess.run(
            ["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True, text=True
        ).stdout

    @property
    def snapshots(self) -> list[Path]:
        """Return all snapshot files in order."""
        return sorted((self.root / "snapshots" / "sha256").glob("*/*.json"))

    def copy_to(self, root: Path) -> Project:
        """Return the same project at another place."""
        shutil.copytree(self.root, root)
        return Project(root, self.server, dict(self.env))


def refuse_or_greet(asked: Any) -> Any:
    """Refuse to say order ids; greet by name."""
    from tests.capture.server import say

    return say(None, refusal="I need the order id.") if "order" in asked.prompt else say("Hello Ann")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that refuses to invent order ids."""
    with model_server() as running:
        running.fallback = refuse_or_greet
        yield running


def written(root: Path, server: ModelServer) -> Project:
    """Write a project with two cases, nothing recorded yet."""
    cases = root / "golden" / "cases"
    cases.mkdir(parents=True)
    (root / "whichclock.toml").write_text(CONFIG.format(url=server.url))
    (cases / "cases.yaml").write_text(CASES)
    (cases / "greet.txt").write_text("Say hello to {{ name }}.\n")
    (cases / "graders.py").write_text(GRADERS)
    return Project(root, server)


@pytest.fixture
def project(tmp_path: Path, server: ModelServer) -> Project:
    """A project with two cases, nothing recorded yet."""
    return written(tmp_path / "project", server)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with its answers recorded, graded and saved as ``main``; only ever copied."""
    with model_server() as running:
        running.fallback = refuse_or_greet
        made = written(tmp_path_factory.mktemp("template") / "project", running)
        made.ok("capture", "--quiet")
        made.ok("grade", "--save", "main")
        return made


@pytest.fixture
def recorded(template: Project, tmp_path: Path, server: ModelServer) -> Project:
    """A copy of the recorded project with a server of its own; the endpoint's name keeps the keys."""
    copy = template.copy_to(tmp_path / "project")
    copy.server = server
    copy.edit("whichclock.toml", template.server.url, server.url)
    return copy
