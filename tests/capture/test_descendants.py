"""Which processes a capture takes for its calls' own, by what the system shows of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from capture import descendants

MARK = b"WHICHCLOCK_CALL=abc-1-"


def process(proc: Path, pid: int, environ: bytes, *, env_end: int, has_exe: bool = True) -> None:
    """Write what the system shows of a process; its name tries to end the field that it stands in."""
    folder = proc / str(pid)
    folder.mkdir()
    (folder / "environ").write_bytes(environ)
    fields = ["S", *("1" for _ in range(47)), str(env_end), "0"]
    (folder / "stat").write_text(f"{pid} (a) b) {' '.join(fields)}\n")
    if has_exe:
        (folder / "exe").symlink_to("/bin/true")


@pytest.mark.parametrize(
    ("environ", "env_end", "has_exe", "seen"),
    [
        pytest.param(b"A=1\0" + MARK + b"\0", 99, True, ([7], False), id="marked"),
        pytest.param(b"A=1\0", 99, True, ([], False), id="somebody else's"),
        pytest.param(b"", 0, True, ([], True), id="amid its exec"),
        pytest.param(b"", 99, True, ([], False), id="without an environment"),
        pytest.param(b"", 0, False, ([], False), id="a thread of the kernel"),
    ],
)
def test_a_process_is_known_by_its_environment_or_waited_for(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    environ: bytes,
    env_end: int,
    has_exe: bool,
    seen: tuple[list[int], bool],
) -> None:
    """One that is amid its exec shows no environment yet, and may be a descendant."""
    monkeypatch.setattr(descendants, "_PROC", str(tmp_path))
    process(tmp_path, 7, environ, env_end=env_end, has_exe=has_exe)

    assert seen == descendants.look(MARK)
