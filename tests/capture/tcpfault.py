"""A proxy on the loopback that breaks connections below HTTP: cut, reset, stalled, slow, late and refused.

What a proxy of another make would do, in a thread of its own, so that it stands before any server. Faults act on the bytes
that come back from the server.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

_CHUNK = 256


@dataclass
class Fault:
    """What happens to a connection.

    Attributes:
        cut: the connection ends in order after so many bytes.
        rst: it is reset after so many bytes.
        stall: nothing more comes after so many bytes, and the connection stays open.
        rate: bytes a second.
        latency: seconds before the first byte.
        refuse: it is reset before anything is read.
    """

    cut: int | None = None
    rst: int | None = None
    stall: int | None = None
    rate: float | None = None
    latency: float = 0.0
    refuse: bool = False


class Proxy:
    """Stands before a server. The next connections meet ``faults`` one by one, and those after them ``then``."""

    def __init__(self, port: int) -> None:
        self.faults: list[Fault] = []
        self.then = Fault()
        self.connections = 0
        self._upstream = port
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(10)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.port: int = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopped.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        fault = self.faults.pop(0) if self.faults else self.then
        try:
            if fault.refuse:
                _reset(writer)
            else:
                await self._pass_on(reader, writer, fault)
        except (OSError, asyncio.CancelledError):
            return
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, fault: Fault) -> None:
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self._upstream)
        asking = asyncio.create_task(_copy(reader, to_server))
        try:
            await _answer(from_server, writer, fault)
        finally:
            asking.cancel()
            to_server.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, fault: Fault) -> None:
    """Hand on what the server says, until the fault ends it."""
    sent = 0
    limits = [limit for limit in (fault.cut, fault.rst, fault.stall) if limit is not None]
    while data := await reader.read(_CHUNK):
        if not sent:
            await asyncio.sleep(fault.latency)
        if limits and sent + len(data) >= limits[0]:
            writer.write(data[: limits[0] - sent])
            await writer.drain()
            await _break_off(writer, fault)
            return
        writer.write(data)
        await writer.drain()
        sent += len(data)
        if fault.rate is not None:
            await asyncio.sleep(len(data) / fault.rate)


async def _break_off(writer: asyncio.StreamWriter, fault: Fault) -> None:
    if fault.stall is not None:
        await asyncio.Event().wait()
    if fault.rst is not None:
        _reset(writer)


def _reset(writer: asyncio.StreamWriter) -> None:
    """End a connection without an orderly close: the other side sees a reset."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@contextmanager
def proxy(port: int) -> Iterator[Proxy]:
    """Run a proxy before a port of the loopback for the length of a block."""
    made = Proxy(port)
    made.start()
    try:
        yield made
    finally:
        made.stop()
