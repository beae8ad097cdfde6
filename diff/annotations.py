"""The diff as annotations of GitHub Actions: an error at each case that newly fails, in the file that holds it.

The runner reads workflow commands from stdout and shows ten errors of a step at most, so the rest is counted in one line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from diff.compare import Comparison
from diff.drift import drift, drift_sentence
from diff.edits import rows_of
from diff.moved_cases import MovedCase, Teller
from diff.report import sentence, unjudged_sentence
from golden.place import file_and_line
from snapshots.console import neutral, shorten

MOST = 10
_TITLE = 200
_MESSAGE = 2_000


def workflow_commands(comparison: Comparison, places: Mapping[str, str]) -> list[str]:
    """Return the workflow commands, one a line.

    Args:
        comparison: what is reported.
        places: case id → ``file:line`` seen from the root of the repository, for the cases whose place is known.
    """
    regressions = set(comparison.regressions)
    chosen = sorted(regressions)[:MOST]
    rows, teller = rows_of(comparison), Teller(comparison) if chosen else None
    lines = [_error(MovedCase(*key, rows[key]), teller, places.get(key[0])) for key in chosen if teller is not None]
    more = len(regressions) - len(chosen)
    told = sentence(comparison) + (f" {more} more newly failing cases are not annotated." if more else "")
    return [*lines, *_unjudged(comparison), *_model(comparison), command("notice", told, title="whichclock diff")]


def _error(one: MovedCase, teller: Teller, place: str | None) -> str:
    clocks = f"clocks: {' + '.join(one.clocks)}" if one.clocks else "no clock moved"
    told = teller.told(one)
    message = f"newly failing ({clocks})" + (f"\n{told}" if told else "")
    return command("error", message, title=f"{one.case_id} [{one.target}] newly fails", **_where(place))


def _where(place: str | None) -> dict[str, str]:
    if not place:
        return {}
    file, line = file_and_line(place)
    return {"file": file, **({"line": line} if line else {})}


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
