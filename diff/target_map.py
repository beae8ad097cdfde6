"""Compare across targets: the rows of one target of the base stand beside those of another target of the head."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pyarrow as pa

from diff.side import Side
from grade.arrow import pc
from grade.columns import column
from snapshots.errors import UsageError


def parse(texts: Iterable[str]) -> dict[str, str]:
    """Return base target → head target from texts such as ``gpt=other``.

    Raises:
        UsageError: a text is none, or a target stands on one side twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        base, equals, head = text.partition("=")
        if not (base and equals and head) or "=" in head:
            raise UsageError(
                f"--target-map {text!r} does not say BASE=HEAD", hint="for example: --target-map gpt=other"
            )
        if base in found:
            raise _twice(base)
        found[base] = head
    return checked(found)


def checked(targets: Mapping[str, str]) -> dict[str, str]:
    """Return a map of targets. Raises ``UsageError`` where two of the base would stand beside one of the head."""
    heads = list(targets.values())
    for head in heads:
        if heads.count(head) > 1:
            raise _twice(head)
    return dict(targets)


def _twice(target: str) -> UsageError:
    return UsageError(f"the target map names {target!r} twice on one side", hint="each target stands for one other")


def mapped(base: Side, head: Side, targets: Mapping[str, str]) -> tuple[Side, Side]:
    """Return the two sides with the mapped targets alone, those of the base under the names of the head.

    Args:
        base: the old side.
        head: the new side.
        targets: base target → head target; nothing is changed where it is empty.

    Raises:
        UsageError: a side has no row of a target.
    """
    if not targets:
        return base, head
    old = _chosen(base, targets.keys(), "base")
    new = _chosen(head, targets.values(), "head")
    renamed = [targets[name] for name in old.column("target").cast(pa.string()).to_pylist()]
    number = old.schema.get_field_index("target")
    old = old.set_column(number, old.schema.field(number), column(pa.string(), renamed))
    told = [
        f"target {one} of the base is compared with target {other} of the head: another request is what was meant"
        for one, other in targets.items()
    ]
    wanted = set(targets.values())
    order = [key for key in head.order if key[1] in wanted]
    return replace(base, rows=old, notes=[*base.notes, *told]), replace(head, rows=new, order=order)


def _chosen(side: Side, targets: Iterable[str], name: str) -> pa.Table:
    texts = side.rows.column("target").cast(pa.string())
    there = set(pc.unique(texts).to_pylist())
    for target in targets:
        if target not in there:
            known = ", ".join(sorted(there)) or "none"
            raise UsageError(f"the {name} has no row of target {target!r}", hint=f"its targets: {known}")
    return side.rows.filter(pc.is_in(texts, value_set=column(pa.string(), sorted(targets))))
