"""What a suite is once it is loaded: targets, cases, limits and gates. Frozen records; nothing here reads a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from golden.price import Price
from golden.redaction import Redaction

MAX_ENTRY_BYTES = 64 << 20
NO_REDACTION = Redaction()


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes and how. Strings may hold ``{{ env.X }}``; ``${env:X}`` is already resolved.

    ``url`` to ``volatile`` are members of the type ``http`` alone, ``command`` and ``env`` of ``exec`` alone; they have no
    ``base_url``.
    """

    name: str
    type: str
    base_url: str = ""
    model: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    api_key: str | None = None
    endpoint: str | None = None
    salt: str | None = None
    timeout_s: float = 60.0
    connect_timeout_s: float = 10.0
    first_byte_timeout_s: float | None = None
    retries: int = 3
    concurrency: int = 16
    accept_status: tuple[int, ...] = ()
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    url: str | None = None
    method: str = "POST"
    body: Any = None
    body_text: str | None = None
    select: str | None = None
    volatile: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Case:
    """One golden case as its author wrote it, checked against the schema. ``place`` is ``file:line`` for messages."""

    id: str
    place: str
    request: Mapping[str, Any] | None = None
    prompt: Any = None
    body: Mapping[str, Any] | None = None
    vars: Mapping[str, Any] = field(default_factory=dict[str, Any])
    expected: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] | None = None
    context: Any = None
    graders: tuple[str, ...] = ()
    checks: tuple[Mapping[str, Any], ...] = ()
    tags: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    trials: int = 1
    pass_rule: str | float = "all"  # noqa: S105 -- a rule, no password
    salt: str | None = None
    known: str | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """A loaded suite. ``root`` is the folder of the configuration file, which all its paths are relative to.

    ``prompts`` and ``schemas`` hold the content, at load, of the files that cases name, by the name in the case; ``prices`` are
    by model.
    """

    name: str
    config: Path
    root: Path
    targets: Mapping[str, Target]
    cases: tuple[Case, ...]
    graders: tuple[Path, ...]
    snapshots: Path
    results: Path
    pass_rate: float | None = None
    grader_timeout_s: float = 5.0
    grader_memory_mb: int = 1024
    warnings: tuple[str, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=dict[str, str])
    schemas: Mapping[str, Any] = field(default_factory=dict[str, Any])
    prices: Mapping[str, Price] = field(default_factory=dict[str, Price])
    redaction: Redaction = NO_REDACTION
    max_entry_bytes: int = MAX_ENTRY_BYTES
    case_files: tuple[Path, ...] = ()
    gate_clocks: tuple[str, ...] = ()
    flip_rate: float | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cases and targets a command is about. Empty members select everything."""

    cases: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    trials: int | None = None

    def __bool__(self) -> bool:
        """Tell whether anything is selected at all."""
        return bool(self.cases or self.targets or self.tags or self.trials is not None)


@dataclass(frozen=True, slots=True)
class Planned:
    """One case × target × trial of a plan."""

    case: Case
    target: Target
    trial: int
