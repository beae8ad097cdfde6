"""The model server as a child process: started, waited for, and always stopped."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from snapshots.errors import OperatorError

_START_S = 120.0
_STOP_S = 10.0


@contextmanager
def running_model(log: Path) -> Generator[str]:
    """Run the model server and yield its URL. It is gone when the context ends, however it ends.

    Args:
        log: the file that gets what the server says.

    Raises:
        OperatorError: it did not start.
    """
    command = [sys.executable, "-P", "-m", "diff.model_server", "--with-parent"]
    with log.open("wb") as said:
        # A session of its own: Ctrl-C reaches us, and we stop the server after whoever is still talking to it.
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, start_new_session=True
        )
        try:
            yield _url(server, log)
        finally:
            _stop(server)


def _url(server: subprocess.Popen[bytes], log: Path) -> str:
    lines: list[bytes] = []
    reader = threading.Thread(target=_read_line, args=(server.stdout, lines), daemon=True)
    reader.start()
    reader.join(_START_S)
    if not lines or not lines[0]:
        last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        raise OperatorError(
            f"the model server did not start{f': {last[0]}' if last else ''}",
            hint="whichclock demo --replay shows the recorded answers instead",
        )
    return str(json.loads(lines[0])["url"])


def _read_line(stream: IO[bytes] | None, lines: list[bytes]) -> None:
    if stream is not None:
        lines.append(stream.readline())


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    for pipe in (server.stdin, server.stdout):
        if pipe is not None:
            pipe.close()
