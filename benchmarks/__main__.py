"""Run every benchmark: ``python -m benchmarks``. Each one alone: ``python -m benchmarks.grade`` and so on."""

from __future__ import annotations

from benchmarks import capture, diff, grade, reuse, startup

for benchmark in (startup, grade, reuse, diff, capture):
    print(f"# {benchmark.__name__}")
    benchmark.main()
