"""The diff as one page that asks nobody for anything: numbers in the markup, cases as data that a small script shows.

Nothing of others becomes markup. The template escapes; the data is JSON in a script element of a type that no browser runs, with every
character escaped that could end it; the script puts texts in as text. The policy lets no request out and no other script run.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from diff.compare import Comparison
from diff.edits import Edit, edits
from diff.gathered import ordered
from diff.html_case import case_data
from diff.html_text import Texts
from diff.html_waterfall import strip, waterfall
from diff.moved_cases import Teller
from diff.remedy import remedy
from diff.report import (
    EXACT,
    MEANING,
    asked_again,
    interval,
    model_lines,
    reported_sentence,
    sentence,
    share_sentence,
    test_of,
    test_sentence,
    together_lines,
    unjudged_sentence,
)
from diff.statistics import Rate, wilson
from snapshots.console import json_text, neutral
from snapshots.errors import StoreError

MOST = 10_000
EDITS = 100
_SCRIPTS = ("words.js", "details.js", "cases.js")
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def write(comparison: Comparison, path: Path) -> None:
    """Write the page; the file gets its name when it is whole.

    Raises:
        StoreError: the disk refused.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(page(comparison).encode())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}", hint="check that it is no folder, and permissions"
        ) from error


def page(comparison: Comparison) -> str:
    """Return the whole page."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    script = "\n".join(_asset(name) for name in _SCRIPTS)
    cases = ordered(comparison)
    texts = Texts()
    found = edits(comparison)
    teller = Teller(comparison, found)
    data = {"cases": [case_data(one, comparison, texts, teller) for one in cases[:MOST]], "meaning": MEANING}
    template = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).from_string(_asset("report.html"))
    return template.render(
        policy=policy(script),
        style=Markup(_asset("report.css")),  # noqa: S704 - a file of ours
        script=Markup(script),  # noqa: S704 - files of ours
        data=Markup(inert(data)),  # noqa: S704 - escaped for exactly this place
        suite=neutral(comparison.head.suite),
        base=neutral(comparison.base.name),
        head=neutral(comparison.head.name),
        sentence=neutral(sentence(comparison)),
        worse=bool(comparison.regressions),
        rates=[_rate("base", comparison.base_passed), _rate("head", comparison.head_passed)],
        lines=[neutral(line) for line in _lines(comparison)],
        notes=[neutral(note) for note in [*comparison.base.notes, *comparison.head.notes]],
        waterfall=None if comparison.attributed is None else waterfall(comparison.attributed.suite),
        edits=[_edit(edit) for edit in found[:EDITS]],
        more_edits=max(0, len(found) - EDITS),
        rows=len(comparison),
        count=len(cases),
        left_out=max(0, len(cases) - MOST),
    )


def inert(data: Any) -> str:
    """Return JSON that a script element can hold: nothing in it ends the element, opens a comment, or ends a line."""
    text = json_text(data)
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def policy(script: str) -> str:
    """Return the Content Security Policy: no request, no script but ours, no form, no base."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def _asset(name: str) -> str:
    text = importlib.resources.files("diff").joinpath("assets", name).read_text("utf-8")
    return text.replace("\r\n", "\n")  # a checkout on Windows: the digest is that of what the browser reads


def _edit(edit: Edit) -> dict[str, Any]:
    return {
        "clock": edit.clock,
        "name": neutral(edit.name),
        "cases": edit.cases,
        "silent": edit.silent,
        "share": edit.share_words(),
    }


def _rate(name: str, passed: tuple[int, int]) -> dict[str, Any]:
    rate: Rate = wilson(*passed)
    return {"name": name, "words": interval(rate), "strip": strip(rate)}


def _lines(comparison: Comparison) -> Iterator[str]:
    """Yield what the report adds up to, a sentence each."""
    yield from filter(None, (share_sentence(comparison), remedy(comparison)))
    yield from (f"{_capital(line)}." for line in model_lines(comparison))
    again = asked_again(comparison)
    if again:
        yield f"{_capital(test_sentence(test_of(comparison)))}."
    else:
        yield f"{_capital(EXACT)}."
    if comparison.measures is not None:
        yield from (f"{_capital(line)}." for line in comparison.measures.lines(asked_again=again))
    if reported := reported_sentence(comparison):
        yield f"{_capital(reported)}."
    yield from (f"{line}." for line in together_lines(comparison))
    if comparison.removed_cases:
        yield f"Removed: {comparison.removed_cases} case{'' if comparison.removed_cases == 1 else 's'}."
    if comparison.stale_known:
        yield f"Stale: known: flaky, but all trials agree in both runs: {', '.join(comparison.stale_known[:10])}."
    if comparison.head_unjudged:
        yield f"{_capital(unjudged_sentence(comparison))}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
