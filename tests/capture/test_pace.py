"""When calls start: rates, and a back-off that all calls to a target share. Time passes only where a test lets it."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Coroutine
from typing import Any

import pytest

from capture.pace import Pace
from tests.capture.conftest import NOON, Project, outcomes
from tests.capture.server import Asked, ModelServer, Say, say, say_json


class Clock:
    """A clock that jumps to the next moment at which somebody wakes."""

    def __init__(self) -> None:
        self.now = 0.0
        self._sleeping: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = itertools.count()

    async def sleep(self, seconds: float) -> None:
        wakes = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleeping, (self.now + seconds, next(self._count), wakes))
        await wakes

    def run(self, *parts: Coroutine[Any, Any, None]) -> None:
        asyncio.run(self._run(parts))

    async def _run(self, parts: tuple[Coroutine[Any, Any, None], ...]) -> None:
        tasks = [asyncio.create_task(part) for part in parts]
        while not all(task.done() for task in tasks):
            for _ in range(5):
                await asyncio.sleep(0)  # let everybody run who can
            if self._sleeping:
                self.now, _, wakes = heapq.heappop(self._sleeping)
                wakes.set_result(None)
        await asyncio.gather(*tasks)


def starts(clock: Clock, pace: Pace, *tokens: int, hold: tuple[float, float] | None = None) -> list[float]:
    """Return when calls of so many tokens start; ``hold`` is a moment, and for how long all are held then."""
    found: list[float] = []

    async def call(needs: int) -> None:
        await pace.wait(needs)
        found.append(clock.now)

    async def holds(at: float, seconds: float) -> None:
        await clock.sleep(at)
        pace.hold(seconds)

    clock.run(*(call(needs) for needs in tokens), *([holds(*hold)] if hold else []))
    return found


def paced(clock: Clock, requests: float | None = None, tokens: float | None = None) -> Pace:
    return Pace(requests, tokens, clock.sleep, lambda: clock.now)


def test_requests_are_spread_over_the_minute() -> None:
    """30 a minute are one each two seconds, the first at once."""
    clock = Clock()

    assert [0.0, 2.0, 4.0, 6.0] == starts(clock, paced(clock, requests=30), 1, 1, 1, 1)


def test_tokens_are_spread_over_the_minute() -> None:
    """600 a minute are ten a second: a call of 50 keeps the next one back for five."""
    clock = Clock()

    assert [0.0, 5.0, 6.0, 16.0] == starts(clock, paced(clock, tokens=600), 50, 10, 100, 1)


def test_the_slower_of_two_rates_counts() -> None:
    """One request a second, ten tokens a second."""
    clock = Clock()

    assert [0.0, 1.0, 3.0] == starts(clock, paced(clock, requests=60, tokens=600), 5, 20, 5)


def test_without_rates_nobody_waits() -> None:
    """The default."""
    clock = Clock()

    assert [0.0, 0.0, 0.0] == starts(clock, paced(clock), 1000, 1000, 1000)


def test_tokens_that_were_not_used_are_given_back() -> None:
    """100 were estimated and 20 used: the next call waits two seconds and not ten."""
    clock = Clock()
    pace = paced(clock, tokens=600)
    assert [0.0] == starts(clock, pace, 100)
    pace.settle(100, 20)

    assert [2.0] == starts(clock, pace, 1)


def test_a_hold_keeps_all_back_and_does_not_let_all_go_at_once() -> None:
    """Held at 1.5 s for 10 s: the rest goes on from 11.5 s, still one each second."""
    clock = Clock()

    assert [0.0, 1.0, 11.5, 12.5, 13.5] == starts(clock, paced(clock, requests=60), 1, 1, 1, 1, 1, hold=(1.5, 10.0))


def test_the_longer_of_two_holds_counts() -> None:
    """A short one does not end a long one."""
    clock = Clock()
    pace = paced(clock)
    pace.hold(10)
    pace.hold(2)

    assert [10.0] == starts(clock, pace, 1)


def test_a_call_that_has_waited_does_not_wait_again() -> None:
    """It waited for what it was told to wait, whatever the clock says."""
    clock = Clock()
    pace = paced(clock)
    reached = pace.hold(7)
    clock.run(pace.wait(1, reached))

    assert 0.0 == clock.now


def _two_targets(project: Project, server: ModelServer) -> None:
    other = f'[targets.other]\ntype = "openai"\nbase_url = "{server.url}"\nmodel = "other-1"\nendpoint = "other"'
    cases = [
        {"id": str(i), "prompt": str(i), "targets": [target]}
        for i, target in enumerate(["gpt", "gpt", "other", "other"])
    ]
    project.write(*cases, target="concurrency = 1", more=other)


def test_a_429_holds_all_calls_to_its_target_and_to_no_other(project: Project, server: ModelServer) -> None:
    """Retry-After of 9 s: the call that got it waits once, the next one of its target too, the other target's never."""
    told: list[str] = []

    def reply(asked: Asked) -> Say:
        told.append(asked.json["model"])
        is_first = asked.json["model"] == "tiny-1" and told.count("tiny-1") == 1
        return say_json({"error": "slow down"}, 429, Retry_After="9") if is_first else say("ok")

    server.fallback = reply
    _two_targets(project, server)

    assert ["recorded"] * 4 == outcomes(project.capture())
    # The time of the test does not pass by sleeping, so the second call of the target still sees the rest of the hold.
    assert [9.0, pytest.approx(9.0, abs=1.0)] == project.pauses


def test_a_date_in_retry_after_is_counted_from_now(one: Project, server: ModelServer) -> None:
    """NOON is 2025-11-30T12:00:00Z."""
    assert NOON == one.second
    server.replies = [say_json({"error": "later"}, 503, Retry_After="Sun, 30 Nov 2025 12:00:31 GMT"), say("ok")]

    assert ["recorded"] == outcomes(one.capture())
    assert [31.0] == one.pauses


def test_a_run_keeps_the_rates_of_its_target(project: Project) -> None:
    """Six requests a minute: the second call starts ten seconds after the first."""
    project.write(
        {"id": "a", "prompt": "a"}, {"id": "b", "prompt": "b"}, target="requests_per_minute = 6\nconcurrency = 1"
    )

    assert ["recorded", "recorded"] == outcomes(project.capture())
    assert [pytest.approx(10.0, abs=1.0)] == project.pauses
