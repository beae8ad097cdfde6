"""Write the README's outputs anew from what its commands print today.

    python -m tests.docs.rewrite

Only outputs that differ in more than seconds, latencies and commit ids are replaced. Read the difference before you commit it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.capture.server import model_server
from tests.docs.page import ROOT, Block, Step, blocks, steps_of
from tests.docs.tour import Project, Script, numbered, still, written

README = ROOT / "README.md"


@contextmanager
def fresh() -> Iterator[Project]:
    """Yield the README's project in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="whichclock-readme-") as folder, model_server() as server:
        script: Any = Script()
        server.fallback = script
        yield written(Path(folder).resolve(), server)


def main() -> int:
    """Rewrite the README and return how many outputs were replaced."""
    text = README.read_text("utf-8")
    screen, *tour = [block for block in blocks(README) if block.lang == "console"]
    replaced = 0
    with fresh() as project:
        project.begin()
        for block in [*tour, screen]:
            if block is screen:
                project.publish()
            new = _printed(project, block)
            if numbered(still(new)) != numbered(still(block.text)):
                text = text.replace(f"```console\n{block.text}```", f"```console\n{new}```")
                replaced += 1
    README.write_text(text, "utf-8")
    sys.stdout.write(f"{replaced} outputs replaced\n")
    return 0


def _printed(project: Project, block: Block) -> str:
    return "".join(f"$ {step.command}\n{_output(project, step)}" for step in steps_of(block))


def _output(project: Project, step: Step) -> str:
    done = project.step(step)
    return done if not done or done.endswith("\n") else f"{done}\n"


if __name__ == "__main__":
    sys.exit(main())
