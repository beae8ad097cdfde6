"""Server-sent events: the lines of an event stream as recorded.

Only CR, LF and CRLF end a line (WHATWG HTML, section 9.2.6); other characters that Unicode calls line ends belong to the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE_END = re.compile(r"\r\n|\n|\r")


def data_events(text: str) -> Iterator[str]:
    """Yield the data of each event of a stream, several ``data:`` lines of one event joined by LF.

    Comments and other fields are skipped. An event that the end of the text cuts off before its blank line is still yielded:
    servers are known to leave the last blank line out.
    """
    lines: list[str] = []
    for line in _LINE_END.split(text.removeprefix("\ufeff")):
        if not line:
            if lines:
                yield "\n".join(lines)
                lines = []
        elif line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif line == "data":
            lines.append("")
    if lines:
        yield "\n".join(lines)


def names(text: str) -> set[str]:
    """Return the names that the events of a stream have."""
    fields = (line.partition(":") for line in _LINE_END.split(text.removeprefix("\ufeff")))
    return {value.removeprefix(" ") for name, _, value in fields if name == "event"}


def is_ended(text: str) -> bool:
    """Tell whether the last event of a stream has its blank line."""
    return _LINE_END.split(text)[-2:] == ["", ""]


def looks_like_stream(text: str) -> bool:
    """Tell whether a text body is an event stream: its first line is a field or a comment of one."""
    first = text.lstrip("\ufeff\r\n").split("\n", 1)[0]
    return first.startswith(("data:", "event:", ":", "id:", "retry:"))
