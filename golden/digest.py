"""Grader digests: what a grader's code says, apart from how it is written.

A digest is the SHA-256 of our own serialisation of the syntax tree of the grader's module, of the project modules it imports, and of the
project files that were read while it was imported. Positions, comments, docstrings, quotes, ``None`` fields and empty lists leave no trace,
so the digest moves when the code does and is the same on every supported Python. Only the standard library is used here, and nothing whose
output depends on the Python version (``repr`` of text does).
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

RULE = "whichclock.grader/1"
# ``kind`` says only whether a text was written with u""; type comments and ignores are comments.
_UNREAD_FIELDS = frozenset({"kind", "type_comment", "type_ignores", "ctx"})


def grader_digest(entry: bytes, modules: Mapping[str, bytes], files: Mapping[str, bytes]) -> str:
    """Return the digest of a grader module.

    Args:
        entry: source of the module that holds the grader.
        modules: dotted name → source of each project module it imports, directly or not.
        files: path relative to the project root, with forward slashes → bytes of each file read while it was imported; CRLF counts as LF.

    Raises:
        SyntaxError: a source does not parse.
    """
    lines = [RULE, serialise(ast.parse(entry))]
    lines += [f"module {name} {serialise(ast.parse(modules[name]))}" for name in sorted(modules)]
    lines += [f"file {json.dumps(name)} {file_digest(files[name])}" for name in sorted(files)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def file_digest(data: bytes) -> str:
    """Return the SHA-256 of a file's bytes with CRLF read as LF, as 64 hex digits."""
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()


def serialise(node: ast.AST) -> str:
    """Return the text of a syntax tree: node classes and fields, nothing else."""
    if isinstance(node, ast.Constant):
        return f"Constant({_constant(node.value)})"
    if isinstance(node, ast.JoinedStr):
        return f"JoinedStr(values=[{','.join(_joined(node.values))}])"
    fields = [f"{name}={text}" for name, text in _fields(node)]
    return f"{type(node).__name__}({','.join(fields)})"


def _fields(node: ast.AST) -> Iterator[tuple[str, str]]:
    for name, value in sorted(ast.iter_fields(node)):
        if name in _UNREAD_FIELDS or value is None or _is_empty_spec(name, value):
            continue
        if isinstance(value, list):
            items = _without_docstring(node, name, value)
            if items:
                yield name, f"[{','.join(_item(item) for item in items)}]"
        else:
            yield name, _item(value)


def _is_empty_spec(name: str, value: Any) -> bool:
    # f"{x:}" has an empty format specification on some versions and none on others.
    return name == "format_spec" and isinstance(value, ast.JoinedStr) and not value.values


def _without_docstring(node: ast.AST, name: str, items: list[Any]) -> list[Any]:
    if (
        name == "body"
        and isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and items
    ):
        first = items[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            return items[1:]
    return items


def _item(value: Any) -> str:
    if isinstance(value, ast.AST):
        return serialise(value)
    return "None" if value is None else _constant(value)


def _joined(values: Iterable[ast.expr]) -> Iterator[str]:
    """Yield the parts of an f-string, neighbouring texts as one: versions split them differently."""
    text = ""
    for value in values:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            text += value.value
            continue
        if text:
            yield f"Constant({_constant(text)})"
            text = ""
        yield serialise(value)
    if text:
        yield f"Constant({_constant(text)})"


def _constant(value: Any) -> str:
    if isinstance(value, str):
        return "str:" + json.dumps(value)
    if isinstance(value, bytes):
        return "bytes:" + value.hex()
    if isinstance(value, bool) or value is None or value is Ellipsis:
        return str(value)
    if isinstance(value, int):
        return f"int:{value:x}"
    if isinstance(value, float):
        return f"float:{value.hex()}"
    if isinstance(value, complex):
        return f"complex:{value.real.hex()},{value.imag.hex()}"
    if isinstance(value, tuple | frozenset):  # only optimisers make these; sorted so that a set has one text
        return f"{type(value).__name__}:[{','.join(sorted(map(_constant, value)))}]"
    raise TypeError(f"a syntax tree holds a constant of type {type(value).__name__}")
