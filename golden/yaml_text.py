"""YAML read as JSON values, by the core rules of YAML 1.2.

libyaml's parser gives the events; everything above them is decided here, so that nothing is built that JSON does not
know: ``no`` and ``2026-01-01`` are text, ``1e-05`` is a number, tags build nothing, and aliases cannot blow a small
file up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from snapshots import strict_json
from snapshots.errors import ConfigError
from snapshots.pointer import escape

# A file that only opens containers must not go deeper than what the strict check refuses anyway.
_MAX_DEPTH = strict_json.MAX_DEPTH + 10
# How many values aliases may repeat in one file; a text counts as one value for each hundred characters.
_MAX_REPEATED = 1_000_000

_INT = re.compile(r"[-+]?[0-9]+")
_BASED = {"0o": re.compile(r"0o[0-7]+"), "0x": re.compile(r"0x[0-9a-fA-F]+")}
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INF, _NAN = float("inf"), float("nan")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **{sign + word: _INF for sign in ("", "+") for word in (".inf", ".Inf", ".INF")},
    **{"-" + word: -_INF for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), _NAN),
}
_NUMBER_STARTS = frozenset("-+.0123456789")
_STANDARD = "tag:yaml.org,2002:"
_SCALAR_TAGS = {"str": str, "int": int, "float": float, "bool": bool, "null": type(None)}


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document. ``lines`` maps JSON pointers, as deep as was asked for, to 1-based lines."""

    value: Any
    lines: dict[str, int]


def read(text: str, file: str, *, lines_to: int = 2) -> Document:
    """Read one YAML document.

    Args:
        text: the file's text.
        file: how messages name the file.
        lines_to: down to which depth the lines of values are remembered.

    Raises:
        ConfigError: not YAML, or YAML that has no JSON form, with file and line.
    """
    return _Builder(file, lines_to).build(text)


def plain(text: str) -> Any:
    """Return the value of a plain (unquoted, untagged) scalar under the core schema (YAML 1.2.2 section 10.3.2)."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    if _INT.fullmatch(text):
        return int(text) if len(text) <= strict_json.MAX_DIGITS else _too_long(text)
    based = _BASED.get(text[:2])
    if based is not None and based.fullmatch(text):
        return int(text, 0)
    return float(text) if _FLOAT.fullmatch(text) else text


def _too_long(text: str) -> NoReturn:
    raise ValueError(f"integer of {len(text)} digits (at most {strict_json.MAX_DIGITS})")


@dataclass(slots=True)
class _Open:
    """A container whose end has not come yet."""

    value: Any  # a dict or a list
    line: int
    pointer: str | None
    anchor: str | None
    key: str | None = None
    size: int = 1


@dataclass(slots=True)
class _Builder:
    file: str
    lines_to: int
    root: Any = None
    documents: int = 0
    repeated: int = 0
    stack: list[_Open] = field(default_factory=list[_Open])
    anchors: dict[str, tuple[Any, int]] = field(default_factory=dict[str, tuple[Any, int]])
    lines: dict[str, int] = field(default_factory=dict[str, int])

    def build(self, text: str) -> Document:
        try:
            loader = yaml.CSafeLoader(text)
            while (event := loader.get_event()) is not None:
                self._take(event)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self._refuse(f"not YAML: {error.problem}", None if mark is None else mark.line + 1)
        except yaml.YAMLError as error:
            self._refuse("not YAML: " + " ".join(str(error).split()), None)
        return Document(self.root, self.lines)

    def _take(self, event: Any) -> None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._scalar(event)
        elif kind is yaml.MappingStartEvent:
            self._open({}, event, "map")
        elif kind is yaml.SequenceStartEvent:
            self._open([], event, "seq")
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            self._close()
        elif kind is yaml.AliasEvent:
            self._alias(event)
        elif kind is yaml.DocumentStartEvent:
            self.documents += 1
            if self.documents > 1:
                self._refuse("a second document starts here", _line(event), hint="keep one document a file")

    def _scalar(self, event: Any) -> None:
        line, text = _line(event), event.value
        try:
            if event.tag is not None and event.tag != "!":
                value = self._tagged(event.tag, text, line)
            else:
                value = plain(text) if event.tag is None and event.implicit[0] else text
        except ValueError as error:
            self._refuse(str(error), line)
        if self._expects_key() and text == "<<" and event.implicit[0]:
            self._refuse("merge keys are not read", line, hint='write the members out, or quote the name: "<<"')
        size = 1 + len(text) // 100
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, size)
        self._put(value, size, line)

    def _tagged(self, tag: str, text: str, line: int) -> Any:
        name = tag.removeprefix(_STANDARD)
        wanted = _SCALAR_TAGS.get(name) if tag.startswith(_STANDARD) else None
        if wanted is None:
            self._refuse_tag(tag, line)
        if wanted is str:
            return text
        value = plain(text)
        if wanted is float and type(value) is int:
            return float(value)
        if type(value) is not wanted:
            self._refuse(f"{text[:40]!r} is no !!{name}", line)
        return value

    def _open(self, value: Any, event: Any, own: str) -> None:
        line = _line(event)
        if event.tag is not None and event.tag not in ("!", _STANDARD + own):
            self._refuse_tag(event.tag, line)
        if self._expects_key():
            self._refuse("a key is no text", line, hint="keys are text")
        if len(self.stack) >= _MAX_DEPTH:
            self._refuse(f"more than {strict_json.MAX_DEPTH} nested containers", line)
        self.stack.append(_Open(value, line, self._pointer(), event.anchor))

    def _close(self) -> None:
        done = self.stack.pop()
        if done.anchor is not None:
            self.anchors[done.anchor] = (done.value, done.size)
        self._put(done.value, done.size, done.line)

    def _alias(self, event: Any) -> None:
        line = _line(event)
        if event.anchor not in self.anchors:
            inside = any(o.anchor == event.anchor for o in self.stack)
            self._refuse(
                f"alias *{event.anchor} " + ("stands inside its own anchor" if inside else "has no anchor"), line
            )
        value, size = self.anchors[event.anchor]
        self.repeated += size
        if self.repeated > _MAX_REPEATED:
            self._refuse(f"aliases repeat more than {_MAX_REPEATED:,} values", line, hint="write the values out")
        self._put(value, size, line)

    def _expects_key(self) -> bool:
        return bool(self.stack) and self.stack[-1].key is None and type(self.stack[-1].value) is dict

    def _pointer(self) -> str | None:
        """Return the pointer of the value that comes next, or ``None`` deeper than lines are remembered."""
        if len(self.stack) > self.lines_to:
            return None
        if not self.stack:
            return ""
        top = self.stack[-1]
        return f"{top.pointer}/{escape(top.key) if top.key is not None else len(top.value)}"

    def _put(self, value: Any, size: int, line: int) -> None:
        if not self.stack:
            self.root, self.lines[""] = value, line
            return
        top = self.stack[-1]
        top.size += size
        if self._expects_key():
            top.key = self._key(value, top.value, line)
            return
        pointer = self._pointer()
        if pointer is not None:
            self.lines[pointer] = line
        if top.key is None:
            items: list[Any] = top.value
            items.append(value)
        else:
            top.value[top.key], top.key = value, None

    def _key(self, value: Any, members: dict[str, Any], line: int) -> str:
        if type(value) is not str:
            shown = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)[:40]
            self._refuse(f"key {shown} is no text", line, hint=f'quote it: "{shown}"')
        if value in members:
            self._refuse(f"duplicate key {value[:80]!r}", line, hint="keep one of them")
        return value

    def _refuse_tag(self, tag: str, line: int) -> NoReturn:
        shown = tag.replace(_STANDARD, "!!")
        self._refuse(f"tag {shown} is not read", line, hint="leave the tag out; quote the value if it is text")

    def _refuse(self, what: str, line: int | None, hint: str = "") -> NoReturn:
        where = self.file if line is None else f"{self.file}:{line}"
        raise ConfigError(f"{where}: {what}", hint=hint)


def _line(event: Any) -> int:
    return event.start_mark.line + 1
