"""What the tests of the docs share: the README's project, and the programs that its commands use."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.capture.server import model_server
from tests.docs.tour import Project, Script, written

_TOOLS = ("bash", "git", "jq", "sha256sum", "sed")


@pytest.fixture
def tools() -> None:
    """The programs that the README's commands use; without one of them its tour cannot be run."""
    missing = [name for name in _TOOLS if shutil.which(name) is None]
    if missing or sys.platform != "linux":
        pytest.skip(f"the README's commands need {', '.join(missing) or 'GNU tools'}")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """The project of the README, nothing recorded yet."""
    with model_server() as server:
        script: Any = Script()
        server.fallback = script
        yield written(tmp_path, server)
