"""Checks of a case judged at load, beyond their shape: patterns, paths, schemas, limits, and the targets and prices that they need."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from golden import json_path, nearest, project_path, user_schema
from golden.asking_check import TARGETS
from golden.model import Target
from golden.place import Place
from golden.price import Price

_REGEX_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}


@dataclass(frozen=True, slots=True)
class Around:
    """What a check may need of its suite. ``schemas`` takes the content of the files that are read; ``of`` are the case's targets."""

    root: Path
    targets: Mapping[str, Target]
    prices: Mapping[str, Price]
    schemas: dict[str, Any]
    of: tuple[str, ...]


def judge(check: Mapping[str, Any], around: Around, place: Place, at: str) -> None:
    """Refuse a check that could not be applied.

    Args:
        check: one member, the check's name, whose argument the schema of cases has judged.
        around: what its suite holds.
        place: the case.
        at: the check's pointer in the case.

    Raises:
        ConfigError: with the place and the remedy.
    """
    ((name, argument),) = check.items()
    if name in _JUDGES:
        _JUDGES[name](argument, around, place, f"{at}/{name}")


def _regex(argument: Any, _: Around, place: Place, at: str) -> None:
    if isinstance(argument, str):
        _compile(argument, "", place, at)
    else:
        _compile(argument["pattern"], argument.get("flags", ""), place, at)


def _compile(pattern: str, flags: str, place: Place, at: str) -> None:
    try:
        re.compile(pattern, sum(_REGEX_FLAGS[letter] for letter in set(flags)))
    except (re.error, OverflowError, RecursionError) as error:
        raise place.fault(at, f"pattern {pattern[:80]!r} does not compile: {error}") from None


def _schema(argument: Any, around: Around, place: Place, at: str) -> None:
    if not isinstance(argument, str):
        if list(argument) == ["file"]:
            raise place.fault(at, "{file: …} is no JSON Schema", hint="write the path itself: json_schema: PATH")
        user_schema.require_sound(argument, place, at)
    elif argument not in around.schemas:
        path = project_path.file_inside(around.root, argument, place, at)
        value = user_schema.read_value(path, argument)
        user_schema.require_sound(value, Place(argument), "")
        around.schemas[argument] = value


def _tool_arguments(argument: Any, around: Around, place: Place, at: str) -> None:
    _schema(argument["schema"], around, place, f"{at}/schema")


def _json_path(argument: Any, _: Around, place: Place, at: str) -> None:
    _path(argument["path"], place, f"{at}/path")
    if "matches" in argument:
        _compile(argument["matches"], "", place, f"{at}/matches")


def _path(path: str, place: Place, at: str) -> None:
    try:
        json_path.parse(path)
    except ValueError as error:
        raise place.fault(
            at,
            f"{path[:80]!r} is no path to one value: {error}",
            hint="for example $.items[0].price or $['unit price']",
        ) from None


def _number(argument: Any, _: Around, place: Place, at: str) -> None:
    if not isinstance(argument, Mapping):
        return
    bounds = [name for name in ("min", "max") if name in argument]
    if ("value" in argument) == bool(bounds):
        raise place.fault(
            at, f"found {' and '.join(n for n in argument if n in ('value', 'min', 'max')) or 'neither'}, "
            "expected value, or min and max or one of them",
        )  # fmt: skip
    _range(argument, None, place, at)
    if "path" in argument:
        _path(argument["path"], place, f"{at}/path")
        if "which" in argument:
            raise place.fault(f"{at}/which", "which belongs to texts, and path names a value", hint="keep one of them")


def _range(argument: Any, _: Around | None, place: Place, at: str) -> None:
    if "min" in argument and "max" in argument and argument["min"] > argument["max"]:
        raise place.fault(at, f"min {argument['min']} is more than max {argument['max']}: no answer could be both")


def _cost(_: Any, around: Around, place: Place, at: str) -> None:
    for name in around.of:
        target = around.targets[name]
        # A program may say itself what it cost.
        if target.type != "exec" and (target.model is None or target.model not in around.prices):
            model = (
                f"model {target.model!r} of target {name}" if target.model else f"target {name}, which names no model"
            )
            raise place.fault(
                at, f"there is no price for {model}",
                hint='write it into the configuration: [prices."MODEL"] input = …, output = … (US dollars for a million tokens)',
            )  # fmt: skip


def _asked(check: str) -> Callable[[Any, Around, Place, str], None]:
    def judge_target(argument: Any, around: Around, place: Place, at: str) -> None:
        name = argument["target"]
        if name not in around.targets:
            raise place.fault(f"{at}/target", f"no target {name!r}", hint=nearest.hint(name, around.targets))
        kind = around.targets[name].type
        if kind not in TARGETS[check]:
            fitting = ", ".join(sorted(TARGETS[check]))
            raise place.fault(
                f"{at}/target", f"target {name} is of type {kind}, and {check} asks one of type {fitting}",
                hint="name another target, or add one to the configuration",
            )  # fmt: skip

    return judge_target


_JUDGES: Mapping[str, Callable[[Any, Around, Place, str], None]] = {
    "json_path": _json_path,
    "json_schema": _schema,
    "length": _range,
    "max_cost_usd": _cost,
    "not_regex": _regex,
    "number": _number,
    "regex": _regex,
    "tool_arguments": _tool_arguments,
    **{name: _asked(name) for name in TARGETS},
}
