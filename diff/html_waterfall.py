"""The waterfall of the pass fraction: from the base over the share of each clock to the head, as lines with their place on a scale."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from diff.attribution import EXPECTATION, GRADER, MODEL, REQUEST, TOGETHER
from diff.edits import signed
from diff.statistics import Rate
from diff.suite_shares import SuiteShares

_ORDER = (REQUEST, MODEL, TOGETHER, GRADER, EXPECTATION)
_MARGIN = Fraction(1, 20)
_LEAST = 0.8  # of a hundred: a share that can be seen at all


@dataclass(frozen=True, slots=True)
class Line:
    """One line: a total (``change`` is empty) or a share. ``x`` and ``width`` are hundredths of the scale."""

    name: str
    kind: str
    change: str
    reached: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Waterfall:
    """The lines, and where the scale begins and ends."""

    low: str
    high: str
    lines: list[Line]


def waterfall(suite: SuiteShares) -> Waterfall:
    """Return the lines of a suite: they add up to its change, without a remainder."""
    steps = [
        ("removed cases", suite.removed),
        *sorted(suite.shares.items(), key=lambda share: _ORDER.index(share[0])),
        ("undetermined", suite.undetermined),
        ("added cases", suite.added),
    ]
    shown = [(name, share) for name, share in steps if share or name in suite.shares]
    points = [suite.base - suite.removed]
    for _, share in shown:
        points.append(points[-1] + share)
    low, high = _scale(points)
    place = [float((point - low) / (high - low)) * 100 for point in points]
    lines = [_total("base", points[0], place[0])]
    for i, (name, share) in enumerate(shown):
        start, end = sorted(place[i : i + 2])
        kind = "up" if share > 0 else "down" if share < 0 else "still"
        width = max(end - start, _LEAST)
        lines.append(
            Line(name, kind, signed(share), _number(points[i + 1]), _rounded(min(start, 100 - width)), _rounded(width))
        )
    lines.append(_total("head", points[-1], place[-1]))
    return Waterfall(_number(low), _number(high), lines)


def strip(rate: Rate) -> tuple[float, float, float] | None:
    """Return where the interval of a pass rate begins, how wide it is, and where the rate stands, in hundredths."""
    if rate.low is None or rate.high is None or not rate.cases:
        return None
    return _rounded(rate.low * 100), _rounded((rate.high - rate.low) * 100), _rounded(rate.passed / rate.cases * 100)


def _scale(points: list[Fraction]) -> tuple[Fraction, Fraction]:
    low, high = max(Fraction(0), min(points) - _MARGIN), min(Fraction(1), max(points) + _MARGIN)
    return (Fraction(0), Fraction(1)) if low >= high else (low, high)


def _total(name: str, point: Fraction, place: float) -> Line:
    return Line(name, "total", "", _number(point), _rounded(min(max(place - _LEAST / 2, 0), 100 - _LEAST)), _LEAST)


def _number(value: Fraction) -> str:
    return f"{float(value):.3f}"


def _rounded(value: float) -> float:
    return round(value, 3)
