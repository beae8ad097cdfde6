"""The six steps of the demo: what each one edits, which clocks that moves, and what there is to see."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Answers(enum.Enum):
    """Where the answers of a step come from."""

    SAME = "the frozen ones: nobody is asked"
    NEW = "what is not recorded yet is asked"
    AGAIN = "the same question is asked once more"
    AGAIN_KEPT = "what was answered when asked once more is put back"


@dataclass(frozen=True, slots=True)
class Edit:
    """A text of one file, replaced; it stands there exactly once."""

    file: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step: ``clocks`` are those that it moves, in the order in which diff names them; ``by`` says how."""

    clocks: tuple[str, ...]
    by: str
    story: str
    see: str
    answers: Answers = Answers.SAME
    edits: tuple[Edit, ...] = ()


# Asked five times, at a temperature of 1: the case whose answers differ from capture to capture.
SAMPLED = "comfort_late_parcel"
CASES = "golden/cases/demo.yaml"

_SCHEMA = Edit(
    CASES,
    "enum: [orders, refunds, shipping, garden_advice]",
    "enum: [orders, refunds, delivery, garden_advice]",
)
_PROMPT = Edit(
    "golden/cases/prompts/support.md",
    "An order id looks like A-17.",
    "An order id is a letter, a dash and two digits.",
)
_GRADER = Edit("golden/cases/graders.py", r'r"\b[A-Z]-[0-9]+\b"', r'r"\b[A-Z]-[0-9]\b"')
_EXPECTATION = Edit(CASES, "expected: [team_shipping]", "expected: [team_orders]")

STEPS = (
    Step(
        clocks=("request",),
        by="a schema",
        story="The reply that routes a message must follow a schema. We rename one of the teams in it.",
        answers=Answers.NEW,
        edits=(_SCHEMA,),
        see=(
            "The schema is part of what is sent, so this is another request, and nobody blames the model.\n"
            "The edit is named by the part of the request, the end of its pointer, and the file it stands in."
        ),
    ),
    Step(
        clocks=("request",),
        by="a prompt",
        story="A prompt shows an order id as an example, and the model copies it. We describe ids instead.",
        answers=Answers.NEW,
        edits=(_PROMPT,),
        see="Two cases share this prompt: the edit is named once, with both cases that it moved.",
    ),
    Step(
        clocks=("model",),
        by="asking again",
        story=f"We edit nothing. {SAMPLED} is asked again, at temperature 1, so that the answers differ.",
        answers=Answers.AGAIN,
        see=(
            "The same request (the same hash) got other answers: that can only be the model.\n"
            "A case is told once, with all its trials. Where these disagreed with each other before too, another draw is chance;\n"
            "drift would be a shift of many verdicts beyond what chance explains."
        ),
    ),
    Step(
        clocks=("grader",),
        by="a slip in its code",
        story="A grader is code that reads an answer. We lose one character of the pattern by which it finds order ids.",
        edits=(_GRADER,),
        see=(
            "The very same answers are judged by other code: what changed is our own slip, and not the model.\n"
            "The graders share one file, so each of them counts as moved; where it finds the same as before, that is silent."
        ),
    ),
    Step(
        clocks=("expectation",),
        by="a change of mind",
        story="From now on the orders team should get late parcels. We change what the case expects, and nothing else.",
        edits=(_EXPECTATION,),
        see="The same answer is read by the same code: only what the case demands of it has moved.",
    ),
    Step(
        clocks=("model", "grader"),
        by="both at once",
        story="Now the other answers of step 3 come together with the slip of step 4.",
        answers=Answers.AGAIN_KEPT,
        edits=(_GRADER,),
        see=(
            "Each case names its own clocks: the model only where the answer moved, the grader wherever its code judged.\n"
            "Where a case names two, it was graded again with each of them set back: the line says which of them did it."
        ),
    ),
)  # fmt: skip
