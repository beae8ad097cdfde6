"""The Jinja environment that prompts are rendered in.

Jinja's immutable sandbox keeps templates from reaching Python. On top of it nothing here depends on chance or on
files, and a template that would run for ever or fill the memory is stopped: loops and calls are counted, and texts and
lists have a greatest size.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jinja2 import StrictUndefined, TemplateSyntaxError, nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.filters import do_indent
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

MAX_CHARACTERS = 10_000_000
MAX_STEPS = 1_000_000
# What is written inside macros and blocks is written again outside: the sum of all writing may exceed the text.
_MAX_WRITTEN = 10 * MAX_CHARACTERS
# A width of six digits, or one that stands in an argument.
_WIDE = re.compile(r"[0-9]{6}|%[^a-zA-Z%]*\*")
_SPENT = "steps and characters of this rendering"


class _PromptEnvironment(ImmutableSandboxedEnvironment):
    """A sandbox that counts steps and refuses what grows too large."""

    intercepted_binops = frozenset(("*", "**", "+", "%"))

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
            raise TemplateSyntaxError("other templates cannot be read from a template", node.lineno)
        return _Guards(self).visit(tree)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        _refuse_growth(operator, left, right)
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride] -- Jinja names it with underscores
        _count(context, 1)
        for argument in (*args, *kwargs.values()):
            if type(argument) is int and abs(argument) > MAX_CHARACTERS:
                raise SecurityError(f"argument {argument} is too large")
        called = getattr(obj, "__name__", "")
        if called == "replace" and len(args) > 1:
            _refuse_replacement(obj.__self__, args[0], args[1])
        elif called in ("format", "format_map"):
            _refuse_wide(str(getattr(obj, "__wrapped__", obj).__self__))
        return _bounded(super().call(context, obj, *args, **kwargs))


class _Guards(NodeTransformer):
    """Puts a counting filter around what loops read, what is written, and what ``~`` joins."""

    def __init__(self, env: _PromptEnvironment) -> None:
        self._env = env

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 -- Jinja's name
        self.generic_visit(node)
        node.iter = self._filter(node.iter, "counted")
        return node

    def visit_Output(self, node: nodes.Output) -> nodes.Node:  # noqa: N802 -- Jinja's name
        self.generic_visit(node)
        node.nodes = [self._filter(_as_constant(part), "emitted") for part in node.nodes]
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802 -- Jinja's name
        self.generic_visit(node)
        return self._filter(node, "bounded")

    def _filter(self, node: Any, name: str) -> nodes.Filter:
        return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno, environment=self._env)


def _as_constant(part: nodes.Expr) -> nodes.Expr:
    if isinstance(part, nodes.TemplateData):
        return nodes.Const(part.data, lineno=part.lineno, environment=part.environment)
    return part


@functools.cache
def environment() -> _PromptEnvironment:
    """Return the one environment; it holds no state between renderings."""
    env = _PromptEnvironment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    # Random text would make every rendering another request.
    del env.globals["lipsum"], env.filters["random"]
    filters: dict[str, Any] = env.filters
    filters.update(counted=_counted, emitted=_emitted, bounded=_bounded, tojson=_to_json)
    filters.update(center=_center, format=_format, indent=_indent, join=_join, replace=_replace)
    return env


def run(template: Any, names: Mapping[str, Any]) -> str:
    """Return what a compiled template gives for these names.

    Raises:
        SecurityError: it takes more steps or gives more text than is allowed.
    """
    parts: list[str] = []
    size = 0
    for part in template.generate({**names, _SPENT: [0, 0]}):
        size += len(part)
        if size > MAX_CHARACTERS:
            raise SecurityError(f"more than {MAX_CHARACTERS:,} characters")
        parts.append(part)
    return "".join(parts)


def _count(context: Context, steps: int, written: int = 0) -> None:
    spent = context.parent[_SPENT]
    spent[0] += steps
    spent[1] += written
    if spent[0] > MAX_STEPS:
        raise SecurityError(f"more than {MAX_STEPS:,} steps")
    if spent[1] > _MAX_WRITTEN:
        raise SecurityError(f"more than {MAX_CHARACTERS:,} characters")


@pass_context
def _counted(context: Context, items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        _count(context, 1)
        yield item


@pass_context
def _emitted(context: Context, value: Any) -> str:
    text = str(value)
    _count(context, 0, len(text))
    return text


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | list | tuple) else 0


def _bounded(value: Any) -> Any:
    if _size(value) > MAX_CHARACTERS:
        raise SecurityError(f"more than {MAX_CHARACTERS:,} characters")
    return value


def _refuse_growth(operator: str, left: Any, right: Any) -> None:
    if operator == "+":
        size = _size(left) + _size(right)
    elif operator == "*":
        times = next((n for n in (left, right) if type(n) is int), 1)
        size = max(_size(left), _size(right)) * times
        if type(left) is int and type(right) is int:
            size = (left.bit_length() + right.bit_length()) // 3
    elif operator == "**":
        size = left.bit_length() * abs(right) // 3 if type(left) is int and type(right) is int else 0
    else:
        size = MAX_CHARACTERS + 1 if isinstance(left, str) else 0
    if size > MAX_CHARACTERS:
        raise SecurityError(f"{operator} on text is not read" if operator == "%" else f"{operator} gives too much")


def _refuse_replacement(text: Any, old: Any, new: Any) -> None:
    found = str(text).count(str(old)) if str(old) else len(str(text)) + 1
    if len(str(text)) + found * len(str(new)) > MAX_CHARACTERS:
        raise SecurityError("replace gives too much")


def _to_json(value: Any, indent: int | None = None) -> str:
    # Jinja's own is made for HTML and writes < as \u003c, which no prompt wants.
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _center(value: Any, width: int = 80) -> str:
    if width > MAX_CHARACTERS:
        raise SecurityError("center gives too much")
    return str(value).center(width)


def _refuse_wide(form: str) -> None:
    if _WIDE.search(form):
        raise SecurityError("format gives too much")


def _format(value: Any, *args: Any, **kwargs: Any) -> str:
    _refuse_wide(str(value))
    return str(value) % (kwargs or args)


def _indent(value: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    size = len(width) if isinstance(width, str) else width
    if len(value) + size * (value.count("\n") + 1) > MAX_CHARACTERS:
        raise SecurityError("indent gives too much")
    return do_indent(value, width, first, blank)


def _replace(value: Any, old: str, new: str, count: int = -1) -> str:
    _refuse_replacement(value, old, new)
    return str(value).replace(old, new, count)


def _join(value: Iterable[Any], d: str = "", attribute: str | None = None) -> str:
    texts = [str(item[attribute] if attribute is not None else item) for item in value]
    if sum(map(len, texts)) + len(d) * len(texts) > MAX_CHARACTERS:
        raise SecurityError("join gives too much")
    return d.join(texts)
