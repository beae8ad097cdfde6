"""YAML as recorders write it (PyYAML, by the rules of YAML 1.1), read as plain data: nothing is built and nothing is called.

Tags of Python are taken off and what they stand on is read as the text, list or mapping that it is; ``!!binary`` gives bytes. A plain
scalar is a number only where the dumper meant one: it writes ``1.0e-05`` for a float, so ``1e5`` is a text, as are ``017`` and ``1:30``,
``2026-01-01`` and ``no``: a dumper that meant those as texts quotes what it could itself take for something else. Names are the texts
that they are written as, for JSON has no others; the list of one text, which a name with a Python tag is written as, is that text.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from snapshots import strict_json
from snapshots.errors import UsageError

# The cassette's own containers stand around bodies that may nest as deeply as JSON may.
_MAX_DEPTH = strict_json.MAX_DEPTH + 20
# How many values aliases may repeat in one file; a text counts as one value for each hundred characters.
_MAX_REPEATED = 1_000_000

_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?")
_INF, _NAN = float("inf"), float("nan")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **{sign + word: _INF for sign in ("", "+") for word in (".inf", ".Inf", ".INF")},
    **{"-" + word: -_INF for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), _NAN),
}
_STANDARD = "tag:yaml.org,2002:"
_BINARY = frozenset({_STANDARD + "binary", _STANDARD + "python/bytes"})
_KNOWN = frozenset(
    _STANDARD + name for name in ("binary", "bool", "float", "int", "map", "null", "seq", "str", "timestamp")
)
_UNTAGGED = frozenset(_STANDARD + name for name in ("int", "float", "bool", "null"))


@dataclass(frozen=True, slots=True)
class Document:
    """What a file holds. ``tagged`` tells that tags of somebody's own were taken off."""

    value: Any
    tagged: bool


def read(text: str) -> Document:
    """Read one YAML document.

    Raises:
        UsageError: not YAML, more than one document, or larger than anything a recorder writes.
    """
    return _Builder().build(text)


def plain(text: str) -> Any:
    """Return the value of a plain scalar as a dumper meant it."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        if len(text) > strict_json.MAX_DIGITS:
            raise ValueError(f"a number has {len(text)} digits (at most {strict_json.MAX_DIGITS})")
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


@dataclass(slots=True)
class _Open:
    """A container whose end has not come yet."""

    value: Any
    anchor: str | None
    key: str | None = None
    size: int = 1
    keyed: bool = False  # it stands where a name should


@dataclass(slots=True)
class _Builder:
    root: Any = None
    documents: int = 0
    repeated: int = 0
    tagged: bool = False
    stack: list[_Open] = field(default_factory=list[_Open])
    anchors: dict[str, tuple[Any, int]] = field(default_factory=dict[str, tuple[Any, int]])

    def build(self, text: str) -> Document:
        try:
            loader = yaml.CSafeLoader(text)
            while (event := loader.get_event()) is not None:
                self._take(event)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            _refuse(f"it is not YAML: {error.problem}", None if mark is None else mark.line + 1)
        except yaml.YAMLError as error:
            _refuse("it is not YAML: " + " ".join(str(error).split())[:200], None)
        return Document(self.root, self.tagged)

    def _take(self, event: Any) -> None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._scalar(event)
        elif kind is yaml.MappingStartEvent:
            self._open({}, event)
        elif kind is yaml.SequenceStartEvent:
            self._open([], event)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            self._close(event)
        elif kind is yaml.AliasEvent:
            self._alias(event)
        elif kind is yaml.DocumentStartEvent:
            self.documents += 1
            if self.documents > 1:
                _refuse("a second document starts", _line(event))

    def _scalar(self, event: Any) -> None:
        text, tag = event.value, event.tag
        self._note(tag)
        try:
            if self._expects_key() and tag not in _BINARY:
                value = text
            elif tag in _BINARY:
                value = base64.b64decode("".join(text.split()).encode("ascii", "replace"), validate=True)
            elif tag in _UNTAGGED or (tag is None and event.implicit[0]):
                value = plain(text)
            else:
                value = text
        except (ValueError, binascii.Error) as error:
            _refuse(str(error), _line(event))
        size = 1 + len(text) // 100
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, size)
        self._put(value, size, event)

    def _note(self, tag: str | None) -> None:
        self.tagged = self.tagged or (tag is not None and tag != "!" and tag not in _KNOWN)

    def _open(self, value: Any, event: Any) -> None:
        self._note(event.tag)
        if len(self.stack) >= _MAX_DEPTH:
            _refuse(f"more than {strict_json.MAX_DEPTH} nested containers", _line(event))
        self.stack.append(_Open(value, event.anchor, keyed=self._expects_key()))

    def _close(self, event: Any) -> None:
        done = self.stack.pop()
        value = done.value
        if done.keyed:
            if not isinstance(value, list) or len(value) != 1 or not isinstance(value[0], str):
                _refuse("a name is neither a text nor a list of one", _line(event))
            value = value[0]
        if done.anchor is not None:
            self.anchors[done.anchor] = (value, done.size)
        self._put(value, done.size, event)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self.anchors:
            _refuse(f"alias *{event.anchor[:40]} has no anchor before it", _line(event))
        value, size = self.anchors[event.anchor]
        self.repeated += size
        if self.repeated > _MAX_REPEATED:
            _refuse(f"aliases repeat more than {_MAX_REPEATED:,} values", _line(event))
        self._put(value, size, event)

    def _expects_key(self) -> bool:
        return bool(self.stack) and self.stack[-1].key is None and type(self.stack[-1].value) is dict

    def _put(self, value: Any, size: int, event: Any) -> None:
        if not self.stack:
            self.root = value
            return
        top = self.stack[-1]
        top.size += size
        if self._expects_key():
            top.key = self._key(value, top.value, event)
        elif top.key is None:
            items: list[Any] = top.value
            items.append(value)
        else:
            top.value[top.key], top.key = value, None

    def _key(self, value: Any, members: dict[str, Any], event: Any) -> str:
        name = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        if not isinstance(name, str):
            _refuse("a name is neither a text nor a list of one", _line(event))
        if name in members:
            _refuse(f"the name {name[:80]!r} stands twice in one mapping", _line(event))
        return name


def _line(event: Any) -> int:
    return event.start_mark.line + 1


def _refuse(what: str, line: int | None) -> NoReturn:
    raise UsageError(what if line is None else f"line {line}: {what}")
