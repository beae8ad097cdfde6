"""A scripted model server on the loopback, in a thread of its own: what it answers is a list, what it was asked is kept."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def prompt(self) -> str:
        return self.json["messages"][-1]["content"]


@dataclass
class Say:
    """One reply. ``cut`` ends the connection after that many bytes of the body, ``hang`` sends nothing and waits."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    reset: bool = False
    hang: bool = False
    length: int | None = None


def completion(text: str | None, model: str = "tiny-1", finish: str = "stop", **message: Any) -> dict[str, Any]:
    """Return the body of a chat completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }


def say(text: str | None, **parts: Any) -> Say:
    """Return a reply with a chat completion."""
    return say_json(completion(text, **parts))


def say_json(value: Any, status: int = 200, **headers: str) -> Say:
    """Return a reply with a JSON body; underscores in header names stand for hyphens."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Say(json.dumps(value).encode(), status, {"Content-Type": "application/json", **named})


def echo(asked: Asked) -> Say:
    """Answer with the prompt's own text."""
    return say(f"you said: {asked.prompt}")


class ModelServer:
    """Answers by a script: the next of ``replies`` while there are any, then what ``fallback`` says."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.replies: list[Say] = []
        self.fallback: Callable[[Asked], Say] = echo
        self.most_open = 0
        self.on_asked: Callable[[int], None] = lambda count: None
        self.delay_s = 0.0
        self._open = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(10)

    def stop(self) -> None:
        if not self._thread.is_alive():
            return
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._stopped = asyncio.Event()
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
        try:
            while asked := await _read(reader):
                self._open += 1
                self.most_open = max(self.most_open, self._open)
                self.asked.append(asked)
                self.on_asked(len(self.asked))
                reply = self.replies.pop(0) if self.replies else self.fallback(asked)
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                more = await _write(writer, reply)
                self._open -= 1
                if not more:
                    break
        except (ConnectionError, asyncio.CancelledError):
            return
        finally:
            writer.close()
            self._tasks.discard(task)


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    method, path, _ = head[0].split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(method, path, headers, body)


async def _write(writer: asyncio.StreamWriter, reply: Say) -> bool:
    if reply.hang:
        await asyncio.Event().wait()
    if reply.reset:
        writer.transport.abort()
        return False
    length = {"Content-Length": str(reply.length if reply.length is not None else len(reply.body))}
    headers = {**({} if "Transfer-Encoding" in reply.headers else length), **reply.headers}
    lines = [f"HTTP/1.1 {reply.status} Scripted", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    body = reply.body if reply.cut is None else reply.body[: reply.cut]
    writer.write("\r\n".join(lines).encode("utf-8") + body)
    await writer.drain()
    return reply.cut is None


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """Run a server for the length of a block."""
    server = ModelServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()
