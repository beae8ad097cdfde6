"""The plan of a grading: which observation is judged under which expectation, in the order of the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from golden import expectation, render
from golden.model import Planned, Suite
from golden.price import Price
from snapshots import canonical, strict_json
from snapshots.store import Found, Store


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One case × target × trial. ``found`` is the file to judge, or ``None`` where there is none.

    ``asked`` lists the very answers to graders' own requests that count, where a saved run says which.
    """

    case_id: str
    target: str
    trial: int
    request_hash: str
    found: Found | None
    side: Side
    asked: list[tuple[str, int, str]] | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """The grading side of a case for one target, shared by all its trials."""

    expectation: str
    expectation_digest: str
    expected: list[str]
    tags: list[str]
    pass_rule: str | float
    known: str | None
    graders: tuple[str, ...]
    checks: tuple[str, ...]


@dataclass(slots=True)
class Plan:
    """Rows sorted by case_id, target, trial, and what the plan left out. ``prices`` are those of the targets' models today."""

    rows: list[PlanRow] = field(default_factory=list[PlanRow])
    prices: dict[str, Price] = field(default_factory=dict[str, Price])
    not_in_base: int = 0
    request_moved: int = 0

    def digest(self) -> str:
        """Return the digest of everything that is to be judged: two shards of one run have one."""
        rows = [
            [r.case_id, r.target, r.trial, r.request_hash, r.side.expectation_digest, r.found and r.found.name, r.asked]
            for r in self.rows
        ]
        return canonical.digest(rows)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all graders that the plan needs, sorted."""
        return tuple(sorted({name for row in self.rows for name in row.side.graders}))


def plan(suite: Suite, planned: Iterable[Planned], store: Store) -> Plan:
    """Return the plan that judges the current answer of every case.

    Raises:
        ConfigError: a case cannot be rendered.
        StoreError: the store cannot be listed.
    """
    made = Plan(prices=_prices(suite))
    for case_id, target, trial, request_hash, side in _sides(suite, planned):
        made.rows.append(PlanRow(case_id, target, trial, request_hash, store.current(request_hash, trial), side))
    _in_order(made.rows)
    return made


def frozen_plan(suite: Suite, planned: Iterable[Planned], store: Store, base: pa.Table) -> Plan:
    """Return the plan that judges the very observations that a saved run lists: only grader and expectation can have moved.

    A case that the run does not list is left out and counted; one whose request has moved since is judged on the old answer and counted.
    """
    columns = ("case_id", "target", "trial", "request_hash", "integrity", "asked")
    keys = zip(*(base.column(n).to_pylist() for n in columns), strict=True)
    listed = {key[:3]: key[3:] for key in keys}
    made = Plan(prices=_prices(suite))
    for case_id, target, trial, request_hash, side in _sides(suite, planned):
        if (case_id, target, trial) not in listed:
            made.not_in_base += 1
            continue
        old_hash, integrity, asked = listed[case_id, target, trial]
        made.request_moved += old_hash != request_hash
        found = store.find(old_hash, trial, integrity) if integrity else None
        made.rows.append(PlanRow(case_id, target, trial, old_hash, found, side, _listed(asked)))
    _in_order(made.rows)
    return made


def _prices(suite: Suite) -> dict[str, Price]:
    """Return target → the price of its model, where the suite has one."""
    models = {name: target.model for name, target in suite.targets.items() if target.model is not None}
    return {name: suite.prices[model] for name, model in models.items() if model in suite.prices}


def _listed(asked: str | None) -> list[tuple[str, int, str]]:
    """Return the very answers that a row's ``asked`` lists."""
    if asked is None or asked == "[]":
        return []
    entries = strict_json.loads(asked)
    return [(one["request_hash"], one["trial"], one["integrity"]) for one in entries]


def _sides(suite: Suite, planned: Iterable[Planned]) -> Iterator[tuple[str, str, int, str, Side]]:
    """Yield case_id, target, trial, request hash and grading side of each planned row; each case × target is rendered once."""
    shared: dict[Any, Side] = {}
    last: tuple[str, str] | None = None
    request_hash, side = "", None
    for row in planned:
        key = row.case.id, row.target.name
        if key != last or side is None:  # the trials of a case × target come one after the other
            last = key
            request_hash = render.render(suite, row.case, row.target).request_hash
            side = side_of(suite, row, shared)
        yield (*key, row.trial, request_hash, side)


def _in_order(rows: list[PlanRow]) -> None:
    rows.sort(key=lambda r: (r.case_id, r.target, r.trial))


def side_of(suite: Suite, row: Planned, shared: dict[Any, Side] | None = None) -> Side:
    """Return the grading side of a planned row; equal ones are one object in ``shared``, for many cases demand the same."""
    text = expectation.expectation(suite, row.case, row.target)
    case = row.case
    key = text, case.tags
    if shared is not None and key in shared:
        return shared[key]
    checks = [name for check in case.checks for name in check]
    if case.allowed_tools is not None:
        checks.append("allowed_tools")
    # All but the tags stands in the text, so that equal texts mean equal sides.
    side = Side(
        expectation=text,
        expectation_digest=expectation.digest(text),
        expected=sorted(set(case.expected)),
        tags=sorted(set(case.tags)),
        pass_rule=case.pass_rule,
        known=case.known,
        graders=case.graders,
        checks=tuple(checks),
    )
    if shared is not None:
        shared[key] = side
    return side


def digests(side: Side, graders: dict[str, str]) -> dict[str, str]:
    """Return name → digest of what judges a row whose answer could not be read, the reader left out."""
    from grade.case_side import own_digest
    from grade.checks import CHECKS, EMPTY_ANSWER, EMPTY_ANSWER_NUMBER

    found: dict[str, Any] = {name: graders[name] for name in side.graders}
    found.update((f"check:{name}", own_digest(f"check:{name}", CHECKS[name].number)) for name in side.checks)
    found[f"check:{EMPTY_ANSWER}"] = own_digest(f"check:{EMPTY_ANSWER}", EMPTY_ANSWER_NUMBER)
    return found
