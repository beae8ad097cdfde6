"""What a call may cost at most, before it is made: the bound that a run's budget holds it to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import ROUND_CEILING, Decimal
from typing import Any

from capture.budget import Budget, output_limit
from capture.plan import Job
from golden.model import Suite
from snapshots import canonical


class Ceiling:
    """Bounds calls by the suite's prices."""

    def __init__(self, suite: Suite) -> None:
        self._prices = suite.prices

    def most(self, job: Job) -> float:
        """Return what the call may cost at most in US dollars; one that does not limit its output counts its input alone."""
        document = job.rendered.document
        return Budget(None, None, self._prices).take(job.planned.target, document, _size(document)) or 0.0

    def is_limited(self, job: Job) -> bool:
        """Tell whether ``most`` holds: the output is limited, and there is a price."""
        return self.unpriced(job) is None and output_limit(job.rendered.document) is not None

    def unpriced(self, job: Job) -> str | None:
        """Return the model of a call for which no limit of cost can hold, for it has no price; else ``None``."""
        return Budget(None, math.inf, self._prices).unpriced(job.planned.target, job.rendered.document)

    def too_dear(self, jobs: Iterable[Job], max_cost: float | None) -> float | None:
        """Return what the cheapest of some calls may cost at most if that alone is over a budget, else ``None``."""
        cheapest = None if max_cost is None else min(map(self.most, jobs), default=None)
        return cheapest if cheapest is not None and max_cost is not None and cheapest > max_cost else None


def _size(document: Mapping[str, Any]) -> int:
    """Return the bytes that are sent, as far as the request says: a variable in a body is as long as its name here."""
    if "body_text" in document:
        return len(str(document["body_text"]).encode())
    sent = document.get("stdin") if document.get("transport") == "exec" else document.get("body")
    return 0 if sent is None else len(canonical.encode(sent))


def dollars(amount: float) -> str:
    """Return a bound for people: to the cent, or to two digits that count, and rounded up so that it still holds."""
    exact = Decimal(str(amount))
    places = Decimal(1).scaleb(min(-2, exact.adjusted() - 1 if exact else -2))
    return f"{exact.quantize(places, ROUND_CEILING):f} US dollars"
