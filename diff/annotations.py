"""The diff as annotations of GitHub Actions: an error at each case that newly fails, in the file that holds it.

The runner reads workflow commands from stdout and shows ten errors of a step at most, so the rest is counted in one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from diff.compare import Comparison
from diff.drift import drift, drift_sentence
from diff.gathered import Gathered, gathered
from diff.report import detail, sentence, unjudged_sentence
from snapshots.console import neutral, shorten

MOST = 10
_TITLE = 200
_MESSAGE = 2_000
_PLACE = re.compile(r"(?P<file>.+?)(?::(?P<line>[0-9]+)|#.*)?", re.DOTALL)


def workflow_commands(comparison: Comparison, places: Mapping[str, str]) -> list[str]:
    """Return the workflow commands, one a line.

    Args:
        comparison: what is reported.
        places: case id → ``file:line`` seen from the root of the repository, for the cases whose place is known.
    """
    regressions = set(comparison.regressions)
    chosen = sorted(regressions)[:MOST]
    failing = {(g.case_id, g.target): g for g in gathered(comparison) if (g.case_id, g.target) in regressions}
    lines = [_error(failing[key], places.get(key[0])) for key in chosen]
    more = len(regressions) - len(chosen)
    told = sentence(comparison) + (f" {more} more newly failing cases are not annotated." if more else "")
    return [*lines, *_unjudged(comparison), *_model(comparison), command("notice", told, title="whichclock diff")]


def _error(one: Gathered, place: str | None) -> str:
    row = one.told
    clocks = f"clock: {' + '.join(one.clocks)}" if one.clocks else "no clock moved"
    told = detail(row)
    message = f"newly failing ({row.move}; {clocks})" + (f"\n{told}" if told else "")
    return command("error", message, title=f"{one.case_id} [{one.target}] newly fails", **_where(place))


def _where(place: str | None) -> dict[str, str]:
    found = _PLACE.fullmatch(place) if place else None
    if found is None:
        return {}
    return {"file": found["file"], **({"line": found["line"]} if found["line"] else {})}


def _unjudged(comparison: Comparison) -> Iterator[str]:
    if comparison.head_unjudged:
        yield command("warning", unjudged_sentence(comparison), title="not judged")


def _model(comparison: Comparison) -> Iterator[str]:
    found = drift(comparison) if comparison.clocks["model"] else None
    if found is not None and found.fires:
        yield command("notice", drift_sentence(found), title="drift of the model")
    changes = sorted(
        {
            tuple(map(str, r.evidence["reported_model"]))
            for r in comparison.rows.values()
            if "reported_model" in r.evidence
        }
    )
    for old, new in changes[: MOST // 2]:
        yield command("notice", f"answers come from {new}, which came from {old}", title="another model answers")


def command(name: str, message: str, **properties: str) -> str:
    """Return a workflow command; nothing in its texts can end it, begin another, or add a property."""
    told = "\n".join(shorten(neutral(line), _MESSAGE) for line in message.split("\n"))
    given = ",".join(f"{key}={_property(value)}" for key, value in sorted(properties.items()) if value)
    return f"::{name}{' ' if given else ''}{given}::{_data(told)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(shorten(neutral(text), _TITLE)).replace(":", "%3A").replace(",", "%2C")
