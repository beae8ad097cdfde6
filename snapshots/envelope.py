"""The envelope that graders read: the same names for every dialect, read-only, a plain mapping to whoever wants one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from snapshots.frozen import freeze
from snapshots.reading import Reading
from snapshots.response import payload

FIELDS = (
    "text", "tool_calls", "refusal", "refusal_text", "finish_reason", "model", "usage", "latency_ms", "reasoning", "choices", "raw",
)  # fmt: skip


class Envelope(Mapping[str, Any]):
    """One answer, read.

    Every field is an attribute and a mapping member:

    - ``text`` (str, ``""`` if none), ``reasoning`` (str);
    - ``tool_calls``: each ``name``, ``arguments`` (a mapping, ``{}`` when empty or absent) and, where they do not parse or are no object,
      ``arguments_text``;
    - ``refusal`` (bool), ``refusal_text`` (str), ``finish_reason`` (str or ``None``);
    - ``model`` (what the provider reports, or ``None``), ``usage`` (``input_tokens``, ``output_tokens``: int or ``None``),
      ``latency_ms`` (float or ``None``);
    - ``choices``: all choices, each with the fields above that belong to a choice;
    - ``raw``: the body as recorded.
    """

    __slots__ = ("_cache", "_latency_ms", "_reading", "_response")
    _cache: dict[str, Any]
    _latency_ms: float | None
    _reading: Reading
    _response: Mapping[str, Any]

    def __init__(self, reading: Reading, response: Mapping[str, Any], latency_ms: float | None) -> None:
        keep = object.__setattr__  # our own refuses; one envelope is made for each row of a run
        keep(self, "_reading", reading)
        keep(self, "_response", response)
        keep(self, "_latency_ms", latency_ms)
        keep(self, "_cache", {})

    def __getitem__(self, name: str) -> Any:
        try:
            return self._cache[name]
        except KeyError:
            if name not in FIELDS:
                raise
        value = self._cache[name] = freeze(self._field(name))
        return value

    def __getattr__(self, name: str) -> Any:
        if name in FIELDS:
            return self[name]
        raise AttributeError(f"an envelope has no {name!r}; it has {', '.join(FIELDS)}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise TypeError("the envelope and the case are read-only; copy what you want to change")

    def __iter__(self) -> Iterator[str]:
        return iter(FIELDS)

    def __len__(self) -> int:
        return len(FIELDS)

    def __repr__(self) -> str:
        return f"Envelope({dict(self)!r})"

    def _field(self, name: str) -> Any:
        reading = self._reading
        if name == "raw":
            return payload(self._response)
        if name == "choices":
            return [choice.as_dict() for choice in reading.choices]
        if name == "usage":
            return {"input_tokens": reading.input_tokens, "output_tokens": reading.output_tokens}
        if name == "model":
            return reading.model
        if name == "latency_ms":
            return self._latency_ms
        if name == "tool_calls":
            return [call.as_dict() for call in reading.first.tool_calls]
        return getattr(reading.first, name)
