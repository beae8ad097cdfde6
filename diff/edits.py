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
from golden.check_schema import schema_of
from golden.model import Case
from golden.place import file_and_line
from snapshots.console import shorten
from snapshots.pointer import unescape

MODEL = "the model's new answers"
_TAIL = 3
_NAME = 60
_LONGEST = 300
_MOST_POINTERS = 2
Key = tuple[str, str]


@dataclass(slots=True)
class Edit:
    """An edit and what it did.

    Attributes:
        clock: the clock that it moved.
        name: what it is.
        cases: the case × targets in which it moved the clock.
        silent: those of them in which no finding and no status differs.
        undetermined: those of them whose shares are not known.
        share: its share of the change of the suite's pass fraction, over the others.
    """

    clock: str
    name: str
    cases: int = 0
    silent: int = 0
    undetermined: int = 0
    share: Fraction = Fraction(0)

    def as_dict(self) -> dict[str, Any]:
        """Return the member of the summary's ``edits``."""
        return {
            "clock": self.clock,
            "name": self.name,
            "cases": self.cases,
            "silent": self.silent,
            "undetermined": self.undetermined,
            "share": str(self.share),
        }

    def share_words(self) -> str:
        """Return the share for people."""
        if not self.undetermined:
            return signed(self.share)
        told = "undetermined" if self.undetermined == self.cases else f"undetermined in {self.undetermined}"
        return told if not self.share else f"{signed(self.share)}, {told}"


def signed(share: Fraction) -> str:
    """Return a share for people: a signed decimal, without an end of zeros."""
    return "0" if not share else f"{float(share):+.3f}".rstrip("0").rstrip(".")


def edits(comparison: Comparison) -> list[Edit]:
    """Return the edits of a comparison, in the order of the clocks, those with the greatest share first."""
    names = Names(comparison)
    found: dict[tuple[str, str], Edit] = {}
    for rows in rows_of(comparison).values():
        quiet, shares = is_silent(comparison, rows), _shares(comparison, rows)
        # A control capture shows what the model did where the request moved too.
        hidden = ["model"] if shares is not None and shares.get("model") else []
        for clock in dict.fromkeys([*clocks_of(rows), *hidden]):
            name = " and ".join(names.of(rows, clock))
            edit = found.setdefault((clock, name), Edit(clock, name))
            edit.cases += 1
            edit.silent += quiet
            _add(edit, shares, clock, comparison)
    return sorted(found.values(), key=lambda e: (CLOCKS.index(e.clock), -abs(e.share), -e.cases, e.name))


def _shares(comparison: Comparison, rows: list[DiffRow]) -> Mapping[str, Fraction] | None:
    made = comparison.attributed
    one = None if made is None else made.cases.get((rows[0].case_id, rows[0].target))
    return None if one is None else one.shares


def _add(edit: Edit, shares: Mapping[str, Fraction] | None, clock: str, comparison: Comparison) -> None:
    if shares is None or comparison.attributed is None:
        edit.undetermined += 1
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


def is_silent(comparison: Comparison, rows: list[DiffRow]) -> bool:
    """Tell whether a case has the findings, statuses and verdict that it had, and not because two effects cancelled each other out."""
    if any((_shares(comparison, rows) or {}).values()):
        return False
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
        self._entries: dict[tuple[str, str], str | None] = {}
        self._cases = tuple({} if s.loaded is None else {c.id: c for c in s.loaded.cases} for s in self._sides)

    def of(self, rows: list[DiffRow], clock: str) -> tuple[str, ...]:
        """Return what moved a clock of a case, given its moved rows: one name or more, each of an edit of its own."""
        made = {"grader": self._graders, "expectation": self._expectation, "model": self._model}.get(
            clock, self._request
        )
        return tuple(shorten(name, _LONGEST) for name in made(rows))

    def _case(self, rows: list[DiffRow]) -> tuple[Case | None, Case | None]:
        row = rows[0]
        ids = (row.base or {}).get("case_id", row.case_id), row.case_id
        old, new = (cases.get(one) for cases, one in zip(self._cases, ids, strict=True))
        return old, new

    def _model(self, rows: list[DiffRow]) -> list[str]:
        programs = {file: None for row in rows for file in row.evidence.get("program", ())}
        judges = {name: None for row in rows for name in row.evidence.get("judges", ())}
        reported = {tuple(map(str, row.evidence["reported_model"])) for row in rows if "reported_model" in row.evidence}
        if programs:
            return [f"the program ({', '.join(programs)})"]
        if judges and all("judges" in row.evidence for row in rows if "model" in row.clocks):
            return [f"new answers of the judge ({', '.join(judges)})"]
        if len(reported) != 1:
            return [MODEL]
        return [f"{MODEL} ({' → '.join(shorten(name, _NAME) for name in reported.pop())})"]

    def _graders(self, rows: list[DiffRow]) -> list[str]:
        moved = next((row for row in rows if "graders" in row.evidence), rows[0])
        names = {name: None for row in rows for name in row.evidence.get("graders", ())}
        told = [self._grader(moved, name) for name in names]
        asked = {name: None for row in rows for name in row.evidence.get("judge_requests", ())}
        return told or [f"what {name} asks" for name in asked] or ["the grader"]

    def _grader(self, row: DiffRow, name: str) -> str:
        """Return ``file:name`` where the source is at hand, else the name; another file where that one moved and this one did not."""
        if ":" in name:
            return f"whichclock's own {name}"
        old, new = (((side or {}).get("graders") or {}).get(name, "") for side in (row.base, row.head))
        if (old, new) not in self._entries:  # a saved run's source is a file: it is read once
            self._entries[old, new] = _entry(self._sides[0].source(old), self._sides[1].source(new))
        entry = self._entries[old, new]
        return name if entry is None else f"{entry}:{name}"

    def _expectation(self, rows: list[DiffRow]) -> list[str]:
        moved = next((row for row in rows if "expectation" in row.clocks), rows[0])
        sides = [(side or {}).get("expectation") or {} for side in (moved.base, moved.head)]
        members = sorted(name for name in sides[0].keys() | sides[1].keys() if sides[0].get(name) != sides[1].get(name))
        old, new = self._case(rows)
        return [self._member(name, old, new) for name in members] or ["the expectation"]

    def _member(self, name: str, old: Case | None, new: Case | None) -> str:
        if new is None:
            return f"the case's {name}"
        if name in ("select", "price"):
            return f"{name} in {self._config()}"
        if name == "checks" and old is not None and old.checks == new.checks:
            return "a schema file that checks name"
        if name == "checks" and old is None and any(isinstance(schema_of(check), str) for check in new.checks):
            return f"checks in {_file(new)}, or a schema file that they name"
        return f"{name} in {_file(new)}"

    def _request(self, rows: list[DiffRow]) -> list[str]:
        changes = {change["pointer"]: change["part"] for row in rows for change in row.request_changes}
        if not changes:
            return ["the request"]
        old, new = self._case(rows)
        told = self._prompt(old, new) if "prompt" in changes.values() else []
        places: dict[str, list[str]] = {}
        for pointer, part in sorted(changes.items()):
            if part != "prompt" or not told:
                places.setdefault(self._place(pointer, part, old, new, rows[0].target), []).append(pointer)
        return [*told, *(f"{_parts(pointers, changes)}{place}" for place, pointers in places.items())]

    def _prompt(self, old: Case | None, new: Case | None) -> list[str]:
        """Return what moved a prompt that stands in a file, as far as that can be told."""
        if new is None or not isinstance(new.prompt, dict):
            return []
        file: str = new.prompt["file"]
        if old is None:
            return [f"{file} or vars in {_file(new)}" if new.vars else file]
        if old.prompt != new.prompt:
            return [f"prompt in {_file(new)}"]
        texts = [None if s.loaded is None else s.loaded.prompts.get(file) for s in self._sides]
        moved = [file] if texts[0] != texts[1] else []
        return [*moved, f"vars in {_file(new)}"] if old.vars != new.vars else moved

    def _place(self, pointer: str, part: str, old: Case | None, new: Case | None, target: str) -> str:
        """Return where a part of a request stands: in the case or in the target, or nothing where that cannot be told."""
        if new is None or old is None:
            return ""
        owned = {"salt": ("salt",), "prompt": ("prompt", "request", "body", "vars")}.get(part, ("request", "body"))
        moved = [name for name in owned if getattr(old, name) != getattr(new, name)]
        if not moved:
            return f" of target {target} in {self._config()}"
        if part not in ("salt", "prompt") and old.body == new.body:
            tokens = pointer.split("/")
            name = unescape(tokens[2]) if len(tokens) > 2 else ""
            if not any(name in (case.request or {}) for case in (old, new)):
                return f" of target {target} in {self._config()}"
        return f" in {_file(new)}"

    def _config(self) -> str:
        loaded = self._sides[1].loaded
        return "the configuration" if loaded is None else loaded.config.name


def _entry(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> str | None:
    """Return the file that is accused for a grader: its own, or those that it imports where these alone moved."""
    if new is None:
        return None
    entry = str(new["entry"])
    if old is None:
        return entry
    files = sorted({*old["files"], *new["files"]})
    moved = [name for name in files if old["files"].get(name) != new["files"].get(name)]
    return entry if entry in moved or not moved else ", ".join(moved)


def _file(case: Case) -> str:
    """Return the file that a case stands in."""
    return file_and_line(case.place)[0]


def _parts(pointers: list[str], parts: Mapping[str, str]) -> str:
    """Return parts of a request with the ends of their pointers, where these are few."""
    named = " and ".join(sorted({parts[pointer] for pointer in pointers}))
    if len(pointers) > _MOST_POINTERS:
        return f"{named} ({len(pointers)} places)"
    return f"{named} ({', '.join(map(tail, pointers))})"


def tail(pointer: str) -> str:
    """Return the end of a pointer, which tells more than its beginning does."""
    tokens = pointer.split("/")[1:]
    return pointer if len(tokens) <= _TAIL + 1 else f"…/{'/'.join(tokens[-_TAIL:])}"
