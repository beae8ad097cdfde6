"""Requests that redaction makes one: they would share one answer, and nobody could say to which of them it is one."""

from __future__ import annotations

from collections.abc import Iterable

from golden.model import Case
from golden.render import Rendered
from snapshots.errors import ConfigError


def refuse_alike(requests: Iterable[tuple[Case, Rendered]]) -> None:
    """Refuse two requests that differ only in what redaction takes out.

    Raises:
        ConfigError: there are two; it names the places of both cases.
    """
    first: dict[str, tuple[Case, Rendered]] = {}
    for case, rendered in requests:
        other, known = first.setdefault(rendered.request_hash, (case, rendered))
        if known.sent_hash != rendered.sent_hash:
            raise alike(other, case)


def alike(one: Case, other: Case) -> ConfigError:
    """Return the error for the requests of two cases that redaction makes one."""
    return ConfigError(
        f"the requests of {one.id!r} ({one.place}) and {other.id!r} ({other.place}) differ only in what redaction takes out: "
        "they would share one answer",
        hint="give one of them a salt of its own",
    )
