"""Case files: YAML, JSON, JSONL and CSV, read as the raw cases they hold, each with its place."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from golden import yaml_text
from golden.place import Place
from golden.project_path import read_text
from snapshots import strict_json
from snapshots.errors import ConfigError, JsonError

_LISTS = ("expected", "tags", "graders")
_TEXTS = ("id", "prompt", "salt")


@dataclass(frozen=True, slots=True)
class RawCase:
    """A case as its file gives it, not yet judged."""

    value: Any
    place: Place


def read(path: Path, file: str) -> Iterator[RawCase]:
    """Yield the cases of one file in their order.

    Args:
        path: the file; its ending names the format.
        file: how messages name it.

    Raises:
        ConfigError: unknown ending, or a text that is not of its format, with line.
    """
    reader = _READERS.get(path.suffix.lower())
    place = Place(file)
    if reader is None:
        raise place.fault("", f"{path.suffix or 'no ending'} is no format of cases", hint=f"use {', '.join(_READERS)}")
    yield from reader(path, read_text(path, place, ""), place)


def _yaml(path: Path, text: str, place: Place) -> Iterator[RawCase]:
    document = yaml_text.read(text.removeprefix("\ufeff"), place.file)
    at, items = _items(document.value, place)
    for i, value in enumerate(items):
        pointer = f"{at}/{i}"
        case = Place(place.file, document.lines[pointer], pointer, path)
        try:
            strict_json.check(value)
        except JsonError as error:
            raise case.fault(error.pointer or "", error.reason) from None
        yield RawCase(value, case)


def _json(_: Path, text: str, place: Place) -> Iterator[RawCase]:
    at, items = _items(_strict(text, place), place)
    for i, value in enumerate(items):
        yield RawCase(value, Place(place.file, None, f"{at}/{i}"))


def _jsonl(_: Path, text: str, place: Place) -> Iterator[RawCase]:
    # Only line feeds end a line: U+2028 and its like may stand raw in JSON texts.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip(" \t\r"):
            at = Place(place.file, number)
            yield RawCase(_strict(line, at), at)


def _csv(_: Path, text: str, place: Place) -> Iterator[RawCase]:
    rows = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    line = 1
    try:
        head = next(rows, [])
        _check_head(head, place)
        line = rows.line_num + 1
        for row in rows:
            at = Place(place.file, line)
            line = rows.line_num + 1
            if not row:
                continue
            if len(row) != len(head):
                raise at.fault("", f"found {len(row)} cells, expected {len(head)}", hint="quote cells that hold commas")
            yield RawCase(_from_row(dict(zip(head, row, strict=True))), at)
    except csv.Error as error:
        raise Place(place.file, line).fault("", f"not CSV: {error}", hint="JSONL takes cells of any size") from None


def _check_head(head: list[str], place: Place) -> None:
    first = Place(place.file, 1)
    for name in ("id", "prompt"):
        if name not in head:
            raise first.fault("", f"no column {name!r}", hint="the first line names the columns: id, prompt, …")
    for name in head:
        if not name or head.count(name) > 1:
            raise first.fault("", f"column {name!r} stands twice" if name else "a column has no name")


def _from_row(cells: dict[str, str]) -> dict[str, Any]:
    case: dict[str, Any] = {"id": cells["id"], "prompt": cells["prompt"]}
    for name in _LISTS:
        items = [item.strip() for item in cells.get(name, "").split(";") if item.strip()]
        if items:
            case[name] = items
    if cells.get("salt"):
        case["salt"] = cells["salt"]
    variables = {name: cell for name, cell in cells.items() if name not in _LISTS and name not in _TEXTS}
    return {**case, "vars": variables} if variables else case


def _items(value: Any, place: Place) -> tuple[str, list[Any]]:
    """Return the pointer and the items of the list of cases: the document itself, or its one member ``cases``."""
    if isinstance(value, list):
        return "", value
    if isinstance(value, dict) and isinstance(value.get("cases"), list):
        others = [name for name in value if name != "cases"]
        if others:
            raise place.fault("", f"unknown key {others[0]!r} beside cases", hint="known keys: cases")
        return "/cases", value["cases"]
    raise place.fault("", "no list of cases", hint="write cases: [...], or a list at the top")


def _strict(text: str, place: Place) -> Any:
    try:
        return strict_json.loads(text)
    except JsonError as error:
        if error.pointer is None:
            raise ConfigError(f"{place}: {error.reason}", hint=error.hint) from None
        raise place.fault(error.pointer, error.reason, hint=error.hint) from None


_READERS: dict[str, Callable[[Path, str, Place], Iterator[RawCase]]] = {
    ".yaml": _yaml,
    ".yml": _yaml,
    ".json": _json,
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".csv": _csv,
}
