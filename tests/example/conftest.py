"""The repository as its own project, the way a reader of the example uses it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def whichclock(*arguments: str, cwd: Path = ROOT, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in the repository, or elsewhere, with a plain environment."""
    plain = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    command = [sys.executable, "-P", "-m", "whichclock", *arguments]
    return subprocess.run(
        command,
        cwd=cwd,
        env={**plain, **environ},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture(scope="session")
def graded() -> dict[str, Any]:
    """The whole example, graded offline."""
    return json.loads(whichclock("grade", "--format", "json").stdout)


@pytest.fixture(scope="session")
def rows(graded: dict[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    """The graded rows by case and trial."""
    return {(row["case_id"], row["trial"]): row for row in graded["rows"]}
