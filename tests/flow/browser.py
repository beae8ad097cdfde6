"""A real Chromium by its own protocol (Chrome DevTools Protocol): what a page asks for, complains of, and does when it is used."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--remote-debugging-port=0", "about:blank",
]  # fmt: skip
_KEYS = {"Enter": "\r", " ": " ", "/": "/"}
_PATIENCE = 60


class Page:
    """A tab. ``errors`` are its complaints, ``requests`` the addresses that it asked for."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0
        self._session: str | None = None
        self._events: list[str] = []
        self.errors: list[str] = []
        self.requests: list[str] = []

    async def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result; what happens meanwhile is noted."""
        self._number += 1
        session = {"sessionId": self._session} if self._session else {}
        await self._socket.send_json({"id": self._number, "method": method, "params": parameters, **session})
        while True:
            message = await self._receive()
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]

    async def _receive(self) -> dict[str, Any]:
        message = await self._socket.receive_json(timeout=_PATIENCE)
        method, told = message.get("method", ""), message.get("params", {})
        self._events.append(method)
        if method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(str(told["exceptionDetails"]))
        elif method == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.errors.append(told["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "assert"):
            self.errors.append(str(told["args"]))
        return message

    async def open(self, path: Path, width: int) -> None:
        """Open a file in a tab of its own and wait until it is loaded."""
        target = await self.send("Target.createTarget", url="about:blank")
        attached = await self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            await self.send(f"{domain}.enable")
        screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 700}
        await self.send("Emulation.setDeviceMetricsOverride", **screen)
        self._events.clear()
        await self.send("Page.navigate", url=path.as_uri())
        while "Page.loadEventFired" not in self._events:
            await self._receive()

    async def value(self, expression: str) -> Any:
        """Return what an expression comes to."""
        done = await self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    async def press(self, key: str) -> None:
        """Press a key where the focus is."""
        text = {"text": _KEYS[key]} if key in _KEYS else {}
        code = {"Enter": 13, "Escape": 27, " ": 32, "Tab": 9}.get(key, ord(key[0]))
        await self.send("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        await self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)


@asynccontextmanager
async def opened(path: Path, profile: Path, width: int = 1280) -> AsyncIterator[Page]:
    """Open a file in a browser of its own, which ends with the block."""
    assert CHROMIUM is not None
    process = await asyncio.create_subprocess_exec(
        CHROMIUM,
        f"--user-data-dir={profile}",
        *_FLAGS,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        address = await asyncio.wait_for(_address(process), _PATIENCE)
        async with aiohttp.ClientSession() as client, client.ws_connect(address, max_msg_size=0) as socket:
            page = Page(socket)
            await page.open(path, width)
            yield page
    finally:
        process.kill()
        await process.communicate()


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    async for line in process.stderr:
        if line.startswith(b"DevTools listening on "):
            return line.decode().split()[-1]
    raise AssertionError("the browser did not say where it listens")
