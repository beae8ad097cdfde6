"""When the next call to a target may start: its rates, and a back-off that all its calls share."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

_MINUTE_S = 60.0
Sleep = Callable[[float], Awaitable[None]]


class Pace:
    """The pace of one target.

    Calls are spread evenly: a rate of 60 requests a minute starts one each second, and never all of them at once. Tokens are
    counted as estimated when a call starts and set right when its usage is known.
    """

    def __init__(
        self,
        requests_per_minute: float | None,
        tokens_per_minute: float | None,
        sleep: Sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._request_s = 0.0 if requests_per_minute is None else _MINUTE_S / requests_per_minute
        self._token_s = 0.0 if tokens_per_minute is None else _MINUTE_S / tokens_per_minute
        self._sleep = sleep
        self._clock = clock
        self._held = 0.0
        self._next_request = 0.0
        self._next_token = 0.0

    async def wait(self, tokens: int, reached: float = 0.0) -> None:
        """Wait until a call may start.

        Args:
            tokens: how many the call will need, estimated.
            reached: a time of the clock that the caller has waited for already.
        """
        now = max(self._clock(), reached)
        start = self._place(now, tokens)
        while start > now:
            await self._sleep(start - now)
            now = start
            if self._held > now:  # held meanwhile: it lines up again, or all that were held would start at once
                start = self._place(now, tokens)

    def _place(self, now: float, tokens: int) -> float:
        """Take the next free place and return its time."""
        start = max(now, self._held, self._next_request, self._next_token)
        self._next_request = start + self._request_s
        self._next_token = start + tokens * self._token_s
        return start

    def hold(self, seconds: float) -> float:
        """Keep all calls back for some seconds and return the time of the clock until when."""
        until = self._clock() + seconds
        self._held = max(self._held, until)
        return until

    def settle(self, estimated: int, used: int) -> None:
        """Set right how many tokens a call needed."""
        self._next_token += (used - estimated) * self._token_s
