"""The workflows to copy, read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from golden import yaml_text
from tests.docs.page import ROOT

WORKFLOWS = sorted((ROOT / "docs" / "workflows").glob("*.yml"))


def load(path: Path) -> dict[str, Any]:
    """Return a workflow; read by YAML 1.2, for ``on`` is no truth value there."""
    return yaml_text.read(path.read_text("utf-8"), path.name).value


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of all jobs."""
    return [step for job in workflow["jobs"].values() for step in job["steps"]]
