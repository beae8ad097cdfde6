"""How much of a change each clock has: exact, by grading again with clocks set back, never by the order of a list.

A case's change is that of its pass fraction. If one clock moved it has all of it; if several did, every corner of the cube is
computed and each clock gets its Shapley share. A request that moved was never asked of the old model: without a control capture the
answer is one player, ``request+model``; with one the model comes before the request. What cannot be computed is undetermined, with
the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

from diff.corners import Answer, Question, ask
from diff.shapley import Corner, corners, shares
from diff.side import Side
from grade.verdict import case_passed

Row = dict[str, Any]
Key = tuple[str, str]
ENVELOPE, MODEL, REQUEST, GRADER, EXPECTATION = "envelope", "model", "request", "grader", "expectation"
TOGETHER = "request+model"
_JUDGED = frozenset({"pass", "fail"})


@dataclass(slots=True)
class Case:
    """A case × target on both sides, with all its trials and the clocks that moved in any of them."""

    key: Key
    base: list[Row]
    head: list[Row]
    clocks: set[str]
    control: list[Row] | None = None

    @property
    def players(self) -> tuple[str, ...]:
        """Return the players of the cube, in the order of the clocks."""
        answer = () if not self.clocks & {REQUEST, MODEL} else (ENVELOPE,) if self.control is None else (MODEL, REQUEST)
        return (*answer, *(clock for clock in (GRADER, EXPECTATION) if clock in self.clocks))

    @property
    def precedence(self) -> tuple[str, str] | None:
        """Return the pair of which the first precedes, if there is one."""
        return None if self.control is None else (MODEL, REQUEST)

    def name(self, player: str) -> str:
        """Return how a player is called in reports."""
        if player != ENVELOPE:
            return player
        return TOGETHER if REQUEST in self.clocks else MODEL


@dataclass(slots=True)
class Outcome:
    """What a corner comes to: how often it passes, which codes it gives how often, and the case verdict."""

    passes: Fraction
    codes: dict[str, Fraction]
    passed: bool | None


@dataclass(slots=True)
class Attribution:
    """The shares of one case.

    Attributes:
        change: of the pass fraction; ``None`` where a side could not be judged.
        shares: clock → share; ``None`` where they are undetermined, for the ``reason``.
        codes: finding code → clock → share of the change of how often it is found.
        cures: for a case that newly fails, the smallest sets of clocks that bring the pass back when they are undone.
        undone: set of clocks → the case verdict when these are undone, as far as it was computed.
    """

    key: Key
    change: Fraction | None
    shares: dict[str, Fraction] | None = None
    reason: str = ""
    codes: dict[str, dict[str, Fraction]] = field(default_factory=dict[str, dict[str, Fraction]])
    cures: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    undone: dict[frozenset[str], bool | None] = field(default_factory=dict[frozenset[str], "bool | None"])

    def as_dict(self) -> dict[str, str]:
        """Return the ``attribution`` of a row."""
        if self.shares is None:
            return {"undetermined": self.reason}
        return {clock: str(share) for clock, share in self.shares.items()}


def attribute(cases: Sequence[Case], base: Side, head: Side) -> list[Attribution]:
    """Return the attribution of each case, in order. Cases with several moved clocks are graded again, all at once."""
    made: dict[int, Attribution] = {}
    cubes: dict[int, _Cube] = {}
    for number, case in enumerate(cases):
        simple = _simple(case)
        if simple is not None:
            made[number] = simple
        else:
            cubes[number] = _Cube(case)
    for code, owner in ((base, "base"), (head, "head")):
        _fill(cubes.values(), code, owner, (base, head))
    made.update((number, cube.attribution()) for number, cube in cubes.items())
    return [made[number] for number in range(len(cases))]


def _simple(case: Case) -> Attribution | None:
    """Return the attribution of a case that needs no cube, or ``None``."""
    old, new = _outcome_of(case.base), _outcome_of(case.head)
    if old is None or new is None:
        return Attribution(case.key, None, reason="a trial could not be judged")
    change = new.passes - old.passes
    if {row["trial"] for row in case.base} != {row["trial"] for row in case.head}:
        return Attribution(case.key, change, reason="the trials are others")
    players = case.players
    if not players:
        if change:
            return Attribution(case.key, change, reason="no clock moved: a runtime did, or a grader is impure")
        return Attribution(case.key, change, {})
    if len(players) > 1:
        return None
    name = "".join(map(case.name, players))  # the only one
    codes = {
        code: {name: new.codes.get(code, Fraction(0)) - old.codes.get(code, Fraction(0))} for code in _codes(old, new)
    }
    cures = [(name,)] if old.passed is True and new.passed is False else []
    undone = {frozenset({name}): old.passed}
    return Attribution(case.key, change, {name: change}, codes=codes, cures=cures, undone=undone)


def _codes(*outcomes: Outcome) -> list[str]:
    return sorted({code for outcome in outcomes for code in outcome.codes})


def _outcome_of(rows: Sequence[Row]) -> Outcome | None:
    """Return what the rows of a table come to, or ``None`` where one could not be judged."""
    if any(row["status"] not in _JUDGED for row in rows):
        return None
    return _outcome([row["findings"] for row in rows], rows[0]["expectation"])


def _outcome(findings: Sequence[Iterable[str]], expectation: Mapping[str, Any]) -> Outcome:
    count = len(findings)
    wanted = sorted(set(expectation["expected"]))
    statuses = ["pass" if sorted(found) == wanted else "fail" for found in findings]
    codes: dict[str, Fraction] = {}
    for found in findings:
        for code in found:
            codes[code] = codes.get(code, Fraction(0)) + Fraction(1, count)
    return Outcome(Fraction(statuses.count("pass"), count), codes, case_passed(statuses, expectation["pass"]))


class _Cube:
    """The corners of one case."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._players = case.players
        self._outcomes: dict[Corner, Outcome] = {}
        self._reason = ""
        everything: Corner = frozenset(self._players)
        for corner, rows in ((frozenset[str](), case.base), (everything, case.head)):
            outcome = _outcome_of(rows)
            assert outcome is not None  # _simple has looked
            self._outcomes[corner] = outcome
        self._open = [c for c in corners(self._players, case.precedence) if c not in self._outcomes]

    def questions(self, owner: str) -> list[tuple[Corner, list[Question]]]:
        """Return the corners that the code of one side has to read, with a question for each trial."""
        wanted = [c for c in self._open if (GRADER in c or GRADER not in self._players) == (owner == "head")]
        return [(corner, self._of(corner)) for corner in wanted]

    def rows(self, owner: str) -> list[Row]:
        """Return the rows of the side whose code judges."""
        return self._case.head if owner == "head" else self._case.base

    def _of(self, corner: Corner) -> list[Question]:
        case = self._case
        expectation = (case.head if EXPECTATION in corner or EXPECTATION not in self._players else case.base)[0][
            "expectation"
        ]
        if ENVELOPE in corner or REQUEST in corner or not {ENVELOPE, REQUEST} & set(self._players):
            answers, others = case.head, case.base
        elif MODEL in corner and case.control is not None:
            answers, others = case.control, case.head
        else:
            answers, others = case.base, case.head
        beside = {row["trial"]: row for row in others}
        return [Question(row, expectation, beside.get(row["trial"])) for row in answers]

    def take(self, corner: Corner, answers: Sequence[Answer]) -> None:
        """Take what a corner came to."""
        for answer in answers:
            if answer.findings is None:
                self._reason = self._reason or answer.reason
                return
        questions = self._of(corner)
        self._outcomes[corner] = _outcome([a.findings or () for a in answers], questions[0].expectation)

    def attribution(self) -> Attribution:
        """Return the shares, or why there are none."""
        case, none, every = self._case, frozenset[str](), frozenset(self._players)
        change = self._outcomes[every].passes - self._outcomes[none].passes
        if self._reason or any(corner not in self._outcomes for corner in self._open):
            return Attribution(case.key, change, reason=self._reason or "a corner was not computed")
        found = shares(self._players, lambda corner: self._outcomes[corner].passes, case.precedence)
        codes = {
            code: self._named(
                shares(
                    self._players, lambda c, code=code: self._outcomes[c].codes.get(code, Fraction(0)), case.precedence
                )
            )
            for code in _codes(*self._outcomes.values())
        }
        return Attribution(
            case.key, change, self._named(found), codes=codes, cures=self._cures(), undone=self._undone()
        )

    def _named(self, found: Mapping[str, Fraction]) -> dict[str, Fraction]:
        return {self._case.name(player): share for player, share in found.items()}

    def _undone(self) -> dict[frozenset[str], bool | None]:
        every = frozenset(self._players)
        return {
            frozenset(map(self._case.name, every - corner)): outcome.passed
            for corner, outcome in self._outcomes.items()
            if corner != every
        }

    def _cures(self) -> list[tuple[str, ...]]:
        """Return the smallest sets of players that, set back alone, turn a case that newly fails into a pass."""
        every = frozenset(self._players)
        if self._outcomes[frozenset()].passed is not True or self._outcomes[every].passed is not False:
            return []
        for size in range(1, len(self._players) + 1):
            found = [
                undone
                for undone in combinations(self._players, size)
                if (outcome := self._outcomes.get(every - frozenset(undone))) is not None and outcome.passed
            ]
            if found:
                return [tuple(self._case.name(player) for player in undone) for undone in found]
        return []


def _fill(cubes: Iterable[_Cube], code: Side, owner: str, sides: tuple[Side, Side]) -> None:
    """Compute all corners that the code of one side reads, in one run of its workers."""
    places: list[tuple[_Cube, Corner, int]] = []
    questions: list[Question] = []
    rows: list[Row] = []
    for cube in cubes:
        for corner, asked in cube.questions(owner):
            places.append((cube, corner, len(asked)))
            questions += asked
            rows += cube.rows(owner)
    if not questions:
        return
    answers = iter(ask(code, rows, questions, sides))
    for cube, corner, count in places:
        cube.take(corner, [next(answers) for _ in range(count)])
