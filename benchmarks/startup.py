"""Start-up of the command line against the imports it cannot do without.

python -m benchmarks.startup
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import measure, suite

WHICHCLOCK = Path(sys.executable).with_name("whichclock")


def run(*command: str | Path, cwd: Path | None = None) -> None:
    """Run a process to its end and drop what it prints."""
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main() -> None:
    """Measure and print."""
    python = sys.executable
    measure.show(
        measure.compare(
            "whichclock --help against import typer (cpu)",
            lambda: run(WHICHCLOCK, "--help"),
            lambda: run(python, "-c", "import typer"),
            budget=2.5,
            rounds=11,
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        suite.make(root, 100)
        measure.show(
            measure.compare(
                "grade of 100 cases against its imports (cpu)",
                lambda: run(WHICHCLOCK, "grade", cwd=root),
                lambda: run(python, "-c", "import pyarrow.parquet, orjson"),
                budget=3.0,
                rounds=11,
            )
        )


if __name__ == "__main__":
    main()
