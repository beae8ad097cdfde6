"""Streams that say nothing of tokens: chat completions report their usage in a stream only where the request asks for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from golden.model import Planned, Suite
from golden.render import Rendered

_CHECKS = frozenset({"max_tokens", "max_input_tokens", "max_total_tokens", "max_cost_usd"})
_REMEDY = "params = { stream_options = { include_usage = true } }"


def unmetered(suite: Suite, pairs: Iterable[tuple[Planned, Rendered]]) -> Iterator[str]:
    """Yield a warning for each target whose streams hide what a check or a price needs to know.

    Args:
        suite: the suite.
        pairs: rows with their requests; trials of one case count once.
    """
    counts: Counter[str] = Counter()
    for planned, request in pairs:
        target = planned.target
        if planned.trial == 0 and target.type == "openai" and _is_unmetered(request):
            is_checked = any(name in _CHECKS for check in planned.case.checks for name in check)
            counts[target.name] += is_checked or bool(suite.prices)
    for name, count in counts.items():
        if count:
            requests = "1 request is" if count == 1 else f"{count} requests are"
            yield (
                f"target {name}: {requests} streamed without usage, so that no check of tokens or cost can hold and "
                f"no price applies; ask for it: {_REMEDY}"
            )


def _is_unmetered(request: Rendered) -> bool:
    body = request.document.get("body")
    if not isinstance(body, dict) or body.get("stream") is not True:
        return False
    options = body.get("stream_options")
    return not (isinstance(options, dict) and options.get("include_usage") is True)
