"""The Jinja environment that prompts are rendered in.

Jinja's immutable sandbox keeps templates from reaching Python. On top of it nothing here depends on chance or on
files, and a template that would run for ever or fill the memory is stopped: loops and calls are counted here, and
``golden.bounded`` looks at what grows.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jinja2 import StrictUndefined, TemplateSyntaxError, nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from golden import bounded, placeholder
from golden.bounded import MAX_CHARACTERS
from golden.opaque import Opaque, refuse_among

MAX_STEPS = 1_000_000
# What is written inside macros and blocks is written again outside: the sum of all writing may exceed the text.
_MAX_WRITTEN = 10 * MAX_CHARACTERS
_SPENT = "steps and characters of this rendering"


class _PromptEnvironment(ImmutableSandboxedEnvironment):
    """A sandbox that counts steps and refuses what grows too large."""

    intercepted_binops = frozenset(("*", "**", "+", "%"))
    # In a template of an address what is put in is percent-encoded, and only what stands there is address.
    is_address = False

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
            raise TemplateSyntaxError("other templates cannot be read from a template", node.lineno)
        return _Guards(self).visit(tree)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        refuse_among((left, right))
        bounded.operation(operator, left, right)
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride] -- Jinja names it with underscores
        _count(context, 1)
        if not isinstance(obj, Macro):  # what a macro gets it can only write out
            refuse_among((*args, *kwargs.values()))
        bounded.method(obj, (*args, *kwargs.values()))
        return bounded.result(super().call(context, obj, *args, **kwargs))


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
        node.nodes = [self._filter(self._part(part), "emitted") for part in node.nodes]
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802 -- Jinja's name
        self.generic_visit(node)
        return self._filter(node, "bounded")

    def _part(self, part: nodes.Expr) -> nodes.Expr:
        if isinstance(part, nodes.TemplateData):
            return nodes.Const(part.data, lineno=part.lineno, environment=part.environment)
        return self._filter(part, "quoted") if self._env.is_address else part

    def _filter(self, node: Any, name: str) -> nodes.Filter:
        return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno, environment=self._env)


@functools.cache
def environment(*, address: bool = False) -> _PromptEnvironment:
    """Return the one environment for texts, or the one for addresses; they hold no state between renderings."""
    env = _PromptEnvironment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    # Random text would make every rendering another request.
    del env.globals["lipsum"], env.filters["random"]
    filters: dict[str, Any] = env.filters
    filters.update(bounded.FILTERS, bounded=bounded.result, counted=_counted)
    for name, function in filters.items():
        filters[name] = _guarded(function)
    filters.update(emitted=_emitted, quoted=_quoted)
    env.is_address = address
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


def _guarded(function: Any) -> Any:
    """Return a filter that takes no variable of the environment."""

    @functools.wraps(function)  # what Jinja passes to a filter beside its value is marked on the function
    def guarded(*args: Any, **kwargs: Any) -> Any:
        refuse_among((*args, *kwargs.values()))
        return function(*args, **kwargs)

    return guarded


def _written(value: Any) -> str:
    mark = Opaque.written(value)
    return bounded.text(value) if mark is None else mark


def _quoted(value: Any) -> str:
    return placeholder.quoted(_written(value))


@pass_context
def _emitted(context: Context, value: Any) -> str:
    text = _written(value)
    _count(context, 0, len(text))
    return text
