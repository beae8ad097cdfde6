"""The corners of the counterfactual cube: old or new answers, read by old or new code, under the old or the new expectation.

Everything is offline: answers come from the stores, old code from a revision or a source bundle, and both run in the same closed workers as
every grading. What cannot be run is told, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from diff.side import Side
from grade.pool import Chunk, Columns, Pool
from snapshots import canonical, strict_json
from snapshots.errors import ConfigError, OperatorError
from snapshots.store import Found

Row = dict[str, Any]
_CHUNK = 128
_LOST = "an answer is not in the store any more"


@dataclass(frozen=True, slots=True)
class Question:
    """One row of a corner: the answer of ``envelope``, read by the code of one side under the expectation of another row.

    ``beside`` is the other side's row, if there is one: it names the answers to judges' questions that only that side put.
    """

    envelope: Row
    expectation: dict[str, Any]
    beside: Row | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question came to: findings, or the reason why there are none."""

    findings: tuple[str, ...] | None
    reason: str = ""


def ask(code: Side, owner: Sequence[Row], questions: Sequence[Question], sides: tuple[Side, Side]) -> list[Answer]:
    """Run the code of a side over questions.

    Args:
        code: the side whose graders judge.
        owner: rows of that side; the code must be that which judged them.
        questions: what to judge.
        sides: both sides, whose stores hold the answers.
    """
    named = {name: digest for row in owner for name, digest in (row["graders"] or {}).items() if ":" not in name}
    job = code.code(frozenset(named.values()))
    if job is None:
        return [Answer(None, f"the code of {code.name} is not at hand")] * len(questions)
    stores = tuple(store.root for side in sides for store in side.stores)
    needed = {name for q in questions for name in q.expectation.get("graders", ()) if name in named}
    places = dict.fromkeys(sorted(needed), f"graders of {code.name}")
    found = [_find(question.envelope, sides) for question in questions]
    try:
        with Pool(replace(job, names=places, stores=stores), 1) as pool:
            return list(_run(pool, questions, found, _own(owner)))
    except (ConfigError, OperatorError) as error:
        return [Answer(None, f"the code of {code.name} does not run: {error.message}")] * len(questions)


def _own(rows: Iterable[Row]) -> dict[str, str]:
    """Return name → digest of all that judged some rows."""
    return {name: digest for row in rows for name, digest in (row["graders"] or {}).items()}


def _run(
    pool: Pool, questions: Sequence[Question], found: Sequence[Found | None], own: dict[str, str]
) -> Iterable[Answer]:
    known = frozenset(pool.loaded.digests)
    chunks: list[Chunk] = [Chunk()]
    for question, place in zip(questions, found, strict=True):
        if place is None:
            continue
        if len(chunks[-1].rows) == _CHUNK:
            chunks.append(Chunk())
        chunks[-1].add(_text(question.expectation, known), place, _listed(question))
    facts = (row for columns in pool.run(chunks) for row in _rows(columns))
    for place in found:
        yield Answer(None, _LOST) if place is None else _answer(next(facts), own)


def _rows(columns: Columns) -> Iterable[dict[str, Any]]:
    return (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))


def _text(expectation: dict[str, Any], known: frozenset[str]) -> str:
    """Return the expectation for some code: a grader that it does not have emits nothing."""
    graders = [name for name in expectation.get("graders", ()) if name in known]
    return canonical.encode({**expectation, "graders": graders}).decode()


def _listed(question: Question) -> list[tuple[str, int, str]]:
    asked = [*((question.beside or {}).get("asked") or ()), *(question.envelope["asked"] or ())]
    return [(one["request_hash"], one["trial"], one["integrity"]) for one in asked]


def _answer(facts: dict[str, Any], own: dict[str, str]) -> Answer:
    if facts["status"] is not None:
        return Answer(None, f"{facts['status']}: {facts['error'] or ''}")
    judged = strict_json.loads(facts["graders"])
    if any(own[name] != digest for name, digest in judged.items() if name in own):
        return Answer(None, "the code that judged then is not the code that is at hand now")
    return Answer(tuple(facts["findings"]))


def _find(row: Row, sides: tuple[Side, Side]) -> Found | None:
    for side in sides:
        for store in side.stores:
            found = store.find(row["request_hash"], row["trial"], row["integrity"]) if row["integrity"] else None
            if found is not None:
                return found
    return None
