"""Where something stands in a suite's files, for messages: file, line where the format gives one, JSON pointer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from snapshots.console import neutral
from snapshots.errors import ConfigError

_PLACE = re.compile(r"(?P<file>.+?)(?::(?P<line>[0-9]+)|#.*)?", re.DOTALL)


def file_and_line(place: str) -> tuple[str, str | None]:
    """Return the file of a place's text, and its line where it has one."""
    found = _PLACE.fullmatch(place)
    return (place, None) if found is None else (found["file"], found["line"])


@dataclass(frozen=True, slots=True)
class Place:
    """A value in a file.

    Attributes:
        file: how messages name the file (relative to the project root).
        line: 1-based line, or ``None`` where the format gives none.
        pointer: JSON pointer of the value in its file; empty for a whole file or a line of its own.
        source: a YAML file that can be read again for the line of a deeper value.
    """

    file: str
    line: int | None = None
    pointer: str = ""
    source: Path | None = None

    def __str__(self) -> str:
        """Return ``file:line``, or ``file#pointer`` where there is no line."""
        file = neutral(self.file)
        if self.line is not None:
            return f"{file}:{self.line}"
        return f"{file}#{self.pointer}" if self.pointer else file

    def fault(self, pointer: str, what: str, *, hint: str = "") -> ConfigError:
        """Return the error that says ``what`` is wrong at a pointer below this place."""
        line = self._deeper_line(pointer)
        file = neutral(self.file)
        where = file if line is None else f"{file}:{line}"
        whole = self.pointer + pointer
        return ConfigError(f"{where}: {what}" + (f" at {whole}" if whole else ""), hint=hint)

    def _deeper_line(self, pointer: str) -> int | None:
        if self.source is None or not pointer:
            return self.line
        from golden import yaml_text

        # Lines of every value are only worth their memory once something is wrong.
        lines = yaml_text.read(self.source.read_text("utf-8-sig"), self.file, lines_to=1000).lines
        whole = self.pointer + pointer
        while whole and whole not in lines:
            whole = whole.rpartition("/")[0]
        return lines.get(whole, self.line)
