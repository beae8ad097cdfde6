"""A variable of the environment in a template: it can be written out whole, and nothing else can be done with it.

A part of a secret, or a text that was made of one, would be sent under the key of another request, and nobody could look for
it in an answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from snapshots.errors import ConfigError


class OpaqueUseError(ConfigError):
    """A template computes with a variable."""


class Opaque:
    """What ``env.NAME`` is in a template. Its attributes are private: the sandbox hands those to nobody."""

    __slots__ = ("_mark", "_name")

    def __init__(self, name: str, mark: str) -> None:
        self._name = name
        self._mark = mark

    @staticmethod
    def written(value: Any) -> str | None:
        """Return what stands for the variable's value in a text, or ``None`` for what is no variable."""
        return value._mark if isinstance(value, Opaque) else None  # noqa: SLF001 -- of this very class

    def _refuse(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise OpaqueUseError(
            f"env.{self._name} can only be written out whole, as {{{{ env.{self._name} }}}}: "
            "no filter, part, comparison or joining",
            hint="put what is to be sent into a variable of its own",
        )

    __str__ = __repr__ = __format__ = __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = __call__ = _refuse
    __int__ = __float__ = __index__ = __hash__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __pos__ = __neg__ = _refuse


def refuse_among(values: Iterable[Any]) -> None:
    """Refuse a variable among the arguments of an operation.

    Raises:
        OpaqueUseError: there is one.
    """
    for value in values:
        if isinstance(value, Opaque):
            str(value)
