"""Ctrl-C and SIGTERM: stop asking, keep what was answered."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stops_on_signals(stop: Callable[[], None]) -> Generator[None]:
    """Call ``stop`` in the running loop at the first interrupt; a second one ends the process as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python hands signals to the main thread alone
        return
    loop = asyncio.get_running_loop()
    before: dict[signal.Signals, Any] = {}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)
        before.clear()

    def stopped(_number: int, _frame: Any) -> None:
        restore()
        loop.call_soon_threadsafe(stop)

    for number in _SIGNALS:
        before[number] = signal.signal(number, stopped)
    try:
        yield
    finally:
        restore()
