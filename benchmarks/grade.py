"""grade: from loaded cases to written rows, against bare reading and parsing of the same files.

python -m benchmarks.grade [SNAPSHOTS]
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import orjson

from benchmarks import measure, suite
from golden.model import Selection, Suite
from golden.suite import load_suite, select
from grade import command


def grade(loaded: Suite, jobs: int, out: Path) -> None:
    """Grade a loaded suite into a file."""
    plan = command.make_plan(loaded, select(loaded, Selection()), None)
    graded = command.grade(loaded, plan, Selection(), jobs=jobs, write_to=out)
    if graded.outcome.tally.cases_passed != len(loaded.cases):
        raise SystemExit("the benchmark suite does not pass: nothing was measured")
    command.keep(graded, loaded, label=None, out=out)


def load_and_grade(root: Path, out: Path) -> None:
    """Load a suite and grade it: what a command holds in memory."""
    grade(load_suite(root / "whichclock.toml"), 1, out)


def bare(paths: list[str]) -> None:
    """Read and parse every file and do nothing else."""
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        data = os.read(handle, 1 << 20)
        os.close(handle)
        orjson.loads(data)


def spin(count: int) -> None:
    """Compute for a while: the control for what a second worker can gain on this machine now."""
    total = 0
    for i in range(count):
        total += i * i


def parallel_control(jobs: int, count: int) -> float:
    """Return how much faster plain processes finish pure computing with several workers than with one."""
    from multiprocessing import get_context

    with get_context("spawn").Pool(jobs) as pool:
        pool.map(spin, [10] * jobs)
        start = time.perf_counter()
        spin(count * jobs)
        middle = time.perf_counter()
        pool.map(spin, [count] * jobs)
        return (middle - start) / (time.perf_counter() - middle)


def main() -> None:
    """Measure and print."""
    count = measure.size(10_000)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        loaded = suite.make(root, count)
        paths = sorted(str(p) for p in (root / "snapshots" / "sha256").glob("*/*.json"))
        out = root / "out.parquet"
        start = measure.cpu()
        load_suite(root / "whichclock.toml")
        loading = (measure.cpu() - start) / count * 1e6
        one = measure.compare(
            f"grade, {count} loose files, one worker (cpu)",
            lambda: grade(loaded, 1, out),
            lambda: bare(paths),
            budget=3.0,
            per=count,
        )
        measure.show(one)
        print(f"{'loading the suite (its own line)':<58} measured {loading:>10.1f} µs a case")
        gains: list[float] = []
        controls: list[float] = []
        for _ in range(3):
            start = time.perf_counter()
            grade(loaded, 1, out)
            middle = time.perf_counter()
            grade(loaded, 2, out)
            gains.append((middle - start) / (time.perf_counter() - middle))
            controls.append(parallel_control(2, 3_000_000))
        gain, control = sorted(gains)[1], sorted(controls)[1]
        measure.show(
            measure.Result(
                "gain of two workers against a pure-CPU control",
                gain,
                control,
                gain / control,
                0.85,
                "×",
                at_least=True,
            )
        )
        peak = measure.peak_mb(load_and_grade, root, out)
        print(f"{'peak resident size of any process':<58} measured {peak:>10.1f} MB (budget 300 MB at 100,000)")


if __name__ == "__main__":
    main()
