"""A request whose ``{{ env.X }}`` have been replaced by whatever a lookup gave: the key and the wire are both made of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class HttpForm:
    """An HTTP request. ``body`` is JSON; at most one of ``body`` and ``body_text`` is set."""

    method: str
    base_url: str
    path: str
    query: dict[str, str] = field(default_factory=dict[str, str])
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: Any = None
    body_text: str | None = None


@dataclass(frozen=True, slots=True)
class ProgramForm:
    """A program's command, what it reads, and what is declared for its environment."""

    command: tuple[str, ...]
    stdin: dict[str, Any]
    env: dict[str, str]


Form = HttpForm | ProgramForm
