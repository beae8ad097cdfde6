"""The core of grading: one frozen file in, findings and facts out. Pure, and ignorant of networks, processes and tables."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from golden.grader import CODE
from golden.loader import Grader
from grade.checks import CHECKS, EMPTY_ANSWER, EMPTY_ANSWER_NUMBER, RESERVED_CODES, Check, schema_validator
from grade.purity import EPOCH
from snapshots import canonical, dialects, strict_json
from snapshots.envelope import Envelope
from snapshots.errors import CorruptSnapshot, GraderFault, JsonError, StoreError, UnreadableSnapshot
from snapshots.frozen import FrozenDict, freeze, thaw
from snapshots.snapshot import Snapshot

Findings = dict[str, dict[str, Any]]


class World(Protocol):
    """What the loop needs of the purity guard."""

    violation: str

    def close(self, request_hash: str, now: str) -> None: ...
    def open(self) -> None: ...


class Bench:
    """Grades snapshots under expectations with one set of graders."""

    def __init__(self, graders: Mapping[str, Grader], world: World) -> None:
        self._graders = graders
        self._world = world
        self._cases: dict[str, _CaseSide] = {}

    def grade(self, snapshot: Snapshot, expectation: str) -> dict[str, Any]:
        """Grade one snapshot.

        Args:
            snapshot: a sound snapshot.
            expectation: canonical JSON of the case's grading side.

        Returns:
            ``findings``, ``evidence`` and ``graders`` (canonical JSON), ``error`` (``None`` or the faults), and what the reader found.
        """
        side = self._side(expectation)
        reader, number = dialects.reader_for(snapshot.request, snapshot.response)
        graders, grader_digest = side.digests_with(reader, number)
        facts: dict[str, Any] = {
            "graders": graders,
            "grader_digest": grader_digest,
            "findings": [],
            "evidence": "{}",
            "error": None,
            "status": None,
        }
        try:
            reading = dialects.read(reader, snapshot.response)
        except UnreadableSnapshot as error:
            return {**facts, "status": "unreadable_snapshot", "error": _whole(error.message)}
        latency = snapshot.meta.get("latency_ms")
        latency_ms = float(latency) if isinstance(latency, int | float) else None
        found: Findings = {}
        if reading.is_unexplained_empty:
            found[EMPTY_ANSWER] = {f"check:{EMPTY_ANSWER}": None}
        # Each grader reads an envelope of its own: what one does to it by force, the next does not see.
        made = partial(Envelope, reading, snapshot.response, latency_ms)
        faults = self._check(made(), side, snapshot, found) + self._call(made, side, snapshot, found)
        facts.update(
            findings=sorted(found),
            evidence=_evidence(found),
            reported_model=_whole(reading.model),
            finish_reason=_whole(reading.first.finish_reason),
            input_tokens=reading.input_tokens,
            output_tokens=reading.output_tokens,
            latency_ms=latency_ms,
        )
        if faults:
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

    def _call(self, made: Callable[[], Envelope], side: _CaseSide, snapshot: Snapshot, found: Findings) -> list[str]:
        faults: list[str] = []
        for grader in side.graders:
            arguments = (made(), side.view(snapshot)) if grader.takes_case else (made(),)
            try:
                for code, evidence in self._closed(side, snapshot, partial(_findings, grader.function, *arguments)):
                    found.setdefault(code, {})[grader.name] = evidence
            except GraderFault as fault:
                faults.append(f"{grader.place}: {fault.message}")
        return faults

    def _closed(self, side: _CaseSide, snapshot: Snapshot, call: Callable[[], Any]) -> Any:
        """Run foreign code with the world closed, its result's conversion to plain values included.

        Raises:
            GraderFault: for whatever it does wrong.
        """
        world = self._world
        result, fault = None, ""
        world.close(snapshot.request_hash, side.now)
        try:
            result = call()
        except BaseException as error:
            fault = _told(error)  # an exception of theirs may run code when it is printed: still closed
        finally:
            world.open()
        if world.violation or fault:
            raise GraderFault(world.violation or fault)
        return result


class _CaseSide:
    """The grading side of a case, parsed once."""

    def __init__(self, expectation: str, graders: Mapping[str, Grader]) -> None:
        value = strict_json.loads_own(expectation.encode())
        context = value.get("context")
        now = context.get("now") if isinstance(context, dict) else None
        self.now: str = now.upper() if isinstance(now, str) else EPOCH  # RFC 3339 allows t and z in lower case
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
        self._view = {n: value.get(n) for n in ("context", "allowed_tools", "checks", "graders")}
        self._texts: dict[str, tuple[str, str]] = {}

    def digests_with(self, reader: str, number: int) -> tuple[str, str]:
        """Return the row's name → digest map as canonical JSON, and its digest."""
        if reader not in self._texts:
            name = f"reader:{reader}"
            text = canonical.encode({**self.digests, name: own_digest(name, number)}).decode()
            self._texts[reader] = text, hashlib.sha256(text.encode()).hexdigest()
        return self._texts[reader]

    def view(self, snapshot: Snapshot) -> FrozenDict:
        """Return what a grader sees of its case: not id, tags, vars, trial, target or expected."""
        return freeze({**self._view, "request": snapshot.request})


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


def _told(error: BaseException) -> str:
    """Return what an exception of foreign code says, in one line; it may fail to say it."""
    if isinstance(error, GraderFault):
        return error.message
    if isinstance(error, MemoryError):
        return "it needed more memory than allowed"
    name = type(error).__name__
    try:
        text = str(error)
    except BaseException as broken:
        text = f"(its message cannot be printed: {type(broken).__name__})"
    return f"{name}: {text}".encode("utf-8", "replace").decode()[:500].rstrip(": ")


def unjudged(error: CorruptSnapshot | StoreError) -> dict[str, Any]:
    """Return the facts of a row whose file could not be read."""
    return {"status": "corrupt_snapshot", "error": error.message, "findings": [], "evidence": "{}"}
