"""The README's project, a scripted model, and the shell in which its commands run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.capture.server import Asked, ModelServer, Say, completion, say_json
from tests.docs.page import ROOT, Step, blocks

COMMITTED = "2026-11-30T12:00:00Z"
MODEL = "gpt-4.1-mini-2025-04-14"
# What differs from run to run: seconds, latencies, commit ids, and digests of files that hold a second.
_MOVING = (
    (re.compile(r"\d{8}T\d{6}Z"), "SECOND"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "INSTANT"),
    (re.compile(r"(?<=\.)[0-9a-f]{8}(?=\.json)"), "INTEGRITY"),
    (re.compile(r"latency_ms: \d+"), "latency_ms: N"),
    (re.compile(r"(?<=\()[0-9a-f]{12}(?=\))"), "COMMIT"),
    (re.compile(r"(?<= by )[0-9a-f]{12}(?= )"), "COMMIT"),
)
# FILE is set in one command and used in the next ones, as in a shell that a person types into.
_REMEMBER = "FILE=$(ls snapshots/sha256/*/*.json 2>/dev/null | head -n 1)\n"


def still(text: str) -> str:
    """Return an output without what differs from run to run."""
    for pattern, word in _MOVING:
        text = pattern.sub(word, text)
    return text.rstrip()


def numbered(text: str) -> str:
    """Return a text whose integrity digests, which hold a second and so differ from run to run, have one name."""
    return re.sub(r"(?<=sha256:)[0-9a-f]{64}|^[0-9a-f]{64}(?=  -$)", "DIGEST", text, flags=re.MULTILINE)


class Script:
    """The model of the tour: it asks for the order id, and greets by name only when it is asked first."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()
        self.model = MODEL

    def __call__(self, asked: Asked) -> Say:
        self._asked[asked.prompt] += 1
        return say_json(completion(self._text(asked.prompt), model=self.model))

    def _text(self, prompt: str) -> str:
        if prompt.startswith("Refund"):
            return "I can do that. What is the order id?"
        if prompt.startswith("Thank"):
            return "Thank you for waiting!"
        return "Good morning, Ann!" if self._asked[prompt] == 1 else "Good morning, and welcome back!"


@dataclass
class Project:
    """A project root, the server that answers it, and a shell in it."""

    root: Path
    server: ModelServer

    @property
    def environment(self) -> dict[str, str]:
        """Return an environment that holds nothing but what is needed."""
        return {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(self.root.parent),
            "LC_ALL": "C",
            "OPENAI_BASE_URL": self.server.url,
            "OPENAI_API_KEY": "sk-test-0123456789",
            "GIT_CONFIG_GLOBAL": str(self.root.parent / "gitconfig"),
            "GIT_AUTHOR_DATE": COMMITTED,
            "GIT_COMMITTER_DATE": COMMITTED,
        }

    def shell(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a shell text in the project."""
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def step(self, step: Step) -> str:
        """Run a command of a page and return what it prints."""
        done = self.shell(_REMEMBER + step.command)
        return done.stdout + done.stderr

    def publish(self) -> None:
        """Let ``origin/main`` be what was committed last."""
        self.shell("git update-ref refs/remotes/origin/main HEAD")


def written(folder: Path, server: ModelServer) -> Project:
    """Return the project of the README below a folder, nothing recorded yet."""
    root = folder / "project"
    for block in blocks(ROOT / "README.md"):
        if block.file is not None:
            path = root / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
    (folder / "gitconfig").write_text(
        "[user]\nname = Ann\nemail = ann@example.com\n[init]\ndefaultBranch = main\n", encoding="utf-8"
    )
    return Project(root, server)
