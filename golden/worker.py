"""A worker: a process of its own that loads a suite's graders with the world closed and answers messages until its input ends.

The first message sets it up, each further one is work; graders that print do so to the parent's standard error.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Mapping
from operator import is_
from pathlib import Path
from typing import Any

from golden import loader, lockdown
from golden.channel import receive, send, take_streams
from golden.loader import Graders
from golden.purity import Guard
from snapshots.errors import ConfigError, WhichclockError

TAMPERED_EXIT = 70
TAMPERED = "it changed whichclock's own code"
_OURS = ("snapshots", "golden", "grade")
# What our code calls by name while it judges.
_USED = ("builtins", "hashlib", "json", "math", "orjson", "re", "unicodedata")

Handle = Callable[[Any], Any]
"""Answers one message of work."""
MakeHandle = Callable[[dict[str, Any], Graders, Guard], Handle]


def serve(make: MakeHandle) -> None:
    """Serve one parent until it closes our input.

    Args:
        make: called once the graders are loaded, with the set-up message, the graders and the guard.
    """
    _end_with_parent()
    messages, answers = take_streams()
    end, is_untouched = os._exit, _untouched()
    setup = receive(messages)
    if setup is None:
        return
    guard = Guard(setup["timeout_s"], setup["memory_mb"], setup["root"])
    guard.install()
    own = _own_code()
    try:
        graders = loader.load(Path(setup["root"]), [Path(f) for f in setup["graders"]], guard.importing)
        graders.find(setup["names"])
        if not is_untouched(own):
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
    handle = make(setup, graders, guard)
    locks = lockdown.lock(read=_readable(setup, graders), list_only=[setup["root"]])
    send(answers, {**_hello(setup, graders), "locks": ["audit", *locks]})
    while (message := receive(messages)) is not None:
        answer = handle(message)
        if not is_untouched(own):
            end(TAMPERED_EXIT)  # nothing that this process says can be trusted any more
        send(answers, answer)


def _readable(setup: dict[str, Any], graders: Graders) -> list[str]:
    """Return what a worker still reads: Python and its packages, ours, the stores, and the modules of its graders."""
    root = Path(setup["root"])
    installed = [path for path in sys.path if path and Path(path).resolve() != root]
    ours = [str(Path(__file__).resolve().parent.parent / name) for name in _OURS]
    libraries = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"]
    return [
        *(path for path in installed if Path(path).resolve() != Path(__file__).resolve().parent.parent),
        *(sys.prefix, sys.base_prefix, *libraries),
        *ours,
        *setup["stores"],
        *(str(file) for file in sorted(graders.files)),
    ]


def _hello(setup: dict[str, Any], graders: Graders) -> dict[str, Any]:
    return {
        "digests": {name: g.digest for name, g in graders.by_name.items()},
        "sources": graders.sources if setup["want_sources"] else {},
        "runtime": graders.runtime,
    }


def _end_with_parent() -> None:
    """Ask the kernel to end this process with its parent: a grader that loops would not see that its input has ended."""
    if sys.platform == "linux":
        import ctypes

        set_death_signal = 1  # PR_SET_PDEATHSIG, linux/prctl.h
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


Names = tuple[Callable[[str], Any], tuple[str, ...], tuple[Any, ...]]
"""The look-up of a namespace, its names, and the objects that they stand for."""


def _own_code() -> list[Names]:
    """Return what our code is as it stands: the names of our modules and classes, and the objects behind them."""
    own: list[Names] = []
    for name, module in list(sys.modules.items()):
        if name in _USED:
            own.append(_names({member: value for member, value in vars(module).items() if callable(value)}, module))
        elif name.split(".", 1)[0] in _OURS:
            own.append(_names(vars(module), module))
            kinds = (value for value in vars(module).values() if isinstance(value, type) and value.__module__ == name)
            own += [_names(vars(kind), kind) for kind in kinds]
    return own


def _names(members: Mapping[str, Any], of: Any) -> Names:
    return vars(of).get, tuple(members), tuple(members.values())


def _untouched() -> Callable[[list[Names]], bool]:
    """Return what tells whether every name still stands for the object that it stood for.

    It holds all that it uses itself: no name is left that a grader could replace. It is asked after each chunk, about thousands of
    names, so what asks about a single one is C code.
    """
    every, each, same = all, map, is_

    def is_one_untouched(names: Names) -> bool:
        look_up, spelt, known = names
        return every(each(same, each(look_up, spelt), known))

    def is_untouched(own: list[Names]) -> bool:
        return every(each(is_one_untouched, own))

    return is_untouched


def _sendable(text: str) -> str:
    """Return text that UTF-8 can hold: exceptions of foreign code may say anything."""
    return text.encode("utf-8", "replace").decode()
