"""Checks that read an answer of their own: a judge's verdict, a program's, and the nearness of two embeddings.

The thresholds are applied here, when the recorded answer is read. What cannot be read as a verdict or a vector never comes this far:
it is a ``grader_error``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from golden import ask_judge, ask_program, ask_similarity
from golden.ask_judge import Verdict
from grade.violation import EMPTY, Violation, clipped
from snapshots.envelope import Envelope
from snapshots.errors import GraderFault

_TOLERANCE = 1e-9
Answers = Mapping[str, Envelope]


def judge(envelope: Envelope, argument: Any, answers: Answers) -> Violation:
    """``rubric_violated``: the judge says so, its score is below the threshold, or the answer is empty."""
    return _judged(ask_judge.verdict, argument, answers)


def program(envelope: Envelope, argument: Any, answers: Answers) -> Violation:
    """``program_rejected``: the program says so, its score is below the threshold, or the answer is empty."""
    return _judged(ask_program.verdict, argument, answers)


def _judged(read: Any, argument: Any, answers: Answers) -> Violation:
    if not answers:
        return EMPTY
    (answer,) = answers.values()
    verdict: Verdict | None = read(answer)
    if verdict is None:
        raise GraderFault("its answer is no verdict")
    threshold = argument.get("threshold")
    if verdict.passes if threshold is None else verdict.points >= threshold - _TOLERANCE:
        return None
    score = {} if verdict.score is None else {"score": verdict.score}
    return {"pass": verdict.passes, **score, "reason": clipped(verdict.reason)}


def similarity(envelope: Envelope, argument: Any, answers: Answers) -> Violation:
    """``not_similar``: the cosine of the two embeddings is below the threshold, or the answer has no text."""
    if not answers:
        return EMPTY
    vectors = {name.endswith(ask_similarity.WANTED): ask_similarity.vector(answer) for name, answer in answers.items()}
    one, other = vectors.get(False), vectors.get(True)
    if one is None or other is None:
        raise GraderFault("its answer is no vector")
    try:
        cosine = ask_similarity.cosine(one, other)
    except ValueError as error:
        raise GraderFault(str(error)) from None
    return None if cosine >= argument["threshold"] - _TOLERANCE else {"similarity": cosine}
