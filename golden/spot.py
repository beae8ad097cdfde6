"""Where a member of a request stands: in a case, or in the params of a target. It makes the errors about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from golden import schema
from golden.place import Place
from snapshots.errors import ConfigError
from snapshots.pointer import escape

_CASE_HINT = "write the case's body in that dialect, or leave it to targets of type openai"
_PARAMS_HINT = "name it as that dialect does, or leave it out"


@dataclass(frozen=True, slots=True)
class Spot:
    """The place of a value in a request that is translated.

    Attributes:
        place: the case, or the target.
        pointer: where below it.
        dialect: the type of target that the request is translated for.
        own: whether the value stands in the case, and not in the target's params.
    """

    place: Place
    pointer: str
    dialect: str
    own: bool

    def __truediv__(self, token: str | int) -> Spot:
        """Return the place of a member or an item."""
        return replace(self, pointer=f"{self.pointer}/{escape(str(token))}")

    def fault(self, what: str, *, hint: str = "") -> ConfigError:
        """Return the error that says ``what`` is wrong here."""
        return self.place.fault(self.pointer, what, hint=hint)

    def inexpressible(self, what: str) -> ConfigError:
        """Return the error for what the dialect has no place for."""
        hint = _CASE_HINT if self.own else _PARAMS_HINT
        return self.fault(f"{what} cannot be expressed in a request of type {self.dialect}", hint=hint)

    def text(self, value: Any) -> str:
        """Return a value that must be text.

        Raises:
            ConfigError: it is none.
        """
        if not isinstance(value, str):
            raise self._other(value, "text")
        return value

    def items(self, value: Any) -> list[tuple[Any, Spot]]:
        """Return the items of a value that must be a list, each with its place.

        Raises:
            ConfigError: it is none.
        """
        if not isinstance(value, list | tuple):
            raise self._other(value, "a list")
        return [(item, self / i) for i, item in enumerate(value)]

    def members(self, value: Any, *known: str) -> dict[str, Any]:
        """Return a value that must be a mapping, and whose members must be known; those that are null may be others.

        Raises:
            ConfigError: it is none, or holds a member that the dialect has no place for.
        """
        if not isinstance(value, dict):
            raise self._other(value, "a mapping")
        for name, item in value.items():
            if known and name not in known and item is not None:
                raise (self / name).inexpressible(repr(name[:80]))
        return value

    def _other(self, value: Any, expected: str) -> ConfigError:
        return self.fault(f"found {schema.shown(value)}, expected {expected}")
