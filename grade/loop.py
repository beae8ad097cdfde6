"""The core of grading: one frozen file in, findings and facts out. Pure, and ignorant of networks, processes and tables."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from golden.asking import Answers, State, interview
from golden.case_view import CaseView
from golden.closed_call import World, call_closed
from golden.grader import CODE
from golden.loader import Grader
from grade.checks import CHECKS, EMPTY_ANSWER, EMPTY_ANSWER_NUMBER, RESERVED_CODES, Check, schema_validator
from snapshots import canonical, dialects, strict_json
from snapshots.envelope import Envelope
from snapshots.errors import CorruptSnapshot, GraderFault, JsonError, StoreError, UnreadableSnapshot
from snapshots.frozen import FrozenDict, freeze, thaw
from snapshots.snapshot import Snapshot

Findings = dict[str, dict[str, Any]]


class Asked(Answers, Protocol):
    """The answers to the requests of one row's graders, and what was looked up among them."""

    def observed(self) -> list[dict[str, Any]]: ...


class Bench:
    """Grades snapshots under expectations with one set of graders."""

    def __init__(self, graders: Mapping[str, Grader], world: World) -> None:
        self._graders = graders
        self._world = world
        self._cases: dict[str, _CaseSide] = {}

    def grade(self, snapshot: Snapshot, expectation: str, asked: Asked | None = None) -> dict[str, Any]:
        """Grade one snapshot.

        Args:
            snapshot: a sound snapshot.
            expectation: canonical JSON of the case's grading side.
            asked: where the answers to graders' own requests are; without it there are none.

        Returns:
            ``findings``, ``evidence`` and ``graders`` (canonical JSON), ``error`` (``None`` or the faults), and what the reader found.
        """
        side = self._side(expectation)
        select = side.case.select
        reader, number = dialects.reader_for(snapshot.request, snapshot.response, select)
        graders, grader_digest = side.digests_with(reader, number)
        facts: dict[str, Any] = {
            "graders": graders,
            "grader_digest": grader_digest,
            "findings": [],
            "evidence": "{}",
            "error": None,
            "status": None,
            "asked": "[]",
        }
        try:
            reading = dialects.read(reader, snapshot.response, select)
        except UnreadableSnapshot as error:
            return {**facts, "status": "unreadable_snapshot", "error": _whole(error.message)}
        latency = snapshot.meta.get("latency_ms")
        latency_ms = float(latency) if isinstance(latency, int | float) else None
        found: Findings = {}
        if reading.is_unexplained_empty:
            found[EMPTY_ANSWER] = {f"check:{EMPTY_ANSWER}": None}
        # Each grader reads an envelope of its own: what one does to it by force, the next does not see.
        made = partial(Envelope, reading, snapshot.response, latency_ms)
        faults = self._check(made(), side, snapshot, found)
        for grader in side.graders:
            try:
                self._call(grader, made, side, snapshot, found, asked)
            except GraderFault as fault:
                faults.append(f"{grader.place}: {fault.message}")
            except _NoAnswer as lack:
                facts.update(status=lack.status, error=f"{grader.place}: {lack}")
        facts.update(
            findings=sorted(found),
            evidence=_evidence(found),
            reported_model=_whole(reading.model),
            finish_reason=_whole(reading.first.finish_reason),
            input_tokens=reading.input_tokens,
            output_tokens=reading.output_tokens,
            cost_usd=reading.cost_usd,
            latency_ms=latency_ms,
        )
        if asked is not None and (observed := asked.observed()):
            facts["asked"] = canonical.encode(observed).decode()
        if facts["status"] is None and faults:
            facts.update(status="grader_error", error="; ".join(faults))
        return facts

    def _side(self, expectation: str) -> _CaseSide:
        side = self._cases.get(expectation)
        if side is None:
            if len(self._cases) > 64:  # rows come sorted by case: a few are enough, and memory stays flat
                self._cases.clear()
            side = self._cases[expectation] = _CaseSide(expectation, self._graders)
        return side

    def _check(self, envelope: Envelope, side: _CaseSide, snapshot: Snapshot, found: Findings) -> list[str]:
        faults: list[str] = []
        for name, check, argument in side.checks:
            try:
                evidence = self._closed(side, snapshot, partial(check.rule, envelope, argument))
            except GraderFault as fault:
                faults.append(f"check:{name}: {fault.message}")
                continue
            if evidence is not None:
                evidence = _whole_value(evidence)
                sources = found.setdefault(check.code, {})
                earlier = sources.get(f"check:{name}")
                # The same check may stand in a case several times; the evidence of each violation is kept.
                sources[f"check:{name}"] = (
                    evidence if earlier is None else [*(earlier if isinstance(earlier, list) else [earlier]), evidence]
                )
        return faults

    def _call(
        self,
        grader: Grader,
        made: Callable[[], Envelope],
        side: _CaseSide,
        snapshot: Snapshot,
        found: Findings,
        asked: Asked | None,
    ) -> None:
        """Call one grader and add its findings.

        Raises:
            GraderFault: it did something wrong.
            _NoAnswer: what it asks for is not there.
        """
        closed = partial(self._closed, side, snapshot)
        arguments: tuple[Any, ...] = (made(), side.case.of(snapshot)) if grader.takes_case else (made(),)
        if grader.asks is not None:
            pair = partial(_pair, made, side, snapshot)
            arguments = (*arguments, freeze(_answers(grader, pair, closed, asked)))
        for code, evidence in closed(partial(_findings, grader.function, *arguments)):
            found.setdefault(code, {})[grader.name] = evidence

    def _closed(self, side: _CaseSide, snapshot: Snapshot, call: Callable[[], Any]) -> Any:
        return call_closed(self._world, snapshot.request_hash, side.case.now, call)


class _NoAnswer(Exception):
    """What a grader asks for is not there. ``status`` is the row's."""

    def __init__(self, status: str, what: str) -> None:
        super().__init__(what)
        self.status = status


def _pair(made: Callable[[], Envelope], side: _CaseSide, snapshot: Snapshot) -> tuple[Envelope, FrozenDict]:
    return made(), side.case.of(snapshot)


def _answers(
    grader: Grader, pair: Callable[[], tuple[Any, Any]], closed: Callable[..., Any], asked: Asked | None
) -> dict[str, Envelope]:
    """Return the recorded answers to a grader's own requests, by its names."""
    if asked is None:
        raise GraderFault("it asks for answers, and there is no store to find them in")
    held = interview(grader, pair, closed, asked)
    for put in held.put:
        if isinstance(put.error, CorruptSnapshot | StoreError):
            raise _NoAnswer("corrupt_snapshot", put.error.message)
        if put.error is not None:
            raise _NoAnswer("unreadable_snapshot", put.error.message)
    if lacking := held.lacking(State.UNANSWERED):
        lacks = ", ".join(f"{d.name!r} to target {d.target}" for d in lacking)
        raise _NoAnswer("missing_snapshot", f"no answer is recorded for its request {lacks}")
    if lacking := held.lacking(State.UNUSABLE):
        lacks = ", ".join(repr(d.name) for d in lacking)
        raise GraderFault(
            f"the recorded answer to its request {lacks} cannot be read by the grader as it is now; "
            "a changed request needs a capture"
        )
    return held.answers


class _CaseSide:
    """The grading side of a case, parsed once."""

    def __init__(self, expectation: str, graders: Mapping[str, Grader]) -> None:
        value = strict_json.loads_own(expectation.encode())
        self.case = CaseView(value)
        checks = [next(iter(c.items())) for c in value.get("checks", ())]
        if "allowed_tools" in value:
            checks.append(("allowed_tools", value["allowed_tools"]))
        self.checks: list[tuple[str, Check, Any]] = [(name, CHECKS[name], argument) for name, argument in checks]
        for name, argument in checks:
            if name == "json_schema":
                schema_validator(argument)
        self.graders = [graders[name] for name in value.get("graders", ())]
        self.digests: dict[str, str] = {g.name: g.digest for g in self.graders}
        self.digests.update(
            (f"check:{name}", own_digest(f"check:{name}", check.number)) for name, check, _ in self.checks
        )
        self.digests[f"check:{EMPTY_ANSWER}"] = own_digest(f"check:{EMPTY_ANSWER}", EMPTY_ANSWER_NUMBER)
        self._texts: dict[str, tuple[str, str]] = {}

    def digests_with(self, reader: str, number: int) -> tuple[str, str]:
        """Return the row's name → digest map as canonical JSON, and its digest."""
        if reader not in self._texts:
            name = f"reader:{reader}"
            text = canonical.encode({**self.digests, name: own_digest(name, number)}).decode()
            self._texts[reader] = text, hashlib.sha256(text.encode()).hexdigest()
        return self._texts[reader]


def own_digest(name: str, number: int) -> str:
    """Return the digest of a check or reader of ours: SHA-256 of its name and its hand-bumped number."""
    return hashlib.sha256(f"whichclock {name}/{number}".encode()).hexdigest()


def _findings(function: Callable[..., Any], *arguments: Any) -> list[tuple[str, Any]]:
    """Call a grader and return its codes with their evidence, all of it plain values.

    Raises:
        GraderFault: it returned anything else than finding codes.
    """
    returned = function(*arguments)
    if not isinstance(returned, dict | list | set | frozenset | tuple):
        what = "None" if returned is None else type(returned).__name__
        raise GraderFault(f"it returned {what}, not a set of finding codes")
    pairs = list(returned.items()) if isinstance(returned, dict) else [(code, None) for code in returned]
    return sorted({code: _evidence_of(code, evidence) for code, evidence in pairs}.items())


def _evidence_of(code: Any, evidence: Any) -> Any:
    if type(code) is not str or not CODE.fullmatch(code):
        shown = code if type(code) is str else type(code).__name__
        raise GraderFault(f"it returned {shown[:60]!r}, which is no finding code ([a-z][a-z0-9_]*)")
    if code in RESERVED_CODES:
        raise GraderFault(f"it returned {code!r}, which is the code of a built-in check")
    if evidence is None:
        return None
    try:
        plain = thaw(evidence)
        strict_json.check(plain)
    except (JsonError, RecursionError) as error:
        raise GraderFault(f"the evidence of {code!r} has no JSON form: {error}") from None
    return plain


def _whole(text: str | None) -> str | None:
    """Return a provider's word as text that UTF-8 can hold."""
    return text if text is None or text.isascii() else text.encode("utf-8", "replace").decode()


def _whole_value(value: Any) -> Any:
    """Return evidence of a check with only such text in it as UTF-8 can hold: it may quote the answer."""
    if isinstance(value, str):
        return _whole(value)
    if isinstance(value, dict):
        return {name: _whole_value(item) for name, item in value.items()}
    return [_whole_value(item) for item in value] if isinstance(value, list) else value


_plain: dict[tuple[tuple[str, str], ...], str] = {}


def _evidence(found: Findings) -> str:
    """Return the evidence as canonical JSON; findings without any, the most common ones, are spelled once for all rows."""
    flat = [(code, source) for code in found for source, evidence in found[code].items() if evidence is None]
    if len(flat) != sum(map(len, found.values())):
        return canonical.encode(found).decode()
    key = tuple(flat)
    if key not in _plain:
        if len(_plain) > 1000:
            _plain.clear()
        _plain[key] = canonical.encode(found).decode()
    return _plain[key]


def unjudged(error: CorruptSnapshot | StoreError) -> dict[str, Any]:
    """Return the facts of a row whose file could not be read."""
    return {"status": "corrupt_snapshot", "error": error.message, "findings": [], "evidence": "{}"}
