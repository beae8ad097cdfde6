"""The purity guard: while a grader runs, the world is closed.

Audit hooks cannot be taken out again once set, so the guard lives in worker processes only. It is a seat belt and says so: it stops what a
grader does by mistake, with a readable message, and records it even where the grader swallows the error. Native code and deliberate tricks
need the kernel to stop them.

- files, sockets, processes, threads, signals, ctypes: refused by audit event;
- environment: emptied;
- clock: frozen at the case's ``context.now``, monotonic clocks stand still;
- randomness: seeded from the request hash before each call, ``os.urandom`` included;
- processor time and memory: limited.
"""

from __future__ import annotations

import _thread
import builtins
import importlib
import inspect
import os
import platform
import resource
import signal
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NoReturn

from golden.chance import Chance
from golden.closed_call import EPOCH

# Kept by value: the names in their modules are replaced for graders.
_setitimer = signal.setitimer

_OPEN, _IMPORTING, _CLOSED = 0, 1, 2

# Events that touch the world, by prefix. ``import`` and ``open`` are judged apart.
_REFUSED = (
    "socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile", "os.kill", "os.listdir",
    "os.scandir", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown",
    "os.chdir", "os.fchdir", "os.utime", "os.putenv", "os.unsetenv", "os.setxattr", "os.getxattr", "os.listxattr", "os.removexattr",
    "os.walk", "os.fwalk", "os.lockf", "os.add_dll_directory", "shutil.", "tempfile.", "glob.", "pathlib.Path.", "ctypes.", "urllib.",
    "http.", "ftplib.", "smtplib.", "imaplib.", "poplib.", "telnetlib.", "nntplib.", "webbrowser.", "sqlite3.connect", "mmap.",
    "fcntl.", "resource.setrlimit", "pty.spawn", "syslog.", "sys.addaudithook",
    "sys.set", "sys._current_frames", "gc.get_objects", "winreg.", "_winapi.", "msvcrt.", "marshal.load", "pickle.find_class",
    "code.__new__", "cpython.run_", "builtins.input",
)  # fmt: skip
# What reads and writes by the number of a descriptor raises no event.
_DESCRIPTORS = ("write", "read", "pwrite", "pread", "writev", "readv", "sendfile", "dup2", "memfd_create")
# What looks at files without opening them raises none either. Imports look by another way.
_LOOKS = ("stat", "lstat", "access", "readlink", "statvfs")
_WHILE_IMPORTING = ("signal.", "time.", *(f"os.{name}" for name in _LOOKS))
_NOWHERE = ("Linux", "localhost", "0", "0", "machine")
_ALLOWED = frozenset({"pickle.find_class", "marshal.loads", "marshal.load"})


class RefusedError(PermissionError):
    """A grader tried to touch the world."""


class OutOfTime(BaseException):
    """A grader used up its processor time. No ``Exception``, so that a grader's own handlers let it pass."""


class Guard:
    """The guard of one worker process. ``install`` once, then ``importing`` and ``closed`` around foreign code."""

    def __init__(self, timeout_s: float, memory_mb: int, root: str = "") -> None:
        self.timeout_s = timeout_s
        self.memory_mb = memory_mb
        self.violation = ""
        self._stand_still_s = max(60.0, 10 * timeout_s)
        self._root = root
        self._level = _OPEN
        self._opened: set[str] = set()
        self._is_late = False
        self._now = EPOCH
        self._clock: Any = None
        self._chance = Chance()

    def install(self) -> None:
        """Close the environment, freeze the clock, seed randomness, and set the audit hook. Call before loading graders."""
        os.environ.clear()
        os.environ["TZ"] = "UTC"  # without it local time would be the machine's
        time.tzset()
        self._freeze_clock()
        self._chance.install()
        signal.signal(signal.SIGPROF, self._out_of_time)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._allow_late_imports()
        self._refuse_silent_doors()
        self._hide_machine()
        sys.addaudithook(self._audit)

    def limit_memory(self) -> None:
        """Allow ``memory_mb`` MiB more address space than the process has now. Call after loading graders."""
        try:
            with open("/proc/self/statm", encoding="ascii") as file:
                pages = int(file.read().split()[0])
        except OSError:
            return  # no /proc: macOS does not enforce RLIMIT_AS either
        limit = pages * resource.getpagesize() + self.memory_mb * 2**20
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))

    @contextmanager
    def importing(self) -> Generator[set[str]]:
        """Let files be read, nothing else, and yield the set of paths that are."""
        self._opened = set()
        self._level = _IMPORTING
        try:
            yield self._opened
        finally:
            self._level = _OPEN

    def close(self, request_hash: str, now: str) -> None:
        """Close the world for one call of a grader: fix the seed and the clock, start counting processor time."""
        self._chance.seed(bytes.fromhex(request_hash))
        if now != self._now:
            self._set_clock(now)
        self.violation = ""
        # Python stops the grader at the first limit; the second ends the process where C code does not come back.
        _setitimer(signal.ITIMER_PROF, self.timeout_s)
        _setitimer(signal.ITIMER_VIRTUAL, self.timeout_s * 2 + 1)
        _setitimer(signal.ITIMER_REAL, self._stand_still_s)  # for what waits and uses no processor time
        self._level = _CLOSED

    def open(self) -> None:
        """Open the world again after a call."""
        self._level = _OPEN
        _setitimer(signal.ITIMER_PROF, 0)
        _setitimer(signal.ITIMER_VIRTUAL, 0)
        _setitimer(signal.ITIMER_REAL, 0)

    def _out_of_time(self, _signal: int, _frame: Any) -> None:
        if self._level == _CLOSED:
            self.violation = f"it used more than {self.timeout_s:g} s of processor time"
            raise OutOfTime

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        level = self._level
        if level == _OPEN:
            return
        if event == "open":
            self._audit_open(args, level)
        elif event.startswith(_REFUSED) and event not in _ALLOWED and not (level == _IMPORTING and _harmless(event)):
            self._refuse(f"{event}{_first(args)}")

    def _audit_open(self, args: tuple[Any, ...], level: int) -> None:
        path, mode, flags = (*args, None, None)[:3]
        writes = (isinstance(mode, str) and any(c in mode for c in "wax+")) or (
            mode is None and isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        )
        if level == _CLOSED or writes or not isinstance(path, str | bytes | os.PathLike):
            self._refuse(f"open{_first(args)}")
        real = os.path.realpath(os.fsdecode(path))
        inside = real.startswith(self._root + os.sep)
        if self._is_late and inside and not real.endswith((".py", ".pyc", ".so", ".pyd")) and not _is_installed(real):
            # What is read after the digest was taken could change without moving it.
            self._refuse(f"open{_first(args)} in a late import")
        if not inside and not _is_installed(real) and _project_code_opens(self._root):
            self._refuse(f"open{_first(args)} outside the project")
        self._opened.add(real)

    def _refuse(self, what: str) -> NoReturn:
        self.violation = self.violation or f"it touched the world: {what}"
        raise RefusedError(f"graders are pure functions: {what} is refused; put what it reads into the case's context")

    def _allow_late_imports(self) -> None:
        """Let a grader import inside a function: files may be read while that lasts, nothing else."""

        def reading(load: Callable[..., Any]) -> Callable[..., Any]:
            def loading(*args: Any, **kwargs: Any) -> Any:
                if self._level != _CLOSED:
                    return load(*args, **kwargs)
                self._level, self._is_late = _IMPORTING, True
                try:
                    return load(*args, **kwargs)
                finally:
                    self._level, self._is_late = _CLOSED, False

            return loading

        builtins.__import__ = reading(builtins.__import__)
        importlib.import_module = reading(importlib.import_module)

    def _refuse_silent_doors(self) -> None:
        """Refuse what raises no audit event on every supported Python: threads, sleeping, and the signals that end a grader."""
        doors: list[tuple[Any, str]] = [(os, name) for name in (*_DESCRIPTORS, *_LOOKS)]
        doors += [(time, "sleep"), (_thread, "start_new_thread"), (_thread, "start_joinable_thread")]
        doors += [(threading, "_start_new_thread"), (threading, "_start_joinable_thread")]
        doors += [
            (signal, name)
            for name in ("signal", "setitimer", "alarm", "raise_signal", "pthread_kill", "pthread_sigmask")
        ]
        for module, name in doors:
            if hasattr(module, name):
                setattr(module, name, self._door(f"{module.__name__}.{name.lstrip('_')}", getattr(module, name)))

    def _hide_machine(self) -> None:
        """Give graders the same answers on every machine where a question about it raises no event."""
        answers: dict[str, Any] = {
            "getpid": 1,
            "getppid": 0,
            "cpu_count": 1,
            "getloadavg": (0.0, 0.0, 0.0),
            "getlogin": "grader",
        }
        for name, value in answers.items():
            if hasattr(os, name):
                setattr(os, name, self._constant(getattr(os, name), value))
        if hasattr(os, "uname"):
            os.uname = self._constant(os.uname, os.uname_result(_NOWHERE))
        platform.uname = self._constant(platform.uname, platform.uname_result(*_NOWHERE))  # it keeps its first answer

    def _constant(self, function: Callable[..., Any], value: Any) -> Callable[..., Any]:
        def constant(*args: Any, **kwargs: Any) -> Any:
            return value if self._level == _CLOSED else function(*args, **kwargs)

        return constant

    def _door(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def door(*args: Any, **kwargs: Any) -> Any:
            # Packages may set signals and look for files while they are imported; a thread begun then would outlive the import.
            if self._level == _CLOSED or (self._level == _IMPORTING and not name.startswith(_WHILE_IMPORTING)):
                self._refuse(name)
            return function(*args, **kwargs)

        return door

    def _freeze_clock(self) -> None:
        time_machine = _time_machine()
        # Both kinds of clocks: the calendar by the library, the stop-watches by hand; none may tell two runs apart.
        self._clock = time_machine.travel(_instant(self._now), tick=False).start()
        for name in ("monotonic", "perf_counter", "process_time", "thread_time"):
            setattr(time, name, lambda: 0.0)
            setattr(time, f"{name}_ns", lambda: 0)

    def _set_clock(self, now: str) -> None:
        self._clock.move_to(_instant(now))
        self._now = now


_INSTALLED = tuple(
    {os.path.realpath(p) + os.sep for p in (*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix)}
)


def _is_installed(path: str) -> bool:
    """Tell whether a file belongs to the Python installation or its packages."""
    return path.startswith(_INSTALLED)


def _project_code_opens(root: str) -> bool:
    """Tell whether a module of the project opens the file itself, and not a package that it imports."""
    frame = inspect.currentframe()
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        if frame.f_code.co_filename.startswith(root + os.sep) and not _is_installed(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False


def _time_machine() -> Any:
    """Import the clock library without what it only offers to tests: those imports cost more than all others of a worker."""
    extras = {name: sys.modules.get(name) for name in ("pytest", "dateutil.parser")}
    sys.modules.update(dict.fromkeys(extras, None))  # type: ignore[arg-type]
    try:
        import time_machine
    finally:
        for name, module in extras.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
    return time_machine


def _instant(text: str) -> datetime:
    """Return the instant of an RFC 3339 text; one without an offset is UTC."""
    instant = datetime.fromisoformat(text)
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def _harmless(event: str) -> bool:
    # Importing a module may list folders and load libraries; it may not call anybody or change anything.
    return event.startswith(
        ("os.listdir", "os.scandir", "marshal.", "code.__new__", "sys.set", "ctypes.dlopen", "ctypes.dlsym", "mmap.")
    )


def _first(args: tuple[Any, ...]) -> str:
    if not args or not isinstance(args[0], str | bytes | os.PathLike):
        return ""
    return f" {os.fsdecode(args[0])[:120]!r}"
