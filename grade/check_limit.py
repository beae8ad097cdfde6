"""Checks of what an answer used and how it ended: tokens, cost, latency, finish reason, refusal.

A limit does not hold where the answer does not say what it used: a check that cannot be judged is not a check that passed.
"""

from __future__ import annotations

from typing import Any

from grade.violation import EMPTY, Violation, is_blank
from snapshots.envelope import Envelope


def max_tokens(envelope: Envelope, limit: Any) -> Violation:
    """``too_many_tokens``: more output tokens than the limit, or the answer does not say how many."""
    used = envelope["usage"]["output_tokens"]
    return {"output_tokens": used} if used is None or used > limit else None


def max_input_tokens(envelope: Envelope, limit: Any) -> Violation:
    """``too_many_input_tokens``: more tokens of the prompt than the limit, or the answer does not say how many."""
    used = envelope["usage"]["input_tokens"]
    return {"input_tokens": used} if used is None or used > limit else None


def max_total_tokens(envelope: Envelope, limit: Any) -> Violation:
    """``too_many_total_tokens``: more tokens of prompt and answer than the limit, or the answer does not say how many."""
    read, written = envelope["usage"]["input_tokens"], envelope["usage"]["output_tokens"]
    if read is not None and written is not None and read + written <= limit:
        return None
    return {"input_tokens": read, "output_tokens": written}


def max_cost_usd(envelope: Envelope, limit: Any, cost: float | None) -> Violation:
    """``too_costly``: it cost more US dollars than the limit, or that cannot be told."""
    del envelope  # what an answer costs is told with its price
    return {"cost_usd": cost} if cost is None or cost > limit + 1e-9 else None


def max_latency_ms(envelope: Envelope, limit: Any) -> Violation:
    """``too_slow``: the recorded call took longer than the limit, or how long is not recorded."""
    took = envelope["latency_ms"]
    # Nobody is called while grading: the latency is that of the call which recorded the answer, and says so.
    return {"latency_ms": took, "replayed": True} if took is None or took > limit else None


def finish_reason(envelope: Envelope, argument: Any) -> Violation:
    """``unexpected_finish_reason``: the answer ended for another reason."""
    wanted = [argument] if isinstance(argument, str) else list(argument)
    return None if envelope["finish_reason"] in wanted else {"finish_reason": envelope["finish_reason"]}


def refusal(envelope: Envelope, wanted: Any) -> Violation:
    """``refusal_differs``: the answer is a refusal and must not be one, or the other way round, or it is empty."""
    if envelope["refusal"] != wanted:
        return {"refusal": envelope["refusal"]}
    return EMPTY if not wanted and is_blank(envelope) else None
