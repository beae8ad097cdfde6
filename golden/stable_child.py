"""One of the two processes that render a suite to see whether it renders the same elsewhere."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path


def main() -> None:
    """Freeze the clock, render every case for every target of its own, and print its name and its request."""
    import time_machine

    config, clock = Path(sys.argv[2]), sys.argv[3]
    # A number of seconds, for a datetime would set TZ too, which is one of the things that differ.
    with time_machine.travel(datetime.fromisoformat(clock).timestamp(), tick=False):
        _print_all(config)


def _print_all(config: Path) -> None:
    from golden.render import render
    from golden.suite import load_suite
    from snapshots import canonical
    from snapshots.errors import WhichclockError

    try:
        suite = load_suite(config)
        for case in suite.cases:
            for target in case.targets:
                document = render(suite, case, suite.targets[target]).document
                # Two lines: a request of the deepest nesting that is allowed has no room for a list around it.
                sys.stdout.buffer.write(
                    canonical.encode([case.id, target]) + b"\n" + canonical.encode(document) + b"\n"
                )
    except WhichclockError as error:
        sys.stderr.write(error.message)
        sys.exit(error.code)
