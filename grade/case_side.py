"""The grading side of a case, parsed once: what judges it, and the digests of all that."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from golden.asking_check import TARGETS
from golden.case_view import CaseView
from golden.check_schema import schema_of
from golden.closed_call import EPOCH
from golden.loader import Grader
from golden.price import Price
from grade.check_json import schema_validator
from grade.checks import CHECKS, EMPTY_ANSWER, EMPTY_ANSWER_NUMBER, Check
from snapshots import canonical, strict_json
from snapshots.reading import Reading


@dataclass(frozen=True, slots=True)
class Applied:
    """A check of a case with its argument."""

    name: str
    check: Check
    argument: Any


class CaseSide:
    """The grading side of a case. ``asks`` tells whether anything that judges it needs answers of its own."""

    def __init__(self, expectation: str, graders: Mapping[str, Grader], date: str = EPOCH) -> None:
        value = strict_json.loads_own(expectation.encode())
        self.case = CaseView(value, date)
        checks = [next(iter(c.items())) for c in value.get("checks", ())]
        if "allowed_tools" in value:
            checks.append(("allowed_tools", value["allowed_tools"]))
        self.checks = [Applied(name, CHECKS[name], argument) for name, argument in checks]
        for name, argument in checks:
            _compile({name: argument})
        self.graders = [graders[name] for name in value.get("graders", ())]
        self.asks = any(name in TARGETS for name, _ in checks) or any(g.asks is not None for g in self.graders)
        self.digests: dict[str, str] = {g.name: g.digest for g in self.graders}
        self.digests.update((f"check:{c.name}", own_digest(f"check:{c.name}", c.check.number)) for c in self.checks)
        self.digests[f"check:{EMPTY_ANSWER}"] = own_digest(f"check:{EMPTY_ANSWER}", EMPTY_ANSWER_NUMBER)
        self._price = Price(**value["price"]) if "price" in value else None
        self._texts: dict[str, tuple[str, str]] = {}

    def digests_with(self, reader: str, number: int) -> tuple[str, str]:
        """Return the row's name → digest map as canonical JSON, and its digest."""
        if reader not in self._texts:
            name = f"reader:{reader}"
            text = canonical.encode({**self.digests, name: own_digest(name, number)}).decode()
            self._texts[reader] = text, hashlib.sha256(text.encode()).hexdigest()
        return self._texts[reader]

    def cost(self, reading: Reading) -> float | None:
        """Return what an answer cost in US dollars: what it reports itself, else by the price that the case holds."""
        if reading.cost_usd is not None or self._price is None:
            return reading.cost_usd
        return self._price.cost(
            reading.input_tokens, reading.output_tokens, reading.cached_tokens, reading.cache_write_tokens
        )


def _compile(check: Mapping[str, Any]) -> None:
    schema = schema_of(check)
    if schema is not None:
        schema_validator(schema)


def own_digest(name: str, number: int) -> str:
    """Return the digest of a check or reader of ours: SHA-256 of its name and its hand-bumped number."""
    return hashlib.sha256(f"whichclock {name}/{number}".encode()).hexdigest()
