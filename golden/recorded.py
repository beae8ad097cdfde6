"""The recorded answers to graders' own requests: rendered as capture renders them, found in the store, read like every other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from golden.asking import Declared
from golden.model import Suite, Target
from golden.redaction import Redaction
from golden.render import Rendered, render_request
from snapshots import dialects
from snapshots.envelope import Envelope
from snapshots.errors import ConfigError, GraderFault
from snapshots.snapshot import Snapshot
from snapshots.store import Found, Store


class Recorded:
    """Answers in one store to requests that name one suite's targets."""

    def __init__(self, targets: Mapping[str, Target], root: Path, snapshots: Path, redaction: Redaction) -> None:
        nothing = Path()
        self._suite = Suite("", nothing, root, targets, (), (), snapshots, nothing, redaction=redaction)
        self._store = Store(snapshots)

    @classmethod
    def from_setup(cls, setup: Mapping[str, Any]) -> Recorded | None:
        """Return what a worker's set-up message describes, or ``None`` where there is no store."""
        if setup["snapshots"] is None:
            return None
        targets = {name: Target(**members) for name, members in setup["targets"].items()}
        rules = dict(setup["redaction"])
        patterns = tuple((name, pattern) for name, pattern in rules.pop("patterns"))
        redaction = Redaction(patterns=patterns, **{name: tuple(value) for name, value in rules.items()})
        return cls(targets, Path(setup["root"]), Path(setup["snapshots"]), redaction)

    def row(self, trial: int, listed: Iterable[tuple[str, int, str]] | None = None) -> RowAnswers:
        """Return the answers for one row.

        Args:
            trial: the completion's trial, which its graders' requests share.
            listed: ``(request_hash, trial, integrity)`` of the very answers that count; else the current ones do.
        """
        return RowAnswers(self, trial, {(key, number): digest for key, number, digest in listed or ()})

    def render(self, declared: Declared) -> Rendered:
        """Return a declared request, rendered.

        Raises:
            GraderFault: it names no target, or its target cannot express it.
        """
        return rendered(self._suite, declared)

    def type_of(self, target: str) -> str | None:
        """Return the type of a target, or ``None`` where the suite has none of that name."""
        return self._suite.targets[target].type if target in self._suite.targets else None

    def select(self, declared: Declared) -> str | None:
        """Return how the target of a request reads generic answers."""
        return self._suite.targets[declared.target].select

    def find(self, request_hash: str, trial: int, integrity: str | None) -> Found | None:
        """Return the file of an answer: the very one of an integrity digest, else the current one."""
        if integrity is not None:
            return self._store.find(request_hash, trial, integrity)
        return self._store.current(request_hash, trial)

    def read(self, found: Found) -> Snapshot:
        """Read a file."""
        return self._store.read(found)


def rendered(suite: Suite, declared: Declared) -> Rendered:
    """Return a declared request as its target is asked.

    Raises:
        GraderFault: it names no target of the suite, its target cannot express it, or redaction takes something out of it: two
            cases would share one key then, and one would be judged by what was said of the other.
    """
    target = suite.targets.get(declared.target)
    if target is None:
        raise GraderFault(f"its request {declared.name!r} names no target of the suite: {declared.target[:60]!r}")
    try:
        made = render_request(suite, declared.request, target, salt=declared.salt, place=f"request {declared.label}")
    except ConfigError as error:
        raise GraderFault(f"its request {declared.name!r} cannot be asked: {error.message}") from None
    if made.sent_hash != made.request_hash:
        raise GraderFault(
            f"its request {declared.name!r} holds what redaction takes out, and could not be told from another's: "
            "leave personal data out of it (the answer comes without; context does not)"
        )
    return made


class RowAnswers:
    """The answers of one row, and a note of each that was looked up."""

    def __init__(self, recorded: Recorded, trial: int, listed: Mapping[tuple[str, int], str]) -> None:
        self._recorded = recorded
        self._trial = trial
        self._listed = listed
        self._observed: dict[str, dict[str, Any]] = {}

    def envelope(self, declared: Declared) -> Envelope | None:
        """Return the answer to a declared request, or ``None`` where none is recorded.

        Raises:
            GraderFault: the request cannot be rendered.
            CorruptSnapshot: the file is not what its name says.
            UnreadableSnapshot: today's reader cannot read it.
        """
        key = self._recorded.render(declared).request_hash, self._trial
        found = self._recorded.find(*key, self._listed.get(key))
        if found is None:
            return None
        snapshot = self._recorded.read(found)
        self._observed[declared.label] = _observation(declared.label, snapshot)
        return envelope_of(snapshot, self._recorded.select(declared))

    def type_of(self, target: str) -> str | None:
        """Return the type of a target, or ``None`` where the suite has none of that name."""
        return self._recorded.type_of(target)

    def observed(self) -> list[dict[str, Any]]:
        """Return the answers that were looked up, sorted by name: the row's ``asked``."""
        return [self._observed[label] for label in sorted(self._observed)]


def envelope_of(snapshot: Snapshot, select: str | None) -> Envelope:
    """Return the envelope of a recorded answer.

    Raises:
        UnreadableSnapshot: today's reader cannot read it.
    """
    reader, _ = dialects.reader_for(snapshot.request, snapshot.response, select)
    return Envelope(dialects.read(reader, snapshot.response, select), snapshot.response, latency_of(snapshot))


def latency_of(snapshot: Snapshot) -> float | None:
    """Return the recorded latency in milliseconds, or ``None`` where it is not known."""
    latency = snapshot.meta.get("latency_ms")
    return float(latency) if isinstance(latency, int | float) and not isinstance(latency, bool) else None


def _observation(label: str, snapshot: Snapshot) -> dict[str, Any]:
    return {
        "name": label,
        "request_hash": snapshot.request_hash,
        "trial": snapshot.trial,
        "recorded_at": snapshot.recorded_at,
        "answer_hash": snapshot.answer_hash,
        "answer_rule": snapshot.answer_rule,
        "integrity": snapshot.integrity,
    }
