"""The kernel's part of purity: a worker that has loaded its graders gives away, for good, what grading does not need.

Two locks of Linux, each without any privilege and neither to be taken back:

- **Landlock** (kernel 5.13): files can be read below a few folders only, nothing can be written, no TCP connection be made;
- **seccomp** (kernel 3.5): no sockets of any kind, no new program or process, no signals to others, no tracing, no mounts, no
  change of modes, owners or times.

What an audit hook cannot see (native code, ``_posixsubprocess.fork_exec``, ``ctypes``) ends here with ``EPERM`` or ``EACCES``.
Not closed by the kernel: whether a file exists (Landlock lets ``stat`` pass), and clocks (they are read without a system call).
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterable

LANDLOCK = "landlock"
SECCOMP = "seccomp"

# include/uapi/asm/unistd_64.h and include/uapi/asm-generic/unistd.h; both architectures share numbers from 424 on.
_SHARED = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "pidfd_open": 434,
    "clone3": 435, "pidfd_getfd": 438, "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446,
    "fchmodat2": 452,
}  # fmt: skip
_NUMBERS = {
    "x86_64": {
        "socket": 41, "connect": 42, "accept": 43, "sendto": 44, "recvfrom": 45, "sendmsg": 46, "recvmsg": 47, "bind": 49, "listen": 50,
        "socketpair": 53, "accept4": 288, "sendmmsg": 307, "recvmmsg": 299, "clone": 56, "fork": 57, "vfork": 58, "execve": 59,
        "execveat": 322, "kill": 62, "tkill": 200, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "ptrace": 101,
        "process_vm_readv": 310, "process_vm_writev": 311, "mount": 165, "umount2": 166, "chroot": 161, "pivot_root": 155, "setns": 308,
        "unshare": 272, "keyctl": 250, "add_key": 248, "request_key": 249, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
        "memfd_create": 319, "personality": 135, "shmget": 29, "msgget": 68, "semget": 64, "mq_open": 240, "name_to_handle_at": 303,
        "open_by_handle_at": 304, "chmod": 90, "fchmod": 91, "fchmodat": 268, "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260,
        "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190,
        "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
    },
    "aarch64": {
        "socket": 198, "socketpair": 199, "bind": 200, "listen": 201, "accept": 202, "connect": 203, "sendto": 206, "recvfrom": 207,
        "sendmsg": 211, "recvmsg": 212, "accept4": 242, "recvmmsg": 243, "sendmmsg": 269, "clone": 220, "execve": 221, "execveat": 281,
        "kill": 129, "tkill": 130, "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240, "ptrace": 117, "process_vm_readv": 270,
        "process_vm_writev": 271, "mount": 40, "umount2": 39, "chroot": 51, "pivot_root": 41, "setns": 268, "unshare": 97, "keyctl": 219,
        "add_key": 217, "request_key": 218, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "memfd_create": 279,
        "personality": 92, "shmget": 194, "msgget": 186, "semget": 190, "mq_open": 180, "name_to_handle_at": 264,
        "open_by_handle_at": 265, "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55, "utimensat": 88, "setxattr": 5,
        "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
    },
}  # fmt: skip
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_OWN_CALLS = frozenset({"clone", "clone3", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"})
_CLONE_THREAD = 0x10000
_X32 = 0x40000000
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 38, 22, 2
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3


def lock(*, read: Iterable[str], list_only: Iterable[str] = ()) -> tuple[str, ...]:
    """Close this process and return the names of the locks that hold; where the system has none, nothing is done.

    Args:
        read: files and folders that may still be read, folders with all that is below.
        list_only: folders whose names, and those of all folders below, may still be listed.
    """
    if sys.platform != "linux":
        return ()
    machine = os.uname().machine  # not platform's: that keeps the machine's name for whoever asks later
    if machine not in _NUMBERS or struct.calcsize("P") != 8:
        return ()
    numbers = {**_NUMBERS[machine], **_SHARED}
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return ()
    held: list[str] = []
    if _landlock(
        libc, numbers, [(path, _READ_FILE | _READ_DIR) for path in read] + [(p, _READ_DIR) for p in list_only]
    ):
        held.append(LANDLOCK)
    if _seccomp(libc, machine, numbers):
        held.append(SECCOMP)
    return tuple(held)


def _landlock(libc: ctypes.CDLL, numbers: dict[str, int], rules: list[tuple[str, int]]) -> bool:
    abi = libc.syscall(numbers["landlock_create_ruleset"], None, ctypes.c_size_t(0), 1)
    if abi < 1:
        return False  # the kernel is older, or was started without it
    files = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(abi, 16)) - 1
    handled = struct.pack("QQQ", files, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)[
        : 8 if abi < 4 else 16 if abi < 6 else 24
    ]
    ruleset = libc.syscall(numbers["landlock_create_ruleset"], handled, ctypes.c_size_t(len(handled)), 0)
    if ruleset < 0:
        return False
    try:
        for path, access in rules:
            _allow(libc, numbers, ruleset, path, access)
        return libc.syscall(numbers["landlock_restrict_self"], ruleset, 0) == 0
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, numbers: dict[str, int], ruleset: int, path: str, access: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no permission
    try:
        allowed = access if os.path.isdir(path) else access & _READ_FILE
        if allowed:
            libc.syscall(numbers["landlock_add_rule"], ruleset, 1, struct.pack("=Qi", allowed, handle), 0)
    finally:
        os.close(handle)


def _seccomp(libc: ctypes.CDLL, machine: str, numbers: dict[str, int]) -> bool:
    program = _program(machine, numbers)
    code = ctypes.create_string_buffer(b"".join(program))
    described = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(code)))
    return libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(described), 0, 0) == 0


def _program(machine: str, numbers: dict[str, int]) -> list[bytes]:
    """Return the filter: instructions of classic BPF over ``struct seccomp_data`` (linux/seccomp.h)."""
    refused = _step(_RETURN, _ERRNO | errno.EPERM)
    unknown = _step(_RETURN, _ERRNO | errno.ENOSYS)
    program = [_step(_LOAD, 4), _step(_EQUAL, _AUDIT_ARCH[machine], 1, 0), _step(_RETURN, _KILL), _step(_LOAD, 0)]
    if machine == "x86_64":
        program += [_step(_AT_LEAST, _X32, 0, 1), unknown]
    # Without clone3 the C library falls back to clone, whose flags can be read: threads pass, processes do not.
    program += [_step(_EQUAL, numbers["clone3"], 0, 1), unknown]
    program += [_step(_EQUAL, numbers["clone"], 0, 4), _step(_LOAD, 16), _step(_ANY_BIT, _CLONE_THREAD, 1, 0), refused]
    program += [_step(_LOAD, 0)]
    for name, number in numbers.items():
        if name not in _OWN_CALLS:
            program += [_step(_EQUAL, number, 0, 1), refused]
    return [*program, _step(_RETURN, _ALLOW)]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value & 0xFFFFFFFF)
