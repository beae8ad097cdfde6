"""A small project on disk, written by each test as it needs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from golden.model import Case, Suite
from golden.render import Rendered, render
from golden.suite import load_suite
from snapshots.errors import AuthorError

CONFIG = """\
suite = "support"
cases = ["cases/*"]

[targets.gpt]
type = "openai"
base_url = "https://api.example.com/v1"
model = "m1"
"""


class Project:
    """A project root with a configuration file; nothing in it is read before ``load``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environ: dict[str, str] = {}
        self.config(CONFIG)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def config(self, text: str) -> Path:
        return self.write("whichclock.toml", text)

    def cases(self, *cases: dict[str, Any]) -> None:
        self.write("cases/a.json", json.dumps(list(cases)))

    def load(self, **options: Any) -> Suite:
        return load_suite(self.root / "whichclock.toml", environ=self.environ, **options)

    def case(self, **members: Any) -> Case:
        """Load a suite of one case, whose id and prompt are given if the test does not care."""
        if not {"request", "prompt", "body"} & set(members):
            members["prompt"] = "hi"
        self.cases({"id": "c", **members})
        return self.load().cases[0]

    def rendered(self, **members: Any) -> Rendered:
        """Load a suite of one case and render it for its first target."""
        case = self.case(**members)
        suite = self.load()
        return render(suite, case, suite.targets[case.targets[0]])

    def refused(self) -> AuthorError:
        """Load the suite, which must be refused, and return the error."""
        with pytest.raises(AuthorError) as caught:
            self.load()
        return caught.value


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)
