"""A grading worker: a process of its own that reads snapshots, runs graders with the world closed, and answers in chunks.

It speaks length-prefixed JSON over what were its standard streams; graders that print do so to the parent's standard error.
The first message sets it up, each further one is a chunk of rows; it ends when its input does.
"""

from __future__ import annotations

import gc
import os
import signal
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from golden import loader
from grade.loop import Bench, unjudged
from grade.purity import Guard
from snapshots.errors import ConfigError, CorruptSnapshot, StoreError, WhichclockError
from snapshots.snapshot import read as read_snapshot
from snapshots.store import read_bytes

_HEAD = struct.Struct(">I")
FACTS = (
    "status", "error", "findings", "evidence", "graders", "grader_digest", "request_hash", "answer_hash", "answer_rule", "integrity",
    "recorded_at", "reported_model", "finish_reason", "input_tokens", "output_tokens", "latency_ms",
)  # fmt: skip


TAMPERED_EXIT = 70
TAMPERED = "it changed whichclock's own code"
_OURS = ("snapshots", "golden", "grade")


def send(stream: BinaryIO, message: Any) -> None:
    """Write one message."""
    data = orjson.dumps(message)
    stream.write(_HEAD.pack(len(data)) + data)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Read one message, or ``None`` at the end of the stream, be it between messages or within one."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    (size,) = _HEAD.unpack(head)
    data = stream.read(size)
    return orjson.loads(data) if len(data) == size else None


def _end_with_parent() -> None:
    """Ask the kernel to end this process with its parent: a grader that loops would not see that its input has ended."""
    if sys.platform == "linux":
        import ctypes

        set_death_signal = 1  # PR_SET_PDEATHSIG, linux/prctl.h
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


def main() -> None:
    """Serve one parent until it closes our input."""
    _end_with_parent()
    messages, answers = _take_streams()
    end = os._exit
    setup = receive(messages)
    if setup is None:
        return
    guard = Guard(setup["timeout_s"], setup["memory_mb"], setup["root"])
    guard.install()
    own = _own_code()
    try:
        graders = loader.load(Path(setup["root"]), [Path(f) for f in setup["graders"]], guard.importing)
        graders.find(setup["names"])
        if not _is_untouched(own):
            raise ConfigError(
                f"a grader module cannot be used: {TAMPERED}", hint="graders are pure functions; take that out"
            )
    except WhichclockError as error:
        send(answers, {"error": _sendable(error.message), "hint": _sendable(error.hint)})
        return
    guard.limit_memory()
    gc.collect()
    gc.freeze()  # what is loaded by now lives as long as the process; scanning it again costs more than grading
    gc.set_threshold(50_000, 20, 20)
    send(
        answers,
        {
            "digests": {name: g.digest for name, g in graders.by_name.items()},
            "sources": graders.sources if setup["want_sources"] else {},
            "runtime": graders.runtime,
        },
    )
    bench = Bench(graders.by_name, guard)
    while (chunk := receive(messages)) is not None:
        graded = _grade_chunk(bench, chunk)
        if not _is_untouched(own):
            end(TAMPERED_EXIT)  # nothing that this process says can be trusted any more
        send(answers, graded)


Own = list[tuple[Mapping[str, Any], str, int]]


def _own_code() -> Own:
    """Return what identifies our code as it stands: each name of our modules and classes, and the object behind it."""
    own: Own = []
    for name, module in list(sys.modules.items()):
        if name.split(".", 1)[0] in _OURS:
            own += [(vars(module), member, id(value)) for member, value in vars(module).items()]
            for value in vars(module).values():
                if isinstance(value, type) and value.__module__ == name:
                    own += [(vars(value), part, id(item)) for part, item in vars(value).items()]
    return own


def _is_untouched(own: Own) -> bool:
    """Tell whether every name still stands for the object that it stood for."""
    return all(id(names.get(name)) == known for names, name, known in own)


def _sendable(text: str) -> str:
    """Return text that UTF-8 can hold: exceptions of foreign code may say anything."""
    return text.encode("utf-8", "replace").decode()


def _take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep the protocol's streams for ourselves and give graders an empty input and the parent's error stream."""
    messages, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    return messages, answers


def _grade_chunk(bench: Bench, chunk: Any) -> dict[str, list[Any]]:
    """Grade a chunk and return its facts column by column: fewer names to write and to read than row by row."""
    expectations: list[str] = chunk["expectations"]
    columns: dict[str, list[Any]] = {name: [] for name in FACTS}
    for expectation, path, folder, name, shown in chunk["rows"]:
        facts = _grade_file(bench, expectations[expectation], path, folder, name, shown)
        for column, values in columns.items():
            values.append(facts.get(column))
    return columns


def _grade_file(bench: Bench, expectation: str, path: str, folder: str, name: str, shown: str) -> dict[str, Any]:
    try:
        snapshot = read_snapshot(read_bytes(path), folder=folder, name=name, path=shown)
    except (CorruptSnapshot, StoreError) as error:
        return unjudged(error)
    facts = bench.grade(snapshot, expectation)
    facts["request_hash"] = snapshot.request_hash
    facts["answer_hash"] = snapshot.answer_hash
    facts["answer_rule"] = snapshot.answer_rule
    facts["integrity"] = snapshot.integrity
    facts["recorded_at"] = snapshot.recorded_at
    return facts
