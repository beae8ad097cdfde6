"""What a capture is told beside the suite: the mode, the limits, and the seams that tests replace."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from capture.modes import Mode
from snapshots import instant

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from capture.phase import Asks, Todo
    from capture.result import Outcome
    from capture.transport import Transport


def _nobody_watches(outcome: Outcome) -> None:
    """Take no notice: the default of ``on_done``."""


def _nobody_waits(rows: int) -> None:
    """Take no notice: the default of ``on_asking``."""


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """Options of one capture.

    Attributes:
        mode: whether the store answers, the target, or both.
        judges: the mode for what graders ask; ``None`` is ``auto``, but for ``replay`` and ``off``, which it follows.
        max_calls: calls of the whole run, retries included; ``None`` is no limit.
        max_cost: US dollars that the run may cost by the suite's prices; ``None`` is no limit.
        concurrency: open calls over all targets; ``None`` leaves it to each target's own limit.
        resume: the log of an earlier capture whose answers are not asked for again.
        environ: where ``{{ env.X }}`` is looked up; ``None`` is the environment of the process.
        max_response_bytes: larger answers are refused; ``None`` leaves it to the suite.
        sleep: how the time between two attempts passes (seconds).
        now: the current UTC second since 1970.
        transport: makes what sends; ``None`` is HTTP. It is called once a run, and only if something has to be asked.
        asker: makes what answers instead of the targets; ``None`` asks them.
        control: the REF whose old requests are asked again; it is written into the log.
        on_asking: called before anybody is asked, with the number of rows that this will answer; several times a run.
        on_done: called once for each row, with its outcome, in the thread that called ``capture``.
    """

    mode: Mode = Mode.AUTO
    judges: Mode | None = None
    max_calls: int | None = None
    max_cost: float | None = None
    concurrency: int | None = None
    resume: Path | None = None
    environ: Mapping[str, str] | None = None
    max_response_bytes: int | None = None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    now: Callable[[], int] = instant.now
    transport: Callable[[], Transport] | None = None
    asker: Callable[[Todo], AbstractAsyncContextManager[Asks]] | None = None
    control: str | None = None
    on_asking: Callable[[int], None] = _nobody_waits
    on_done: Callable[[Outcome], None] = _nobody_watches
