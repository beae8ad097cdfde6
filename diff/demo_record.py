"""Record what the demo replays where no model is installed: ``python -m diff.demo_record``, in the repository.

The tour is taken with the real model over the recordings that are there, so that only what is missing is asked. What is new is copied
into the repository's store: the answers to the edited requests, and a second capture of the case that is asked again.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from diff import model_server
from diff.demo import tour
from diff.demo_project import EXAMPLE, make, require_example
from diff.demo_show import Show
from diff.model_process import running_model
from snapshots.errors import WhichclockError


def main() -> int:
    """Record, say how many files are new, and return the exit code."""
    if not model_server.is_installed():
        sys.stderr.write("error: the model is not installed\nhint: make demo installs it\n")
        return 2
    try:
        require_example()
        added = record(EXAMPLE / "snapshots")
    except WhichclockError as error:
        sys.stderr.write(f"error: {error.message}\n")
        return error.code
    sys.stderr.write(f"{added} new recordings\n")
    return 0


def record(store: Path) -> int:
    """Take the tour with the model, copy what is new into a store, and return how many files that are."""
    with TemporaryDirectory(prefix="whichclock-demo-") as folder:
        root = Path(folder).resolve()
        with running_model(root / "model.log") as url:
            project = make(root, url=url, recorded=True)
            project.forget_second_capture()
            tour(project, Show(), live=True)
        new = [path for path in project.recordings() if not (store / path).exists()]
        for path in new:
            (store / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / "snapshots" / path, store / path)
    return len(new)


if __name__ == "__main__":
    sys.exit(main())
