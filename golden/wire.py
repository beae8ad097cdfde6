"""What is sent: an HTTP request, or a program's command and input. Made by ``golden.render`` together with the key."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Wire:
    """A request as it is sent. ``secrets`` are the values of every ``{{ env.X }}`` in it, longest first.

    ``body`` is ``None`` for a request without one. The representation shows the method alone: a traceback or a log must
    not show the rest.
    """

    method: str
    url: str = field(repr=False)
    headers: dict[str, str] = field(repr=False)
    body: bytes | None = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ProgramWire:
    """A program as it is run: its command, what it reads, what is added to its environment, and where it runs.

    ``secrets`` as for ``Wire``. The representation shows nothing: any part may hold a value of the environment.
    """

    command: tuple[str, ...] = field(repr=False)
    stdin: bytes = field(repr=False)
    env: dict[str, str] = field(repr=False)
    cwd: Path = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
