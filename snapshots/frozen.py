"""JSON values that cannot be changed, and that still are dicts and lists to whoever reads them."""

from __future__ import annotations

from typing import Any, NoReturn


def _refuse(self: Any, *_args: Any, **_kwargs: Any) -> NoReturn:
    raise TypeError("the envelope and the case are read-only; copy what you want to change")


class FrozenDict(dict[str, Any]):
    """A dict whose members cannot be set or removed."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __deepcopy__(self, memo: Any) -> dict[str, Any]:
        return {name: thaw(item) for name, item in self.items()}

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    copy = __copy__


class FrozenList(list[Any]):
    """A list whose items cannot be set, added or removed."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __deepcopy__(self, memo: Any) -> list[Any]:
        return [thaw(item) for item in self]

    def __copy__(self) -> list[Any]:
        return list(self)

    copy = __copy__


def freeze(value: Any) -> Any:
    """Return a JSON value whose objects and arrays, at every depth, cannot be changed."""
    kind = type(value)
    if kind is dict:
        return FrozenDict({name: freeze(item) for name, item in value.items()})
    if kind is list or kind is tuple:
        return FrozenList([freeze(item) for item in value])
    return value


def thaw(value: Any) -> Any:
    """Return a plain copy of a frozen value."""
    if isinstance(value, dict):
        return {name: thaw(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return value
