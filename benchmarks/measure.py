"""How a benchmark measures and prints: processor seconds of both sides, alternating, and the median of their ratios."""

from __future__ import annotations

import os
import resource
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path


def cpu() -> float:
    """Return the processor seconds of this process and of its ended children."""
    mine, theirs = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return mine.ru_utime + mine.ru_stime + theirs.ru_utime + theirs.ru_stime


@dataclass(frozen=True)
class Result:
    """One line: what was measured, its floor, and how many times the floor it costs."""

    name: str
    measured: float
    floor: float
    ratio: float
    budget: float
    unit: str = "µs"
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Tell whether the budget holds."""
        return self.ratio >= self.budget if self.at_least else self.ratio <= self.budget


def compare(
    name: str,
    work: Callable[[], object],
    floor: Callable[[], object],
    *,
    budget: float,
    per: int = 1,
    rounds: int = 5,
    clock: Callable[[], float] = cpu,
) -> Result:
    """Run work and floor in turn and return medians per item in microseconds, and the median of the ratios pair by pair."""
    pairs: list[tuple[float, float]] = []
    for _ in range(rounds):
        start = clock()
        floor()
        middle = clock()
        work()
        pairs.append((clock() - middle, middle - start))
    measured = statistics.median(w for w, _ in pairs) / per * 1e6
    base = statistics.median(f for _, f in pairs) / per * 1e6
    return Result(name, measured, base, statistics.median(w / f for w, f in pairs), budget)


def show(*results: Result) -> None:
    """Print the lines of a benchmark."""
    for r in results:
        sign = "≥" if r.at_least else "≤"
        verdict = "met" if r.met else "NOT MET"
        print(
            f"{r.name:<58} measured {r.measured:>10.1f} {r.unit}  floor {r.floor:>10.1f} {r.unit}"
            f"  ratio {r.ratio:>6.2f}  budget {sign} {r.budget:g}  {verdict}"
        )
        sys.stdout.flush()


def peak_mb(work: Callable[..., object], *arguments: object) -> float:
    """Run work in a fresh process and return its peak resident size in MB; workers that it starts are smaller."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak, (work, arguments))


def _peak(work: Callable[..., object], arguments: tuple[object, ...]) -> float:
    work(*arguments)
    status = Path("/proc/self/status")
    if status.is_file():
        # Not ru_maxrss: that begins with what the parent held when it forked, which may be more than we ever use.
        return int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024 / 1e6
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale / 1e6


def size(default: int) -> int:
    """Return how many items to use: the first argument of the command, or the default."""
    return int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else default


def cores() -> int:
    """Return how many processors there are."""
    return os.cpu_count() or 1
