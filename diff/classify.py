"""The one classifier: which inputs of a row moved, and what its move is called. Pure; every diff, report and ``why`` asks here.

``clocks`` lists every input that moved, whether the outcome changed or not. ``move`` is the first name that applies, in the order of the
functions below. The model clock is only ever blamed where the request is the same, the grader only where the very same answer was judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

CLOCKS = ("request", "model", "grader", "expectation")
MOVES = (
    "added", "removed", "renamed", "missing_snapshot", "capture_hash_moved", "answer_moved_on_frozen_request",
    "judge_answer_moved_on_frozen_request", "grader_changed_on_frozen_hash", "expectation_changed_on_frozen_hash", "runtime_moved",
    "impure_grader", "none",
)  # fmt: skip
_OWN_CHECK = "check:empty_answer"
UNREADABLE = frozenset({"missing_snapshot", "corrupt_snapshot", "unreadable_snapshot"})
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Facts:
    """What the classifier cannot read off two rows.

    Attributes:
        same_answer: whether the answers are equal under one rule; ``None`` where that cannot be told.
        runtime_moved: whether the two runs' graders ran on other versions.
        old_code_agrees: whether the old code, under the old expectation, gives the old findings for the head's observation; ``None``
            where it cannot run.
        programs: the files of an exec target's command that are others than when the base's answer was recorded.
    """

    same_answer: bool | None
    runtime_moved: bool = False
    old_code_agrees: bool | None = None
    programs: Sequence[str] = ()


@dataclass(slots=True)
class Classified:
    """The classifier's answer for one row."""

    move: str
    clocks: list[str] = field(default_factory=list[str])
    evidence: dict[str, Any] = field(default_factory=dict[str, Any])


def classify(base: Row, head: Row, facts: Facts, *, renamed: bool = False) -> Classified:
    """Name the clocks and the move of a row that both sides have.

    Args:
        base: the old row; JSON columns parsed.
        head: the new row.
        facts: what the rows do not say.
        renamed: the rows belong to a case whose id moved.
    """
    evidence: dict[str, Any] = {}
    clocks = _clocks(base, head, facts, evidence)
    move = "renamed" if renamed else _move(base, head, facts, clocks, evidence)
    return Classified(move, [c for c in CLOCKS if c in clocks], evidence)


def is_unreadable(row: Row) -> bool:
    """Tell whether a row has no readable answer."""
    return row["status"] in UNREADABLE


def outcome_differs(base: Row, head: Row) -> bool:
    """Tell whether findings or verdict of two rows differ."""
    return base["findings"] != head["findings"] or base["status"] != head["status"]


def moved_graders(base: Row, head: Row) -> list[str]:
    """Return the names that judge on both sides and whose digests differ, sorted.

    A reader or check of ours that only one side has counts too where both judged the very same observation: nobody but us can have
    brought it in. A name of the case's own on one side only is what the case asks for.
    """
    old, new = base["graders"] or {}, head["graders"] or {}
    moved = {name for name in old if name in new and old[name] != new[name]}
    if base["integrity"] == head["integrity"] and not is_unreadable(base) and not is_unreadable(head):
        moved |= {name for name in old.keys() ^ new.keys() if name.startswith("reader:") or name == _OWN_CHECK}
    return sorted(moved)


def differing_codes(base: Row, head: Row) -> list[str]:
    """Return the finding codes that only one side has, sorted."""
    return sorted(set(base["findings"] or ()) ^ set(head["findings"] or ()))


def _clocks(base: Row, head: Row, facts: Facts, evidence: dict[str, Any]) -> set[str]:
    moved: set[str] = set()
    graders = moved_graders(base, head)
    if graders:
        evidence["graders"] = graders
        moved.add("grader")
    if base["expectation_digest"] != head["expectation_digest"]:
        moved.add("expectation")
    if base["request_hash"] != head["request_hash"]:
        moved.add("request")
    elif not is_unreadable(base) and not is_unreadable(head):
        _model_clock(base, head, facts, moved, evidence)
    _judges(base, head, moved, evidence)
    return moved


def _model_clock(base: Row, head: Row, facts: Facts, moved: set[str], evidence: dict[str, Any]) -> None:
    if facts.same_answer is None:
        evidence["model"] = (
            f"undetermined: answer rules {base['answer_rule']} and {head['answer_rule']}, bodies not at hand"
        )
    elif not facts.same_answer:
        moved.add("model")
        if facts.programs:
            evidence["program"] = list(facts.programs)
    if base["reported_model"] != head["reported_model"]:
        evidence["reported_model"] = [base["reported_model"], head["reported_model"]]


def _judges(base: Row, head: Row, moved: set[str], evidence: dict[str, Any]) -> None:
    """A judge's other answer is the model clock; another question to it the grader's, or the expectation's if only that moved."""
    old = {entry["name"]: entry for entry in base["asked"] or ()}
    new = {entry["name"]: entry for entry in head["asked"] or ()}
    both = sorted(old.keys() & new.keys())
    answers = [n for n in both if _same_question(old[n], new[n]) and old[n]["answer_hash"] != new[n]["answer_hash"]]
    questions = [n for n in both if not _same_question(old[n], new[n])] + sorted(old.keys() ^ new.keys())
    if answers:
        evidence["judges"] = answers
        moved.add("model")
    if questions and base["answer_hash"] == head["answer_hash"]:
        evidence["judge_requests"] = sorted(questions)
        moved.add("expectation" if "grader" not in moved and "expectation" in moved else "grader")


def _same_question(old: Row, new: Row) -> bool:
    return (old["request_hash"], old["trial"]) == (new["request_hash"], new["trial"])


def _move(base: Row, head: Row, facts: Facts, clocks: set[str], evidence: dict[str, Any]) -> str:
    if is_unreadable(base) or is_unreadable(head):
        return "missing_snapshot"
    if "request" in clocks:
        return "capture_hash_moved"
    if facts.same_answer is False:
        return "answer_moved_on_frozen_request"
    if "judges" in evidence:
        return "judge_answer_moved_on_frozen_request"
    if not outcome_differs(base, head):
        return "expectation_changed_on_frozen_hash" if _rule_turned_verdict(base, head) else "none"
    if facts.same_answer is None:
        return "none"  # which answer was judged is not known: nobody is blamed, and the evidence says so
    if base["integrity"] != head["integrity"] and facts.old_code_agrees is not True:
        return _observed_again(base, head, clocks, evidence)
    if _grader_explains(base, head) and facts.old_code_agrees is not False:
        return "grader_changed_on_frozen_hash"
    if "expectation" in clocks:
        return "expectation_changed_on_frozen_hash"
    # Pure functions of equal inputs cannot differ: some grader reads what is not in the row.
    return "runtime_moved" if facts.runtime_moved else "impure_grader"


def _rule_turned_verdict(base: Row, head: Row) -> bool:
    """Tell whether equal findings make another case verdict because the rule over the trials is another one."""
    verdicts = base["case_passed"], head["case_passed"]
    return (
        None not in verdicts
        and verdicts[0] != verdicts[1]
        and base["expectation"]["pass"] != head["expectation"]["pass"]
    )


def _grader_explains(base: Row, head: Row) -> bool:
    """Tell whether a differing code has, on either side, a source whose digest moved; a grader that fails has no codes to differ."""
    moved = set(moved_graders(base, head))
    if any(name.startswith("reader:") for name in moved):
        return True  # what a reader reads differently may change any code
    failed = [row["error"] or "" for row in (base, head) if row["status"] == "grader_error"]
    if failed:
        return any(_names_fault(name, error) for name in moved for error in failed)
    sources = [row["evidence"] or {} for row in (base, head)]
    return any(moved & set(side.get(code, {})) for code in differing_codes(base, head) for side in sources)


def _names_fault(name: str, error: str) -> bool:
    """Tell whether an error is said of a grader; one that ended its process could be any."""
    return f"{name}: " in error or "ended its worker process" in error


def _observed_again(base: Row, head: Row, clocks: set[str], evidence: dict[str, Any]) -> str:
    """The same answer was observed again: what differs is what the checks read beside it."""
    if any(base[n] != head[n] for n in ("input_tokens", "output_tokens")):
        evidence["observation"] = "usage"
    elif base["latency_ms"] != head["latency_ms"]:
        evidence["observation"] = "latency"
    else:
        evidence["observation"] = "the rest of the response"
    clocks.add("model")
    return "answer_moved_on_frozen_request"
