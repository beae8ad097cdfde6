"""Selections: which cases, targets and trials a command is about."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from golden import nearest
from golden.model import Case, Planned, Selection, Suite
from snapshots.errors import UsageError

_GLOB = frozenset("*?[")


def select(suite: Suite, selection: Selection) -> tuple[Planned, ...]:
    """Return every case × target × trial that is selected, in the suite's order.

    A case is named by its exact id, or by a glob if the name holds ``*``, ``?`` or ``[``; several tags mean any.

    Raises:
        UsageError: a name that matches nothing, with the nearest names; or nothing is left.
    """
    _refuse_unknown(suite, selection)
    planned = tuple(
        Planned(case, suite.targets[name], trial)
        for case in _cases(suite, selection)
        for name in case.targets
        if not selection.targets or name in selection.targets
        for trial in range(case.trials if selection.trials is None else selection.trials)
    )
    if not planned:
        raise UsageError(
            "nothing to do: no case has all that was selected", hint="whichclock golden ls shows what there is"
        )
    return planned


def _cases(suite: Suite, selection: Selection) -> Iterable[Case]:
    cases: Iterable[Case] = suite.cases
    if selection.cases:
        ids = _matching(suite, selection.cases)
        cases = [case for case in cases if case.id in ids]
    if selection.tags:
        tags = set(selection.tags)
        cases = [case for case in cases if not tags.isdisjoint(case.tags)]
    return cases


def _matching(suite: Suite, names: Iterable[str]) -> set[str]:
    known = [case.id for case in suite.cases]
    exact = set(known)
    found: set[str] = set()
    for name in names:
        # An id that holds * is found under its own name too.
        matching = {name} & exact
        if _GLOB & set(name):
            matching |= {i for i in known if fnmatchcase(i, name)}
        if not matching:
            what = "no case matches" if _GLOB & set(name) else "no case is called"
            raise UsageError(f"{what} {name!r}", hint=nearest.hint(name, known))
        found |= matching
    return found


def _refuse_unknown(suite: Suite, selection: Selection) -> None:
    if selection.trials is not None and selection.trials < 1:
        raise UsageError(f"found {selection.trials} trials, expected at least 1")
    for name in selection.targets:
        if name not in suite.targets:
            raise UsageError(f"no target is called {name!r}", hint=nearest.hint(name, suite.targets))
    tags = {tag for case in suite.cases for tag in case.tags} if selection.tags else set[str]()
    for tag in selection.tags:
        if tag not in tags:
            raise UsageError(f"no case has the tag {tag!r}", hint=nearest.hint(tag, tags))
