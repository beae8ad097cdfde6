"""Write the README's outputs anew from what its commands print today.

    python -m tests.docs.rewrite

If one output differs in more than seconds, latencies and commit ids, all are replaced, so that one commit has one id on the whole page.
Read the difference before you commit it.
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
    with fresh() as project:
        printed = [(block, _printed(project, block)) for block in tour]
        project.publish()
        printed.append((screen, _printed(project, screen)))
    differing = sum(numbered(still(new)) != numbered(still(block.text)) for block, new in printed)
    if differing or "--all" in sys.argv[1:]:
        for block, new in printed:
            text = text.replace(f"```console\n{block.text}```", f"```console\n{new}```")
        README.write_text(text, "utf-8")
    sys.stdout.write(f"{differing} outputs differed\n")
    return 0


def _printed(project: Project, block: Block) -> str:
    return "".join(f"$ {step.command}\n{_output(project, step)}" for step in steps_of(block))


def _output(project: Project, step: Step) -> str:
    done = project.step(step)
    return done if not done or done.endswith("\n") else f"{done}\n"


if __name__ == "__main__":
    sys.exit(main())
