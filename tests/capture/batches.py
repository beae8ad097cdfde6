"""What the tests of batches share: a suite of every type that has them, the files that are written, and those that come back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from capture.batch_in import batch_in
from capture.batch_out import Written, batch_out
from capture.modes import Mode
from capture.options import CaptureOptions
from capture.result import CaptureResult
from golden.model import Selection
from golden.suite import select
from tests.capture.conftest import NOON, Project

CONFIG = """\
suite = "s"
cases = ["cases.jsonl"]

[targets.gpt]
type = "openai"
base_url = "{url}/v1"
model = "tiny-1"
api_key = "{{{{ env.GPT_KEY }}}}"

[targets.resp]
type = "openai-responses"
base_url = "{url}/v1"
model = "tiny-2"

[targets.claude]
type = "anthropic"
base_url = "{url}"
model = "claude-tiny"

[targets.vec]
type = "embeddings"
base_url = "{url}/v1"
model = "embed-1"
"""
CASES = [
    {"id": "chat", "prompt": "hello", "targets": ["gpt", "resp", "claude"]},
    {"id": "again", "request": {"messages": [{"role": "user", "content": "Grüße"}], "seed": 7}, "targets": ["gpt"]},
    {"id": "vector", "request": {"input": ["one", "two"]}, "targets": ["vec"]},
]


def write(project: Project, config: str = CONFIG, cases: list[dict[str, Any]] = CASES) -> None:
    """Write a suite of the four types that have batches."""
    text = config.format(url=project.url.removesuffix("/v1"))
    (project.root / "whichclock.toml").write_text(text)
    (project.root / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))


def out(
    project: Project,
    folder: Path | None = None,
    environ: dict[str, str] | None = None,
    mode: Mode = Mode.AUTO,
    **how: Any,
) -> Written:
    """Write the batch files of everything."""
    suite = project.suite(environ)
    options = CaptureOptions(mode=mode, environ=environ or {})
    return batch_out(suite, select(suite, Selection()), options, folder or project.root / "night", **how)


def back(project: Project, file: str = "night/output.jsonl") -> CaptureResult:
    """File results."""
    suite = project.suite()
    options = CaptureOptions(environ={}, now=lambda: NOON)
    return batch_in(suite, select(suite, Selection()), options, project.root / file)


def lines(path: Path) -> list[Any]:
    """Return the JSON values of a file of lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def of_openai(name: str, body: Any, status: int = 200) -> dict[str, Any]:
    """Return a line of OpenAI's output file, after its API reference."""
    return {
        "id": "batch_req_1",
        "custom_id": name,
        "response": {"status_code": status, "request_id": "req_1", "body": body},
        "error": None,
    }


def store_results(project: Project, *results: Any, file: str = "night/output.jsonl") -> None:
    """Write a file of results; texts are written as they are."""
    texts = (one if isinstance(one, str) else json.dumps(one) for one in results)
    (project.root / file).write_text("".join(text + "\n" for text in texts), encoding="utf-8")


def ids(project: Project, file: str = "night/gpt.jsonl") -> list[str]:
    """Return the ids of a file of requests in its order."""
    return [line["custom_id"] for line in lines(project.root / file)]
