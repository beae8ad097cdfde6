"""What a run may spend: calls, and US dollars by the suite's price sheet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from golden.model import Target
from golden.price import Price
from snapshots.errors import UsageError
from snapshots.reading import Reading

_OUTPUT_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


class Budget:
    """Counts the calls of a run and what they cost, and refuses the call that could break a limit.

    A call is refused if what was spent, what the open calls may cost at most, and what it may cost at most itself are
    together over the limit. At most a request costs a token of input for each byte of its body, and the output that it
    limits itself to; one that sets no limit is taken for the dearest answer of its model so far.
    """

    def __init__(self, max_calls: int | None, max_cost: float | None, prices: Mapping[str, Price]) -> None:
        self.max_calls = max_calls
        self.max_cost = max_cost
        self.calls = 0
        self.cost_usd = 0.0
        self._prices = prices
        self._open = 0.0
        self._dearest: dict[str, float] = {}

    def take(self, target: Target, document: Mapping[str, Any], size: int) -> float | None:
        """Count a call and return what it may cost at most, or return ``None`` where it would be over a limit."""
        if self.max_calls is not None and self.calls >= self.max_calls:
            return None
        most = self._most(target, document, size)
        if self.max_cost is not None and self.cost_usd + self._open + most > self.max_cost:
            return None
        self.calls += 1
        self._open += most
        return most

    def settle(self, most: float, target: Target, reading: Reading | None) -> None:
        """Put what a call did cost in the place of what it may cost at most; without a reading it cost nothing."""
        self._open -= most
        if reading is None:
            return
        cost = cost_of(self._prices, target, reading)
        if cost is None:
            return
        self.cost_usd += cost
        if target.model is not None:
            self._dearest[target.model] = max(self._dearest.get(target.model, 0.0), cost)

    @property
    def limit(self) -> str:
        """Return the limit that is reached, for messages."""
        if self.max_calls is not None and self.calls >= self.max_calls:
            return f"{self.max_calls} calls"
        return f"{self.max_cost:g} US dollars"

    def _most(self, target: Target, document: Mapping[str, Any], size: int) -> float:
        price = None if target.model is None else self._prices.get(target.model)
        if price is None or target.model is None:
            return 0.0
        limit = output_limit(document)
        if limit is None:
            return self._dearest.get(target.model, 0.0)
        return price.cost(size, limit) or 0.0


def output_limit(document: Mapping[str, Any]) -> int | None:
    """Return the number of output tokens that a request limits itself to, or ``None``."""
    body = document.get("body")
    if not isinstance(body, dict):
        return None
    if str(document.get("url", "")).split("?", 1)[0].endswith("/embeddings"):
        return 0
    config = body.get("generationConfig")
    found = [body.get(name) for name in _OUTPUT_LIMITS]
    found.append(config.get("maxOutputTokens") if isinstance(config, dict) else None)
    return next((value for value in found if isinstance(value, int) and not isinstance(value, bool)), None)


def cost_of(prices: Mapping[str, Price], target: Target, reading: Reading) -> float | None:
    """Return what an answer cost in US dollars: what a program reports itself, else by the price of the target's model."""
    if reading.cost_usd is not None:
        return reading.cost_usd
    price = None if target.model is None else prices.get(target.model)
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
            model = f"model {target.model!r} of target {target.name}" if target.model else f"target {target.name}"
            raise UsageError(
                f"--max-cost: there is no price for {model}",
                hint='write it into the configuration: [prices."MODEL"] input = …, output = … (US dollars for a million tokens)',
            )
