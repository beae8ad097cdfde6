"""The command that records what is missing, ready to be pasted."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from snapshots.console import neutral

_GLOB = "*?["


def record_command(cases: Iterable[str], targets: Iterable[str] = (), *, trials: int = 1) -> str:
    """Return the ``whichclock capture`` that asks for these cases alone, neutral.

    Args:
        cases: exact ids; none means the whole suite.
        targets: names of targets; none means each case's own.
        trials: how many trials; 1 leaves it to the case.
    """
    words = ["whichclock", "capture"]
    for name in targets:
        words += ["--target", name]
    if trials > 1:
        words += ["--trials", str(trials)]
    ids = [_exact(case) for case in cases]
    if any(case.startswith("-") for case in ids):
        words.append("--")  # or such an id would be read as an option
    return neutral(shlex.join([*words, *ids]))


def _exact(case_id: str) -> str:
    """Return a CASE argument that means this id alone: in a glob, [ ] quotes its own characters."""
    return "".join(f"[{c}]" if c in _GLOB else c for c in case_id)
