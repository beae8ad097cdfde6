"""What the kernel closes, on its own: each door is tried in a process that has no audit hook, only the locks."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from golden import lockdown
from tests.grade.conftest import Grade

ROOT = Path(__file__).resolve().parents[2]
PRELUDE = """
import sys
sys.path.append({root!r})
import ctypes, mmap, os, signal, socket, subprocess, threading
import _posixsubprocess
from golden import lockdown
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
held = lockdown.lock(read=[sys.prefix, sys.base_prefix, "/usr/lib", "/lib", "/lib64", {readable!r}], list_only=[{listed!r}])
print(*held)
try:
    {door}
except OSError as error:
    print("refused", error.errno)
else:
    print("open")
"""
NUMBERS = {**lockdown._NUMBERS.get(platform.machine(), {}), **lockdown._SHARED}

REFUSED = {
    "a TCP socket": "socket.socket()",
    "a UDP socket": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "a Unix socket": "socket.socket(socket.AF_UNIX)",
    "a socket pair": "socket.socketpair()",
    "a raw socket": "socket.socket(socket.AF_INET, socket.SOCK_RAW)",
    "a netlink socket": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "a socket by libc": "call(NUMBERS['socket'], 2, 1, 0)",
    "io_uring": "call(NUMBERS['io_uring_setup'], 8, ctypes.create_string_buffer(256))",
    "reading a file": "open('/etc/hostname').read()",
    "reading the environment of the process": "open('/proc/self/environ').read()",
    "reading another process": "open('/proc/%d/cmdline' % os.getppid()).read()",
    "reading a module beside the listed folder": "open({inside!r}).read()",
    "listing a folder": "os.listdir('/etc')",
    "writing a file": "open({new!r}, 'w')",
    "writing below a readable folder": "open({readable!r} + '/new', 'w')",
    "removing a file": "os.remove({inside!r})",
    "renaming a file": "os.rename({inside!r}, {new!r})",
    "a folder": "os.mkdir({new!r})",
    "a link": "os.link({inside!r}, {new!r})",
    "a symbolic link": "os.symlink('/etc/hostname', {new!r})",
    "a pipe in the file system": "os.mkfifo({new!r})",
    "cutting a file": "os.truncate({inside!r}, 0)",
    "another mode": "os.chmod({inside!r}, 0o600)",
    "another owner": "os.chown({inside!r}, 0, 0)",
    "other times": "os.utime({inside!r}, (1, 1))",
    "an attribute": "os.setxattr({inside!r}, 'user.x', b'1')",
    "a file in memory": "os.memfd_create('x')",
    "a process": "os.fork()",
    "a program": "os.execv('/bin/true', ['true'])",
    "a subprocess": "subprocess.run(['/bin/true'])",
    "a shell": "os.posix_spawn('/bin/sh', ['sh', '-c', 'true'], {{}})",
    "fork_exec, which raises no audit event": "fork_exec()",
    "a signal to the parent": "os.kill(os.getppid(), 0)",
    "a signal to a thread": "call(NUMBERS['tkill'], os.getppid(), 0)",
    "a descriptor of a process": "os.pidfd_open(os.getppid())",
    "tracing": "call(NUMBERS['ptrace'], 16, os.getppid(), 0, 0)",
    "the memory of another process": "call(NUMBERS['process_vm_readv'], os.getppid(), 0, 0, 0, 0, 0)",
    "a namespace": "call(NUMBERS['unshare'], 0x10000000)",
    "a mount": "call(NUMBERS['mount'], b'none', b'/tmp', b'tmpfs', 0, 0)",
    "the kernel's keys": "call(NUMBERS['keyctl'], 0, 0)",
    "a program in the kernel": "call(NUMBERS['bpf'], 0, 0, 0)",
    "shared memory": "call(NUMBERS['shmget'], 1, 4096, 0o1600)",
}
FORK_EXEC = """
def fork_exec():
    arguments = ([b"/bin/true"], [b"/bin/true"], True, (), None, None, -1, -1, -1, -1, -1, -1, *os.pipe(), False, False, 0, None,
        None, None, -1, None, False)
    import inspect
    _posixsubprocess.fork_exec(*arguments)
"""
OPEN = {
    "reading what is allowed": "open({readable!r} + '/file').read()",
    "listing what is allowed": "os.listdir({listed!r})",
    "a thread": "thread = threading.Thread(target=int); thread.start(); thread.join()",
    "memory": "mmap.mmap(-1, 4096)",
    "an import": "import xml.dom.minidom",
    "the time": "import time; time.time()",
}

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in lockdown._NUMBERS, reason="the locks are Linux's"
)


def _tried(door: str, folder: Path) -> list[str]:
    readable, listed = folder / "readable", folder / "listed"
    readable.mkdir()
    listed.mkdir()
    (readable / "file").write_text("x")
    (listed / "inside.py").write_text("x")
    places = {
        "readable": str(readable),
        "listed": str(listed),
        "inside": str(listed / "inside.py"),
        "new": str(folder / "new"),
    }
    source = PRELUDE.format(root=str(ROOT), door=door.format(**places), readable=str(readable), listed=str(listed))
    source = source.replace("try:\n", f"NUMBERS = {NUMBERS!r}\n{FORK_EXEC}\ntry:\n", 1)
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("door", REFUSED.values(), ids=list(REFUSED))
def test_a_door_is_closed_by_the_kernel(door: str, tmp_path: Path) -> None:
    """EPERM, EACCES or, for what older kernels do not know either, ENOSYS; nothing was done."""
    held, *told = _tried(door, tmp_path)

    if "landlock" not in held:
        pytest.skip("this kernel has no Landlock")
    assert "landlock seccomp" == held
    assert told[0] in {"refused 1", "refused 13", "refused 38"}
    assert ["inside.py"] == [path.name for path in (tmp_path / "listed").iterdir()]
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("door", OPEN.values(), ids=list(OPEN))
def test_what_grading_needs_stays_open(door: str, tmp_path: Path) -> None:
    """Reading code and snapshots, memory, threads of packages, and imports."""
    assert "open" == _tried(door, tmp_path)[1]


def test_a_grader_that_gets_past_the_hook_ends_at_the_kernel(grade: Grade, tmp_path: Path) -> None:
    """fork_exec raises no audit event on some Pythons: the row is a grader error, and no file was made."""
    mark = tmp_path / "mark"
    source = (
        "import _posixsubprocess, os\n"
        "def g(envelope):\n"
        f"    _posixsubprocess.fork_exec([b'/usr/bin/touch', {str(mark).encode()!r}], [b'/usr/bin/touch'], True, (), None, None,\n"
        "        -1, -1, -1, -1, -1, -1, 3, 4, False, False, 0, None, None, None, -1, None, False)\n"
        "    return set()\n"
    )
    facts = grade(source)

    assert "grader_error" == facts["status"]
    assert not mark.exists()


def test_the_locks_that_hold_are_told(grade: Grade) -> None:
    """A run says how closed its graders were."""
    assert ("audit", "landlock", "seccomp") == grade("def g(envelope):\n    return set()\n")["loaded"].locks
