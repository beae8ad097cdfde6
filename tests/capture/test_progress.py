"""What a capture's bar counts: the rows that are asked for, so that what the store answers does not spoil the estimate."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from capture import progress as module
from capture.progress import progress
from tests.capture.conftest import Project

Step = tuple[int, str, int | None]


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    """Write down what a bar would be told."""
    told: list[Step] = []

    @contextmanager
    def bar(what: str, total: int, *, quiet: bool) -> Generator[object]:
        def advance(done: int = 1, text: str = "", total: int | None = None) -> None:
            told.append((done, text, total))

        yield advance

    monkeypatch.setattr(module, "bar", bar)
    return told


def test_replayed_rows_are_told_and_not_counted(project: Project, steps: list[Step]) -> None:
    """Two are recorded; of three only the new one is work."""
    project.capture()
    project.write(*({"id": name, "prompt": name} for name in ("hello", "bye", "new")))
    with progress(quiet=False) as watch:
        project.capture(on_asking=watch.asking, on_done=watch.done)

    assert [
        (0, "1 replayed", 0),
        (0, "2 replayed", 0),
        (0, "2 replayed", 1),
        (1, "1 recorded  2 replayed", 1),
    ] == steps


def test_rows_that_share_a_request_are_all_counted(project: Project, steps: list[Step]) -> None:
    """One call ends three rows."""
    project.write(*({"id": name, "prompt": "same"} for name in "abc"))
    with progress(quiet=False) as watch:
        project.capture(on_asking=watch.asking, on_done=watch.done)

    assert (0, "", 3) == steps[0]
    assert 3 == sum(done for done, _, _ in steps)
