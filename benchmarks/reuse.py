"""grade --reuse: what taking over a run costs where nothing moved, against grading it again, with a slow and a trivial grader.

python -m benchmarks.reuse [CASES]
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import measure, suite
from golden.model import Selection, Suite
from golden.suite import load_suite, select
from grade import command, table

SLOW = """\
def trivial(envelope):
    total = 0
    for i in range({steps}):
        total += i
    return {{"ok"}} if envelope["text"] else {{"silent"}}
"""


def steps_in_a_millisecond() -> int:
    """Return how many steps of the slow grader's loop take a millisecond here and now, in the grader's own code.

    The loop is timed at its own length, many times over: a single long one sums beyond 2**30, where Python's integers
    take a second digit and each step takes longer.
    """
    steps, times, names = 30_000, 200, dict[str, Any]()
    exec(SLOW.format(steps=steps), names)
    for _ in range(times):  # a processor at rest takes its time to wake up
        names["trivial"]({"text": "x"})
    start = time.process_time()
    for _ in range(times):
        names["trivial"]({"text": "x"})
    return int(steps * times * 0.001 / (time.process_time() - start))


def grade(loaded: Suite, out: Path, saved: Path | None) -> None:
    """Grade a suite with one worker, taking over a saved table if there is one."""
    plan = command.make_plan(loaded, select(loaded, Selection()), None)
    reuse = None if saved is None else table.read(saved)
    graded = command.grade(loaded, plan, Selection(), jobs=1, write_to=out, reuse=reuse)
    if saved is not None and graded.outcome.reused != len(plan.rows):
        raise SystemExit("not every row was taken over: nothing was measured")
    command.keep(graded, loaded, label=None, out=out)


def main() -> None:
    """Measure and print."""
    count = measure.size(2_000)
    for name, source, budget in (
        ("1 ms", SLOW.format(steps=steps_in_a_millisecond()), 10.0),
        ("trivial", suite.GRADER, 1.0),
    ):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            suite.make(root, count)
            (root / "graders.py").write_text(source)
            loaded = load_suite(root / "whichclock.toml")
            saved, out = root / "saved.parquet", root / "out.parquet"
            grade(loaded, saved, None)
            walls = [(_wall(loaded, out, None), _wall(loaded, out, saved)) for _ in range(3)]
            whole, reused = (sorted(column)[1] for column in zip(*walls, strict=True))
            measure.show(
                measure.Result(
                    f"--reuse of {count} rows, a grader of {name} (wall)",
                    whole / count * 1e6,
                    reused / count * 1e6,
                    whole / reused,
                    budget,
                    at_least=True,
                )
            )


def _wall(loaded: Suite, out: Path, saved: Path | None) -> float:
    start = time.perf_counter()
    grade(loaded, out, saved)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
