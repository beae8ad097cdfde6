"""Whether every case renders the same elsewhere: in two processes with other clocks, hash seeds, directories, users and locales.

What differs would be another request on each machine and each night: never found in the store, and paid for each time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from snapshots import strict_json
from snapshots.errors import ConfigError, ExitCode, OperatorError
from snapshots.pointer import differing

_PIN = "it loads here: write out, or pin, the variables that its configuration names"
_PACKAGES = str(Path(__file__).resolve().parent.parent)
_START = "import sys; sys.path.append(sys.argv[1]); from golden.stable_child import main; main()"
_LIVES = (
    {
        "PYTHONHASHSEED": "1",
        "TZ": "Pacific/Kiritimati",
        "LC_ALL": "C",
        "USER": "ann",
        "LOGNAME": "ann",
        "HOSTNAME": "one.example.com",
    },
    {
        "PYTHONHASHSEED": "2",
        "TZ": "America/Anchorage",
        "LC_ALL": "C.UTF-8",
        "USER": "bob",
        "LOGNAME": "bob",
        "HOSTNAME": "two.example.com",
    },
)
_CLOCKS = ("2001-02-03T04:05:06+00:00", "2031-10-11T12:13:14+00:00")


@dataclass(frozen=True, slots=True)
class Unstable:
    """A case × target whose request depends on where it is rendered, and the JSON pointers at which it does."""

    case_id: str
    target: str
    pointers: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the members that ``--format json`` prints."""
        return {"case_id": self.case_id, "target": self.target, "pointers": list(self.pointers)}


def unstable(config: Path) -> list[Unstable]:
    """Render a suite twice and return what differs, in suite order.

    Args:
        config: its configuration file.

    Raises:
        ConfigError: the suite, which loads here, does not load elsewhere.
        OperatorError: a process failed; its last words are in the message.
    """
    with (
        TemporaryDirectory(prefix="whichclock-") as one,
        TemporaryDirectory(prefix="whichclock-") as other,
        ExitStack() as ends,
    ):
        children = [
            ends.enter_context(_started(config, Path(folder), life, clock))
            for folder, life, clock in zip((one, other), _LIVES, _CLOCKS, strict=True)
        ]
        first, second = (list(_rendered(child)) for child in children)
    if [row[:2] for row in first] != [row[:2] for row in second]:
        return [Unstable("*", "*", ("",))]  # not even the cases are the same
    return [
        Unstable(case, target, tuple(differing(document, other)))
        for (case, target, document), (_, _, other) in zip(first, second, strict=True)
        if document != other
    ]


@contextmanager
def _started(config: Path, folder: Path, life: dict[str, str], clock: str) -> Generator[subprocess.Popen[bytes]]:
    """Run a process for the length of a block; it is gone afterwards, and its pipes are closed."""
    places = dict.fromkeys(("PWD", "OLDPWD", "HOME", "TMPDIR"), str(folder))
    with subprocess.Popen(
        [sys.executable, "-P", "-c", _START, _PACKAGES, str(config.resolve()), clock],
        cwd=folder,
        env={**os.environ, **places, "PYTHONUTF8": "1", **life},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def _rendered(child: subprocess.Popen[bytes]) -> Iterator[tuple[str, str, Any]]:
    output, words = child.communicate()
    if child.returncode != 0:
        said = words.decode("utf-8", "replace").strip()
        if child.returncode == ExitCode.AUTHOR:
            raise ConfigError(f"the suite does not load elsewhere: {said}", hint=_PIN)
        last = said.splitlines()[-1:]
        raise OperatorError(f"rendering the suite elsewhere failed: {last[0] if last else f'exit {child.returncode}'}")
    lines = iter(output.splitlines())
    for case, target in map(strict_json.loads, lines):
        yield case, target, strict_json.loads(next(lines))
