"""What a run may spend: calls, and US dollars by the suite's price sheet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from golden.model import Target
from golden.price import Price
from snapshots.errors import UsageError
from snapshots.reading import Reading

PRICE_REMEDY = '[prices."MODEL"] input = …, output = … (US dollars for a million tokens)'
_NO_DOCUMENT: Mapping[str, Any] = {}
_MODEL_IN_PATH = re.compile(r"/models/([^/?:]+):")
_OUTPUT_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


class Budget:
    """Counts the calls of a run and what they cost, and refuses the call that could break a limit.

    A call is refused if what was spent, what the open calls may cost at most, and what it may cost at most itself are
    together over the limit. At most a request costs a token of input for each byte of its body, and the output that it
    limits itself to, and no less than the dearest answer of its target so far: bytes do not tell what a picture costs, and
    some requests set no limit. A call whose cost nobody knows (it was cut off, or its answer says nothing about tokens)
    counts against the limit with the most that it may have cost. Where neither a limit nor an answer says what a call may cost,
    it is for the caller to make one at a time: see ``is_blind``.
    """

    def __init__(self, max_calls: int | None, max_cost: float | None, prices: Mapping[str, Price]) -> None:
        self.max_calls = max_calls
        self.max_cost = max_cost
        self.calls = 0
        self.cost_usd = 0.0
        self._is_told = bool(prices)
        self._prices = prices
        self._reserved = 0.0
        self._dearest: dict[tuple[str, str | None], float] = {}

    def take(self, target: Target, document: Mapping[str, Any], size: int) -> float | None:
        """Count a call and return what it may cost at most, or return ``None`` where it would be over a limit."""
        if self.max_calls is not None and self.calls >= self.max_calls:
            return None
        most = self._most(target, document, size)
        if self.max_cost is not None and self.cost_usd + self._reserved + most > self.max_cost:
            return None
        self.calls += 1
        self._reserved += most
        return most

    def is_blind(self, target: Target, document: Mapping[str, Any]) -> bool:
        """Tell whether nobody knows what a call may cost at most: it limits nothing, and none like it was answered yet."""
        if self.max_cost is None or output_limit(document) is not None:
            return False
        return (target.name, model_of(target, document)) not in self._dearest

    def unpriced(self, target: Target, document: Mapping[str, Any]) -> str | None:
        """Return the model of a request for which a limit of cost cannot hold, for there is no price; else ``None``."""
        if self.max_cost is None or target.type == "exec":
            return None
        model = model_of(target, document)
        return None if model in self._prices else str(model)

    @property
    def told_cost(self) -> float | None:
        """Return what the calls cost, or ``None`` where there are no prices and nobody told a cost."""
        return self.cost_usd if self._is_told else None

    def settle(
        self,
        most: float,
        target: Target,
        reading: Reading | None,
        *,
        is_free: bool,
        document: Mapping[str, Any] = _NO_DOCUMENT,
    ) -> None:
        """Put what a call did cost in the place of what it may cost at most, where that is known.

        Args:
            most: what ``take`` returned.
            target: whom was asked.
            reading: what it answered, where that could be read.
            is_free: without an answer it cost nothing, for the target said no.
            document: what was asked; without it, the target's model was.
        """
        model = model_of(target, document)
        cost = None if reading is None else cost_of(self._prices, model, reading)
        if cost is None:
            if target.type == "exec" and reading is not None:
                self._dearest.setdefault((target.name, model), 0.0)  # it tells no costs
            self._reserved -= most if is_free else 0.0
            return
        self._reserved -= most
        self.cost_usd += cost
        self._is_told = True
        key = target.name, model
        self._dearest[key] = max(self._dearest.get(key, 0.0), cost)

    @property
    def limit(self) -> str:
        """Return the limit that is reached, for messages."""
        if self.max_calls is not None and self.calls >= self.max_calls:
            return f"{self.max_calls} calls"
        return f"{self.max_cost:g} US dollars"

    def _most(self, target: Target, document: Mapping[str, Any], size: int) -> float:
        model = model_of(target, document)
        price = None if model is None else self._prices.get(model)
        bound = 0.0 if price is None else price.most(size, output_limit(document) or 0)
        return max(bound, self._dearest.get((target.name, model), 0.0))


def model_of(target: Target, document: Mapping[str, Any]) -> str | None:
    """Return the model that a request asks: the one that it names, which a case may choose, else the target's."""
    if target.type == "gemini" and (found := _MODEL_IN_PATH.search(str(document.get("url", "")))):
        return unquote(found[1])
    holder = document.get("body") if target.type != "exec" else document.get("stdin", {}).get("params")
    named = holder.get("model") if isinstance(holder, dict) and target.type != "http" else None
    return named if isinstance(named, str) and named else target.model


def output_limit(document: Mapping[str, Any]) -> int | None:
    """Return the number of output tokens that a request limits itself to, all its choices together, or ``None``."""
    body = document.get("body")
    if not isinstance(body, dict):
        return None
    if str(document.get("url", "")).split("?", 1)[0].endswith("/embeddings"):
        return 0
    config = body.get("generationConfig")
    config = config if isinstance(config, dict) else {}
    found = [*(body.get(name) for name in _OUTPUT_LIMITS), config.get("maxOutputTokens")]
    limit = next((value for value in map(_count, found) if value is not None), None)
    choices = max(_count(body.get("n")) or 1, _count(config.get("candidateCount")) or 1)
    return None if limit is None else limit * choices


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def cost_of(prices: Mapping[str, Price], model: str | None, reading: Reading) -> float | None:
    """Return what an answer cost in US dollars: what a program reports itself, else by the price of a model."""
    if reading.cost_usd is not None:
        return reading.cost_usd
    price = None if model is None else prices.get(model)
    if price is None:
        return None
    return price.cost(reading.input_tokens, reading.output_tokens, reading.cached_tokens, reading.cache_write_tokens)


def require_prices(prices: Mapping[str, Price], targets: Mapping[str, Target]) -> None:
    """Check that every target that is to be asked has a price.

    Raises:
        UsageError: one has none, so that no limit of cost could hold.
    """
    for target in targets.values():
        if target.type != "exec" and (target.model is None or target.model not in prices):
            if target.model is None:
                what, hint = f"target {target.name}, which has no model", "leave it out: --target names the others"
            else:
                what, hint = (
                    f"model {target.model!r} of target {target.name}",
                    f"write into the configuration: {PRICE_REMEDY}",
                )
            raise UsageError(f"--max-cost: there is no price for {what}", hint=hint)
