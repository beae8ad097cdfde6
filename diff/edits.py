"""The edits behind a diff, named as an author would name them: what changed, the clock it moved, how many cases, and its share.

An edit is a file, or a part of one, for as long as that can be told from the cases of both sides. Nobody is accused by a guess: a prompt
file is named only where its text is another one, or where the old text is not at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from diff.attribution import TOGETHER
from diff.classify import CLOCKS, outcome_differs
from diff.compare import Comparison
from diff.row import DiffRow
from golden.model import Case
from golden.place import file_and_line
from snapshots.console import shorten

MODEL = "the model's new answers"
_TAIL = 3
_NAME = 60
_LONGEST = 300
_MOST_POINTERS = 2
# What of a case is asked, as far as a request shows it.
_ASKED = ("request", "prompt", "body", "vars", "salt")
Key = tuple[str, str]


@dataclass(slots=True)
class Edit:
    """An edit and what it did.

    Attributes:
        clock: the clock that it moved.
        name: what it is.
        cases: the case × targets in which it moved the clock.
        silent: those of them in which no finding and no status differs.
        share: its share of the change of the suite's pass fraction; ``None`` where that is undetermined in a case.
    """

    clock: str
    name: str
    cases: int = 0
    silent: int = 0
    share: Fraction | None = Fraction(0)

    def as_dict(self) -> dict[str, Any]:
        """Return the member of the summary's ``edits``."""
        share = None if self.share is None else str(self.share)
        return {"clock": self.clock, "name": self.name, "cases": self.cases, "silent": self.silent, "share": share}


def edits(comparison: Comparison) -> list[Edit]:
    """Return the edits of a comparison, in the order of the clocks, those with the greatest share first."""
    names = Names(comparison)
    found: dict[tuple[str, str], Edit] = {}
    for rows in rows_of(comparison).values():
        quiet = is_quiet(rows)
        shares = _shares(comparison, rows)
        # A control capture shows what the model did where the request moved too.
        hidden = ["model"] if shares is not None and shares.get("model") else []
        for clock in dict.fromkeys([*clocks_of(rows), *hidden]):
            name = names.of(rows, clock)
            edit = found.setdefault((clock, name), Edit(clock, name))
            edit.cases += 1
            edit.silent += quiet
            _add(edit, shares, clock, comparison)
    return sorted(found.values(), key=lambda e: (CLOCKS.index(e.clock), -abs(e.share or 0), -e.cases, e.name))


def _shares(comparison: Comparison, rows: list[DiffRow]) -> Mapping[str, Fraction] | None:
    made = comparison.attributed
    one = None if made is None else made.cases.get((rows[0].case_id, rows[0].target))
    return None if one is None else one.shares


def _add(edit: Edit, shares: Mapping[str, Fraction] | None, clock: str, comparison: Comparison) -> None:
    if shares is None:
        edit.share = None  # undetermined, or a case of one side
    if edit.share is None or shares is None or comparison.attributed is None:
        return
    player = TOGETHER if clock == "request" and TOGETHER in shares else clock
    edit.share += shares.get(player, Fraction(0)) / max(1, comparison.attributed.suite.pairs)


def rows_of(comparison: Comparison) -> dict[Key, list[DiffRow]]:
    """Return the moved rows of each case × target."""
    rows: dict[Key, list[DiffRow]] = {}
    for row in comparison.rows.values():
        rows.setdefault((row.case_id, row.target), []).append(row)
    return rows


def clocks_of(rows: list[DiffRow]) -> list[str]:
    """Return the clocks that moved in any trial of a case, in their order."""
    moved = {clock for row in rows for clock in row.clocks}
    return [clock for clock in CLOCKS if clock in moved]


def is_quiet(rows: list[DiffRow]) -> bool:
    """Tell whether a case has the findings, statuses and verdict that it had."""
    return all(
        row.base is not None
        and row.head is not None
        and not outcome_differs(row.base, row.head)
        and row.base["case_passed"] == row.head["case_passed"]
        for row in rows
    )


class Names:
    """Names the edits of a comparison's cases."""

    def __init__(self, comparison: Comparison) -> None:
        self._sides = comparison.base, comparison.head
        self._entries: dict[str, str | None] = {}
        self._cases = tuple({} if s.loaded is None else {c.id: c for c in s.loaded.cases} for s in self._sides)

    def of(self, rows: list[DiffRow], clock: str) -> str:
        """Return what moved a clock of a case, given its moved rows."""
        made = {"grader": self._graders, "expectation": self._expectation, "model": self._model}.get(
            clock, self._request
        )
        return shorten(made(rows), _LONGEST)

    def _case(self, rows: list[DiffRow]) -> tuple[Case | None, Case | None]:
        row = rows[0]
        ids = (row.base or {}).get("case_id", row.case_id), row.case_id
        old, new = (cases.get(one) for cases, one in zip(self._cases, ids, strict=True))
        return old, new

    def _model(self, rows: list[DiffRow]) -> str:
        programs = {file: None for row in rows for file in row.evidence.get("program", ())}
        judges = {name: None for row in rows for name in row.evidence.get("judges", ())}
        reported = {tuple(map(str, row.evidence["reported_model"])) for row in rows if "reported_model" in row.evidence}
        if programs:
            return f"the program ({', '.join(programs)})"
        if judges and all("judges" in row.evidence for row in rows if "model" in row.clocks):
            return f"new answers of the judge ({', '.join(judges)})"
        return (
            f"{MODEL} ({' → '.join(shorten(name, _NAME) for name in reported.pop())})" if len(reported) == 1 else MODEL
        )

    def _graders(self, rows: list[DiffRow]) -> str:
        names = {name: None for row in rows for name in row.evidence.get("graders", ())}
        told = [self._grader(next(row for row in rows if "graders" in row.evidence).head or {}, name) for name in names]
        asked = {name: None for row in rows for name in row.evidence.get("judge_requests", ())}
        told += [f"what {name} asks" for name in asked] if not told else []
        return " and ".join(told) or "the grader"

    def _grader(self, row: Mapping[str, Any], name: str) -> str:
        """Return ``file:name`` where the source is at hand, else the name."""
        if ":" in name:
            return f"whichclock's own {name}"
        digest = (row.get("graders") or {}).get(name, "")
        if digest not in self._entries:  # a saved run's is a file: it is read once
            source = self._sides[1].source(digest)
            self._entries[digest] = None if source is None else source["entry"]
        entry = self._entries[digest]
        return name if entry is None else f"{entry}:{name}"

    def _expectation(self, rows: list[DiffRow]) -> str:
        sides = [(side or {}).get("expectation") or {} for side in (rows[0].base, rows[0].head)]
        moved = sorted(name for name in sides[0].keys() | sides[1].keys() if sides[0].get(name) != sides[1].get(name))
        old, new = self._case(rows)
        if not moved or new is None:
            return f"the case's {' and '.join(moved)}" if moved else "the expectation"
        if moved == ["checks"] and old is not None and old.checks == new.checks:
            return "a schema file that checks name"
        of_target = {"select", "price"}.issuperset(moved)
        return f"{' and '.join(moved)} in {self._config() if of_target else _file(new)}"

    def _request(self, rows: list[DiffRow]) -> str:
        changes = {change["pointer"]: change["part"] for row in rows for change in row.request_changes}
        parts = sorted(set(changes.values()))
        if not parts:
            return "the request"
        old, new = self._case(rows)
        told: list[str] = []
        prompt = self._prompt(old, new) if "prompt" in parts else None
        if prompt is not None:
            told.append(prompt)
            parts.remove("prompt")
        if parts:
            pointers = sorted(pointer for pointer, part in changes.items() if part in parts)
            told.append(_parts(parts, pointers) + self._place(old, new, rows[0].target))
        return " and ".join(told)

    def _prompt(self, old: Case | None, new: Case | None) -> str | None:
        """Return what a moved prompt is called where the case has it in a file, or ``None``."""
        if new is None or not isinstance(new.prompt, dict):
            return None
        file: str = new.prompt["file"]
        texts = [None if s.loaded is None else s.loaded.prompts.get(file) for s in self._sides]
        same_file = old is None or old.prompt == new.prompt
        if old is not None and same_file and texts[0] == texts[1]:
            return f"vars in {_file(new)}"  # the file stands still
        return file if same_file else f"prompt in {_file(new)}"

    def _place(self, old: Case | None, new: Case | None, target: str) -> str:
        """Return where the rest of a moved request stands: in the case, or in the target where the case stands still."""
        if new is None:
            return ""
        if old is None or any(getattr(old, name) != getattr(new, name) for name in _ASKED):
            return f" in {_file(new)}"
        return f" of target {target} in {self._config()}"

    def _config(self) -> str:
        loaded = self._sides[1].loaded
        return "the configuration" if loaded is None else loaded.config.name


def _file(case: Case) -> str:
    """Return the file that a case stands in."""
    return file_and_line(case.place)[0]


def _parts(parts: list[str], pointers: list[str]) -> str:
    """Return parts of a request with the ends of their pointers, where these are few."""
    if len(pointers) > _MOST_POINTERS:
        return f"{' and '.join(parts)} ({len(pointers)} places)"
    return f"{' and '.join(parts)} ({', '.join(map(tail, pointers))})"


def tail(pointer: str) -> str:
    """Return the end of a pointer, which tells more than its beginning does."""
    tokens = pointer.split("/")[1:]
    return pointer if len(tokens) <= _TAIL + 1 else f"…/{'/'.join(tokens[-_TAIL:])}"
