"""Programs for the tests of exec targets, and whether their processes are gone."""

from __future__ import annotations

import json
import os
import select
import sys
from pathlib import Path
from typing import Any

import orjson

from tests.capture.conftest import Project

PYTHON = [sys.executable, "-I", "-S"]
HI = {"id": "hi", "prompt": "hi"}
NEVER = "import signal\nwhile True: signal.pause()\n"
_LONGEST_S = 30


def write(project: Project, text: str, *cases: dict[str, Any], target: str = "retries = 0", more: str = "") -> None:
    """Write a suite whose target is a Python program of this text."""
    (project.root / "sut.py").write_text(text, encoding="utf-8")
    (project.root / "whichclock.toml").write_text(
        f'suite = "s"\ncases = ["cases.jsonl"]\n{more}\n[targets.sut]\ntype = "exec"\n'
        f"command = {json.dumps([*PYTHON, 'sut.py'])}\n{target}\n",
        encoding="utf-8",
    )
    (project.root / "cases.jsonl").write_bytes(b"".join(orjson.dumps(case) + b"\n" for case in cases or (HI,)))


def is_gone(pid: int) -> bool:
    """Wait until a process has ended, and tell whether it did."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    ready = select.select([handle], [], [], _LONGEST_S)[0]
    os.close(handle)
    return bool(ready)


def pids(project: Project) -> list[int]:
    """Return the processes that a program has written down."""
    return [int(word) for path in sorted(project.root.glob("*.pid")) for word in Path(path).read_text().split()]
