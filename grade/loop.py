"""The core of grading: one frozen file in, findings and facts out. Pure, and ignorant of networks, processes and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from golden import asking_check
from golden.closed_call import EPOCH, World, call_closed
from golden.grader import CODE
from golden.loader import Grader
from grade.answers import Asked, NoAnswer, answers_of
from grade.case_side import Applied, CaseSide, own_digest
from grade.checks import EMPTY_ANSWER, RESERVED_CODES
from snapshots import canonical, dialects, strict_json
from snapshots.envelope import Envelope
from snapshots.errors import CorruptSnapshot, GraderFault, JsonError, StoreError, UnreadableSnapshot
from snapshots.frozen import FrozenDict, freeze, thaw
from snapshots.reading import Reading
from snapshots.snapshot import Snapshot

__all__ = ["Asked", "Bench", "own_digest", "unjudged"]

Findings = dict[str, dict[str, Any]]


class Bench:
    """Grades snapshots under expectations with one set of graders."""

    def __init__(
        self, graders: Mapping[str, Grader], world: World, *, date: str = EPOCH, backwards: bool = False
    ) -> None:
        self._graders = graders
        self._world = world
        self._date = date
        self._backwards = backwards
        self._cases: dict[str, CaseSide] = {}

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
        faults, lack = self._check(made, side, snapshot, reading, found, asked)
        if lack is not None:
            facts.update(status=lack.status, error=str(lack))
        for grader in reversed(side.graders) if self._backwards else side.graders:
            try:
                self._call(grader, made, side, snapshot, found, asked)
            except GraderFault as fault:
                faults.append(f"{grader.place}: {fault.message}")
            except NoAnswer as lack:
                facts.update(status=lack.status, error=f"{grader.place}: {lack}")
        facts.update(
            findings=sorted(found),
            evidence=_evidence(found),
            reported_model=_whole(reading.model),
            finish_reason=_whole(reading.first.finish_reason),
            input_tokens=reading.input_tokens,
            output_tokens=reading.output_tokens,
            cost_usd=reading.cost_usd,
            cached_tokens=reading.cached_tokens,
            cache_write_tokens=reading.cache_write_tokens,
            latency_ms=latency_ms,
        )
        if asked is not None and (observed := asked.observed()):
            facts["asked"] = canonical.encode(observed).decode()
        if facts["status"] is None and faults:
            facts.update(status="grader_error", error="; ".join(faults))
        return facts

    def _side(self, expectation: str) -> CaseSide:
        side = self._cases.get(expectation)
        if side is None:
            if len(self._cases) > 64:  # rows come sorted by case: a few are enough, and memory stays flat
                self._cases.clear()
            side = self._cases[expectation] = CaseSide(expectation, self._graders, self._date)
        return side

    def asks(self, expectation: str) -> bool:
        """Tell whether anything that judges a case needs answers of its own."""
        return self._side(expectation).asks

    def _check(
        self,
        made: Callable[[], Envelope],
        side: CaseSide,
        snapshot: Snapshot,
        reading: Reading,
        found: Findings,
        asked: Asked | None,
    ) -> tuple[list[str], NoAnswer | None]:
        """Apply the checks and add their violations; return the faults, and what the last one lacks that lacks an answer."""
        faults: list[str] = []
        lack: NoAnswer | None = None
        if not side.checks:
            return faults, lack
        envelope = made()
        for one in side.checks:
            try:
                beside = self._beside(one, made, side, snapshot, reading, asked) if one.check.takes else ()
                evidence = self._closed(side, snapshot, partial(one.check.rule, envelope, one.argument, *beside))
            except GraderFault as fault:
                faults.append(f"check:{one.name}: {fault.message}")
                continue
            except NoAnswer as error:
                lack = NoAnswer(error.status, f"check:{one.name}: {error}")
                continue
            if evidence is not None:
                _add(found, one, _whole_value(evidence))
        return faults, lack

    def _beside(
        self,
        one: Applied,
        made: Callable[[], Envelope],
        side: CaseSide,
        snapshot: Snapshot,
        reading: Reading,
        asked: Asked | None,
    ) -> tuple[Any, ...]:
        """Return what a rule takes besides envelope and argument."""
        if one.check.takes == "cost":
            return (side.cost(reading),)
        if asked is None:
            raise GraderFault("it asks for answers, and there is no store to find them in")
        grader = asking_check.grader(one.name, one.argument, asked.type_of)
        return (answers_of(grader, partial(_pair, made, side, snapshot), partial(self._closed, side, snapshot), asked),)

    def _call(
        self,
        grader: Grader,
        made: Callable[[], Envelope],
        side: CaseSide,
        snapshot: Snapshot,
        found: Findings,
        asked: Asked | None,
    ) -> None:
        """Call one grader and add its findings.

        Raises:
            GraderFault: it did something wrong.
            NoAnswer: what it asks for is not there.
        """
        closed = partial(self._closed, side, snapshot)
        arguments: tuple[Any, ...] = (made(), side.case.of(snapshot)) if grader.takes_case else (made(),)
        if grader.asks is not None:
            pair = partial(_pair, made, side, snapshot)
            arguments = (*arguments, freeze(answers_of(grader, pair, closed, asked)))
        for code, evidence in closed(partial(_findings, grader.function, *arguments)):
            found.setdefault(code, {})[grader.name] = evidence

    def _closed(self, side: CaseSide, snapshot: Snapshot, call: Callable[[], Any]) -> Any:
        return call_closed(self._world, snapshot.request_hash, side.case.now, call)


def _add(found: Findings, one: Applied, evidence: Any) -> None:
    """Add a violation. The same check may stand in a case several times; the evidence of each violation is kept."""
    sources = found.setdefault(one.check.code, {})
    earlier = sources.get(f"check:{one.name}")
    sources[f"check:{one.name}"] = (
        evidence if earlier is None else [*(earlier if isinstance(earlier, list) else [earlier]), evidence]
    )


def _pair(made: Callable[[], Envelope], side: CaseSide, snapshot: Snapshot) -> tuple[Envelope, FrozenDict]:
    return made(), side.case.of(snapshot)


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
