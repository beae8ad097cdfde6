"""Prices: data of the suite, applied when an answer is read and never stored, so that a corrected price corrects all costs."""

from __future__ import annotations

from dataclasses import dataclass

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in US dollars for a million tokens.

    ``cached_input`` and ``cache_write`` are what input read from, or written to, the provider's cache costs; unset, they cost
    as much as other input.
    """

    input: float
    output: float = 0.0
    cached_input: float | None = None
    cache_write: float | None = None

    def cost(
        self,
        input_tokens: int | None,
        output_tokens: int | None,
        cached_tokens: int | None = None,
        cache_write_tokens: int | None = None,
    ) -> float | None:
        """Return the cost in US dollars, or ``None`` where the answer does not say what it used.

        Args:
            input_tokens: all tokens of the prompt, those read from and written to a cache included.
            output_tokens: tokens of the answer.
            cached_tokens: those of the prompt that were read from a cache.
            cache_write_tokens: those of the prompt that were written to one.
        """
        if input_tokens is None:
            return None
        cached, written = cached_tokens or 0, cache_write_tokens or 0
        plain = max(0, input_tokens - cached - written)
        dollars = (
            plain * self.input
            + cached * (self.input if self.cached_input is None else self.cached_input)
            + written * (self.input if self.cache_write is None else self.cache_write)
            + (output_tokens or 0) * self.output
        )
        return dollars / _MILLION

    def most(self, input_tokens: int, output_tokens: int) -> float:
        """Return what so many tokens cost at most in US dollars: each of the input at the dearest of its prices."""
        dearest = max(self.input, self.cached_input or 0.0, self.cache_write or 0.0)
        return (input_tokens * dearest + output_tokens * self.output) / _MILLION
