"""What the capture tests share: a server, a suite written to disk, and captures that never sleep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest

from capture.result import CaptureResult
from capture.run import CaptureOptions, Mode, capture
from golden.model import Selection, Suite
from golden.suite import load_suite, select
from snapshots.store import Store
from tests.capture.server import ModelServer, model_server

NOON = 1_764_504_000  # 2025-11-30T12:00:00Z


def outcomes(result: CaptureResult) -> list[str]:
    """Return the outcomes of a result in suite order."""
    return [row.outcome.value for row in result.rows]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A scripted server that echoes the prompt once its script is used up."""
    with model_server() as running:
        yield running


@dataclass
class Project:
    """A suite on disk and the captures of it."""

    root: Path
    url: str
    pauses: list[float] = field(default_factory=list)
    second: int = NOON

    def write(self, *cases: dict[str, Any], target: str = "", base_url: str | None = None, more: str = "") -> None:
        """Write the configuration and the cases."""
        (self.root / "whichclock.toml").write_text(
            f'suite = "s"\ncases = ["cases.jsonl"]\n{more}\n[targets.gpt]\ntype = "openai"\n'
            f'base_url = "{base_url or self.url}"\nmodel = "tiny-1"\n{target}\n',
            encoding="utf-8",
        )
        (self.root / "cases.jsonl").write_bytes(b"".join(orjson.dumps(case) + b"\n" for case in cases))

    def suite(self, environ: dict[str, str] | None = None) -> Suite:
        return load_suite(self.root / "whichclock.toml", environ=environ or {})

    def capture(
        self,
        mode: Mode = Mode.AUTO,
        *,
        trials: int | None = None,
        environ: dict[str, str] | None = None,
        **options: Any,
    ) -> CaptureResult:
        """Capture everything; waiting is written down and does not happen."""

        async def sleep(seconds: float) -> None:
            self.pauses.append(seconds)

        suite = self.suite(environ)
        told = {"sleep": sleep, "now": lambda: self.second, "environ": environ or {}, **options}
        return capture(suite, select(suite, Selection(trials=trials)), CaptureOptions(mode=mode, **told))

    @property
    def store(self) -> Store:
        return Store(self.root / "snapshots")

    def files(self) -> list[Path]:
        """Return the snapshot files in sort order."""
        return sorted((self.root / "snapshots" / "sha256").glob("*/*.json"))

    def everything_written(self) -> bytes:
        """Return all bytes of the store, logs included."""
        return b"".join(path.read_bytes() for path in sorted((self.root / "snapshots").rglob("*")) if path.is_file())


@pytest.fixture
def project(tmp_path: Path, server: ModelServer) -> Project:
    """A project of two cases whose target is the server."""
    made = Project(tmp_path, server.url)
    made.write({"id": "hello", "prompt": "hello"}, {"id": "bye", "prompt": "bye"})
    return made


@pytest.fixture
def one(project: Project) -> Project:
    """A project of one case."""
    project.write({"id": "hello", "prompt": "hello"})
    return project
