"""One step of the demo: edit, capture if the step needs answers, diff, and put everything back."""

from __future__ import annotations

from diff.demo_project import Project
from diff.demo_show import Show
from diff.demo_steps import SAMPLED, Answers, Step
from snapshots.errors import OperatorError

BASE = "main"
_AGAIN = ("capture", SAMPLED, "--mode", "live")


def prepare(project: Project, show: Show, *, live: bool) -> None:
    """Record the answers, judge them and save the verdicts as the base of every comparison."""
    show.heading("Start: record the answers and judge them")
    show.say("Seven small cases of a shop's support assistant.")
    show.say(f"{SAMPLED} is asked five times: it has five trials, and passes if more than half of them do.")
    if live:
        show.say("That makes 11 questions of 2 to 4 seconds each.")
    _capture(project, show, live=live)
    show.say("Each answer is now a file. Graders read the files, and the verdicts are saved under the name main:")
    show.command(["grade", "--save", BASE])
    _require(project.run(["grade", "--save", BASE]), "grade")
    show.say("Each failing trial has a line of its own, yet a case counts once: trials may fail in a case that passes.")
    show.say("A model this small fails most cases. That is all right: what counts here is what changes.")


def walk(project: Project, show: Show, number: int, step: Step, *, live: bool) -> tuple[str, ...]:
    """Take one step and return the clocks that diff named."""
    show.step(number, step)
    before = project.recordings()
    project.apply(step.edits)
    show.edits(step.edits)
    _answer(project, show, step, live=live)
    show.command(["diff", BASE])
    _require(project.run(["diff", BASE]), "diff")
    named = project.clocks(BASE)
    show.verdict(step, named)
    project.undo(step.edits)
    if step.answers is Answers.AGAIN:
        project.set_aside(project.recordings() - before)
    return named


def _answer(project: Project, show: Show, step: Step, *, live: bool) -> None:
    if step.answers is Answers.NEW:
        _capture(project, show, live=live)
    elif step.answers is Answers.AGAIN and live:
        show.command(_AGAIN)
        _require(project.run(_AGAIN), "capture")
    elif step.answers is not Answers.SAME:
        if step.answers is Answers.AGAIN:
            show.say(f"With a model this is: whichclock {' '.join(_AGAIN)}")
        show.say("The answers of the second capture are copied into snapshots/: files are all that a capture leaves.")
        project.put_back()


def _capture(project: Project, show: Show, *, live: bool) -> None:
    arguments = ["capture"] if live else ["capture", "--mode", "replay"]
    show.command(arguments)
    _require(project.run(arguments), "capture")


def _require(code: int, command: str) -> None:
    """Let 0 and 1 pass: a failing case or a regression is what the demo shows."""
    if code not in (0, 1):
        raise OperatorError(f"whichclock {command} ended with exit code {code}; the demo stops here")
