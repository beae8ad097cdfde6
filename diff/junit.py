"""The diff as JUnit XML: one test case for each case × target, for dashboards that know nothing of clocks.

Valid against the schema of Jenkins' xUnit plugin (junit-10.xsd, which pytest follows as ``xunit2``). That schema has properties for suites
only, and its readers drop a whole file that has them elsewhere: what is said of a case stands as ``[[PROPERTY|name=value]]`` lines in its
output, which is how test managers read properties of cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape

from diff.compare import Comparison
from diff.drift import drift, drift_sentence
from diff.gathered import Gathered, gathered
from diff.moved_cases import Teller
from diff.report import interval, sentence, test_of, test_sentence
from diff.statistics import wilson
from snapshots.console import neutral, neutral_block, shorten

_LONGEST = 2_000
_QUOTED = {'"': "&quot;", "\n": "&#10;", "\t": "&#9;"}
# XML 1.0 section 2.2: beside the controls and surrogates that neutral text shows as escapes, these two are no characters.
_NO_CHARACTER = re.compile("[\ufffe\uffff]")


def junit(comparison: Comparison) -> str:
    """Return the whole document: failures are cases that fail, skipped are known and incomparable ones."""
    cases = [(one, _outcome(one)) for one in gathered(comparison)]
    teller = Teller(comparison)
    failures = sum(kind == "failure" for _, (kind, _, _) in cases)
    skipped = sum(kind == "skipped" for _, (kind, _, _) in cases)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0"'
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuites name="whichclock diff" {counts}>',
            f'<testsuite name="{_quoted(comparison.head.suite)}" {counts} skipped="{skipped}">',
            "<properties>",
            *(_property(name, value) for name, value in _suite(comparison)),
            "</properties>",
            *(line for one, outcome in cases for line in _case(comparison.head.suite, one, outcome, teller)),
            "</testsuite>",
            "</testsuites>",
        ]
    )


def _suite(comparison: Comparison) -> Iterator[tuple[str, str]]:
    yield "sentence", sentence(comparison)
    yield "base", comparison.base.name
    yield "head", comparison.head.name
    yield "base_passing", interval(wilson(*comparison.base_passed))
    yield "head_passing", interval(wilson(*comparison.head_passed))
    yield "mcnemar", test_sentence(test_of(comparison))
    if comparison.clocks["model"]:
        yield "drift", drift_sentence(drift(comparison))
    if comparison.attributed is not None:
        for clock, share in comparison.attributed.suite.attribution().items():
            yield f"attribution.{clock}", share
    for note in [*comparison.base.notes, *comparison.head.notes]:
        yield "note", note


def _outcome(one: Gathered) -> tuple[str, str, str]:
    """Return the element (none for a case that passes), its type and its message."""
    words = one.change.replace("_", " ")
    if one.change == "incomparable":
        return "skipped", "incomparable", f"{words}: {one.rows[0].reason}"
    if one.known is not None:
        return "skipped", "known", f"known: {one.known}; {words}"
    if one.passed is False:
        return "failure", "regression" if one.change == "newly_failing" else one.change, words
    return "", "", ""


def _case(suite: str, one: Gathered, outcome: tuple[str, str, str], teller: Teller) -> Iterator[str]:
    kind, type_name, message = outcome
    told = teller.told(one.moved)
    name = f"{_line(one.case_id)} [{_line(one.target)}]"
    yield f'<testcase classname="{_quoted(suite)}.{_quoted(one.target)}" name="{escape(name, _QUOTED)}">'
    if kind:
        said = f"{message}, {one.told.move}" if one.told.move != "none" else message
        yield f'<{kind} type="{type_name}" message="{_quoted(said)}">{_text(_account(one, told))}</{kind}>'
    yield f"<system-out>{_text(_facts(one, told))}</system-out>"
    yield "</testcase>"


def _account(one: Gathered, told: str) -> str:
    lines = [f"clocks: {', '.join(one.clocks) or 'none'}", *([told] if told else [])]
    for row in one.rows:
        found = "no row" if row.head is None else f"{row.head['status']} {' '.join(row.head['findings'] or ())}".strip()
        lines.append(f"trial {row.trial}: {found}")
    return "\n".join(lines)


def _facts(one: Gathered, told: str) -> str:
    row = one.told
    facts = {
        "verdict_change": one.change,
        "move": row.move,
        "clocks": "+".join(one.clocks),
        **{f"attribution.{clock}": share for clock, share in row.attribution.items()},
        "what_moved": told,
    }
    return "\n".join(f"[[PROPERTY|{name}={neutral(value)}]]" for name, value in facts.items() if value)


def _property(name: str, value: str) -> str:
    return f'<property name="{_quoted(name)}" value="{_quoted(value)}"/>'


def _line(text: str) -> str:
    return _NO_CHARACTER.sub("\ufffd", neutral(text))


def _quoted(text: str) -> str:
    """Return text for an attribute in double quotes."""
    return escape(shorten(_line(text), _LONGEST), _QUOTED)


def _text(text: str) -> str:
    """Return text for an element; every ``>`` is escaped, so that no ``]]>`` can stand there."""
    return escape(
        "\n".join(shorten(line, _LONGEST) for line in _NO_CHARACTER.sub("\ufffd", neutral_block(text)).split("\n"))
    )
