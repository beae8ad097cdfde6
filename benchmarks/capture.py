"""capture: misses stored durably against a loopback server at 64 open calls, against the bare client; and replay hits.

python -m benchmarks.capture [CALLS]
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import aiohttp
import orjson

from benchmarks import measure
from capture.options import CaptureOptions
from capture.run import capture
from golden.model import Selection, Suite
from golden.render import render
from golden.suite import load_suite, select

OPEN = 64
SERVER = """
import asyncio, json, sys
DELAY = float(sys.argv[1])
MESSAGE = {"role": "assistant", "content": "word " * 340}
CHOICE = {"index": 0, "message": MESSAGE, "finish_reason": "stop"}
BODY = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [CHOICE],
    "usage": {"prompt_tokens": 9, "completion_tokens": 340}}).encode()
REPLY = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(BODY) + BODY
async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\\r\\n")[0])
            await reader.readexactly(length)
            if DELAY:
                await asyncio.sleep(DELAY)
            writer.write(REPLY)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


@contextmanager
def server(delay_s: float) -> Iterator[str]:
    """Run the loopback server in a process of its own."""
    with subprocess.Popen([sys.executable, "-c", SERVER, str(delay_s)], stdout=subprocess.PIPE, text=True) as process:
        if process.stdout is None:
            raise SystemExit("the server has no output")
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        process.kill()


def suite_of(root: Path, calls: int, url: str) -> Suite:
    """Write and load a suite of short prompts."""
    root.mkdir(parents=True)
    (root / "whichclock.toml").write_text(
        f'suite = "b"\ncases = ["c.jsonl"]\n[targets.m]\ntype = "openai"\nbase_url = "{url}"\nmodel = "m"\nconcurrency = {OPEN}\n'
    )
    with open(root / "c.jsonl", "wb") as file:
        for i in range(calls):
            messages = [{"role": "user", "content": f"{i} " + "word " * 60}]
            file.write(orjson.dumps({"id": f"c{i}", "request": {"messages": messages}}) + b"\n")
    return load_suite(root / "whichclock.toml")


async def bare(url: str, bodies: list[bytes]) -> None:
    """Post every body over the same client and read the answers."""
    gate = asyncio.Semaphore(OPEN)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def one(body: bytes) -> None:
            async with (
                gate,
                session.post(
                    f"{url}/chat/completions", data=body, headers={"content-type": "application/json"}
                ) as reply,
            ):
                await reply.read()

        await asyncio.gather(*map(one, bodies))


def run(suite: Suite, calls: int) -> float:
    """Capture a suite and return calls a second."""
    planned = select(suite, Selection())
    start = time.perf_counter()
    result = capture(suite, planned, CaptureOptions())
    seconds = time.perf_counter() - start
    if len(result.rows) != calls or any(row.error for row in result.rows):
        raise SystemExit("a call failed: nothing was measured")
    return calls / seconds


def rates(delay_s: float, calls: int, rounds: int = 3) -> tuple[float, float, float]:
    """Return the median rates of the bare client, of capture with misses, and of replay."""
    figures: list[tuple[float, float, float]] = []
    with server(delay_s) as url, tempfile.TemporaryDirectory() as folder:
        suite = suite_of(Path(folder).resolve() / "suite", calls, url)
        bodies = [render(suite, p.case, p.target).wire({}).body for p in select(suite, Selection())]
        for number in range(rounds):
            start = time.perf_counter()
            asyncio.run(bare(url, bodies))
            client = calls / (time.perf_counter() - start)
            fresh = replace(suite, snapshots=Path(folder) / f"store{number}")
            figures.append((client, run(fresh, calls), run(fresh, calls)))
    client, ours, replay = (statistics.median(column) for column in zip(*figures, strict=True))
    return client, ours, replay


def main() -> None:
    """Measure and print."""
    calls = measure.size(3000)
    for delay in (0.0, 0.05):
        client, ours, replay = rates(delay, calls)
        name = f"capture, misses, durable, server of {delay * 1000:.0f} ms"
        measure.show(measure.Result(name, ours, client, ours / client, 0.5, "/s", at_least=True))
        if not delay:
            measure.show(measure.Result("replay hits a second", replay, 5000, replay / 5000, 1, "/s", at_least=True))


if __name__ == "__main__":
    main()
