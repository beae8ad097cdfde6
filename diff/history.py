"""The runs of a label, one step after the other: which clock moved when, and in which run or commit a case flipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from diff.cases import attribute_rows
from diff.compare import Comparison, compare
from diff.report import interval, sentence, share_sentence
from diff.side import Sides
from diff.statistics import wilson
from golden import labels
from golden.model import Suite
from golden.revision import Repository
from grade import table
from grade.columns import scalar
from snapshots.console import neutral, shorten
from snapshots.errors import RefError, UsageError

SCHEMA = "whichclock.history/1"
_GIT = "git:"
_MOST_COMMITS = 10_000


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a history: the run that it leads to, and what moved on the way. The first run has no ``comparison``."""

    name: str
    passed: tuple[int, int]
    sentence: str = ""
    shares: str = ""
    clocks: dict[str, int] = field(default_factory=dict[str, int])
    verdict_changes: dict[str, int] = field(default_factory=dict[str, int])
    attribution: dict[str, str] = field(default_factory=dict[str, str])

    def as_dict(self) -> dict[str, Any]:
        """Return the members that ``--format json`` prints."""
        passed, cases = self.passed
        return {
            "run": self.name,
            "passed": passed,
            "cases": cases,
            "clocks": self.clocks,
            "verdict_changes": self.verdict_changes,
            "attribution": self.attribution,
        }

    def lines(self) -> Iterator[str]:
        """Yield the step for people, neutral."""
        yield f"{neutral(self.name)}  {interval(wilson(*self.passed))}"
        for text in (self.sentence, self.shares):
            if text:
                yield f"  {neutral(text)}"


def history(suite: Suite, label: str, sides: Sides) -> Iterator[Step]:
    """Yield the runs of a label, oldest first, each with what moved since the one before.

    Raises:
        RefError: the label has no run.
    """
    before: Path | None = None
    for path in _runs(suite, label):
        name = path.stem
        if before is None:
            yield Step(name, _passed(path))
        else:
            yield _step(name, compare(sides.of(str(before)), sides.of(str(path))))
        before = path


def _runs(suite: Suite, label: str) -> list[Path]:
    found = labels.runs(suite.results, label)
    if not found:
        labels.resolve(label, suite.results)  # says which labels there are
        raise RefError(f"{label!r} has no history", hint="save runs with: whichclock grade --save LABEL")
    return found


def _step(name: str, comparison: Comparison) -> Step:
    attribute_rows(comparison)
    made = comparison.attributed
    return Step(
        name,
        comparison.head_passed,
        sentence(comparison),
        share_sentence(comparison),
        comparison.clocks,
        comparison.verdict_changes,
        {} if made is None else made.suite.attribution(),
    )


def _passed(path: Path) -> tuple[int, int]:
    rows = table.read(path).select(["trial", "case_passed"]).to_pylist()
    judged = [row["case_passed"] for row in rows if row["trial"] == 0 and row["case_passed"] is not None]
    return sum(judged), len(judged)


@dataclass(frozen=True, slots=True)
class Flip:
    """Where a case turned: the first run or commit that is not what the last one was, and the clocks that moved there."""

    case_id: str
    before: str
    after: str
    passed: bool
    clocks: list[str]
    move: str
    attribution: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        """Return the members that ``--format json`` prints."""
        return {
            "case_id": self.case_id,
            "before": self.before,
            "after": self.after,
            "passed": self.passed,
            "clocks": self.clocks,
            "move": self.move,
            "attribution": self.attribution,
        }

    def lines(self) -> Iterator[str]:
        """Yield the flip for people, neutral."""
        turned = "passes" if self.passed else "fails"
        yield f"{shorten(neutral(self.case_id), 60)} {turned} since {neutral(self.after)} (before: {neutral(self.before)})"
        clocks = " and ".join(self.clocks) or "none"
        shares = ", ".join(f"{clock} {_signed(share)}" for clock, share in self.attribution.items())
        yield f"  the clock that moved there: {clocks} ({self.move}){f'; {neutral(shares)}' if shares else ''}"


def _signed(share: str) -> str:
    try:
        return f"{float(Fraction(share)):+g}"
    except ValueError:
        return share  # a reason


def bisect(suite: Suite, case_id: str, good: str, sides: Sides) -> list[Flip]:
    """Return where a case flipped last: among the runs of a label, or among the commits since ``git:REV``.

    Args:
        suite: the suite.
        case_id: exact id.
        good: a label, or ``git:REV`` for a commit at which the case had the other verdict.
        sides: makes the sides to compare.

    Raises:
        RefError: ``good`` names nothing, or the verdict is the same at both ends.
        UsageError: the case is not there.
    """
    if good.startswith(_GIT):
        return [_in_commits(suite, case_id, good, sides)]
    return _in_runs(suite, case_id, good, sides)


def _in_runs(suite: Suite, case_id: str, label: str, sides: Sides) -> list[Flip]:
    runs = _runs(suite, label)
    verdicts = [_verdicts(path, case_id) for path in runs]
    targets = sorted({target for one in verdicts for target in one})
    if not targets:
        raise UsageError(f"no run of {label} has a case {case_id!r}", hint="give its exact id")
    found: list[Flip] = []
    for target in targets:
        known = [(path, one[target]) for path, one in zip(runs, verdicts, strict=True) if one.get(target) is not None]
        flips = [i for i in range(1, len(known)) if known[i][1] != known[i - 1][1]]
        if flips:
            (before, _), (after, passed) = known[flips[-1] - 1], known[flips[-1]]
            comparison = compare(sides.of(str(before)), sides.of(str(after)))
            found.append(_flip(comparison, case_id, target, before.stem, after.stem, bool(passed)))
    if not found:
        raise RefError(f"case {case_id!r} never flipped in the {len(runs)} runs of {label}")
    return found


def _verdicts(path: Path, case_id: str) -> dict[str, bool | None]:
    import pyarrow as pa

    from grade.arrow import pc

    rows = table.read(path).select(["case_id", "target", "case_passed"])
    chosen = rows.filter(pc.equal(rows.column("case_id"), scalar(pa.string(), case_id)))
    return {row["target"]: row["case_passed"] for row in chosen.to_pylist()}


def _in_commits(suite: Suite, case_id: str, good: str, sides: Sides) -> Flip:
    repository = Repository(suite.root)
    start = repository.commit(good.removeprefix(_GIT))
    commits = _since(repository, start)
    target, first, last = _ends(case_id, sides, start, commits[-1])
    low, high = 0, len(commits) - 1  # the verdict at low is the first one, at high it is the last one
    while high - low > 1:
        middle = (low + high) // 2
        verdict = _verdict_at(sides, commits[middle], case_id).get(target)
        if verdict == first or verdict is None:
            low = middle
        else:
            high = middle
    comparison = compare(sides.of(f"{_GIT}{commits[low]}"), sides.of(f"{_GIT}{commits[high]}"))
    return _flip(comparison, case_id, target, commits[low][:12], commits[high][:12], last)


def _since(repository: Repository, start: str) -> list[str]:
    newest_first = [commit for commit, _ in repository.history("HEAD", _MOST_COMMITS)]
    later = newest_first[: newest_first.index(start)] if start in newest_first else newest_first
    if not later:
        raise RefError("no commit since then touches the project", hint="name an older one")
    return [start, *reversed(later)]


def _ends(case_id: str, sides: Sides, start: str, end: str) -> tuple[str, bool, bool]:
    before, after = _verdict_at(sides, start, case_id), _verdict_at(sides, end, case_id)
    for target, verdict in after.items():
        other = before.get(target)
        if verdict is not None and other is not None and verdict != other:
            return target, other, verdict
    if not after:
        raise UsageError(f"there is no case {case_id!r} at HEAD", hint="give its exact id")
    raise RefError(
        f"case {case_id!r} has the same verdict at {start[:12]} and at HEAD, or cannot be judged at one of them",
        hint="name a commit at which it had the other verdict",
    )


def _verdict_at(sides: Sides, commit: str, case_id: str) -> dict[str, bool | None]:
    rows = sides.of(f"{_GIT}{commit}").rows.select(["case_id", "target", "case_passed"]).to_pylist()
    return {row["target"]: row["case_passed"] for row in rows if row["case_id"] == case_id}


def _flip(comparison: Comparison, case_id: str, target: str, before: str, after: str, passed: bool) -> Flip:
    attribute_rows(comparison)
    rows = [r for r in comparison.rows.values() if (r.case_id, r.target) == (case_id, target)]
    clocks = dict.fromkeys(clock for row in rows for clock in row.clocks)
    move = next((row.move for row in rows if row.move != "none"), "none")
    return Flip(case_id, before, after, passed, list(clocks), move, rows[0].attribution if rows else {})
