"""A disk that fills up in the middle of a group: what stands is reported stored, what does not leaves nothing behind."""

from __future__ import annotations

import os

import pytest

from snapshots.verify import check, files
from tests.capture.conftest import Project, outcomes
from tests.capture.server import ModelServer


def test_what_was_linked_before_the_disk_refused_is_recorded(
    project: Project, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third name of a group is refused: two rows are recorded, the others failed, and tmp is empty."""
    project.write(*({"id": str(i), "prompt": f"prompt {i}"} for i in range(5)), target="concurrency = 5")
    link, names = os.link, []

    def refused(source: str, target: str) -> None:
        names.append(target)
        if len(names) > 2:
            raise OSError(28, "No space left on device")
        link(source, target)

    monkeypatch.setattr(os, "link", refused)
    result = project.capture()

    assert {"recorded": 2, "failed": 3} == {
        n: c for n, c in result.summary.items() if c and n in ("recorded", "failed")
    }
    assert 2 == len(project.files())
    stored = {row.answer_hash for row in result.rows if row.outcome.value == "recorded"}
    assert stored == {project.store.read(found).answer_hash for found in project.store.walk()}
    assert [] == os.listdir(project.root / "snapshots" / "tmp")
    assert [] == [one.reason for one in map(check, files(project.root / "snapshots")) if one.reason]

    monkeypatch.setattr(os, "link", link)
    assert ["recorded"] * 3 + ["replayed"] * 2 == sorted(outcomes(project.capture()))
