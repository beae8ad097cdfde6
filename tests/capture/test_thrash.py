"""Thrash: a request that moved although no golden file did is told, and what its author edited is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from capture.control import control
from capture.modes import Mode
from capture.options import CaptureOptions
from capture.run import capture_rows
from golden.model import Selection
from tests.capture.batches import back, ids, of_openai, out, store_results
from tests.capture.conftest import NOON, Project, outcomes
from tests.capture.server import completion

CASE = {"id": "hello", "prompt": {"file": "prompt.txt"}}


@pytest.fixture
def thrashing(one: Project) -> Project:
    """A project whose parameter comes from a variable, captured on one machine."""
    (one.root / "prompt.txt").write_text("hello")
    one.write(CASE, target='params = { user = "${env:BUILD}" }')
    one.capture(environ={"BUILD": "1"})
    one.second = NOON + 1
    return one


@pytest.mark.parametrize("mode", [Mode.LIVE, Mode.AUTO])
def test_a_request_that_moved_with_a_variable_is_told_with_the_pointer(thrashing: Project, mode: Mode) -> None:
    """Each build would pay anew; the warning names case, target, place and what looks for the reason."""
    result = thrashing.capture(mode, environ={"BUILD": "2"})

    told = "case hello, target gpt: its request moved and no golden file did, at /body/user"
    assert (f"{told}; golden check --stable looks for the reason",) == result.warnings


def test_a_salt_that_comes_from_a_variable_is_no_file_either(one: Project) -> None:
    """Only salts that are digests of files are the author's edits."""
    one.write({"id": "hello", "prompt": "hello"}, target='salt = "${env:BUILD}"')
    one.capture(environ={"BUILD": "1"})
    one.second = NOON + 1

    assert "at /salt/target" in one.capture(environ={"BUILD": "2"}).warnings[0]


def test_the_same_requests_are_not_told(thrashing: Project) -> None:
    """Asked again under the same hash: nothing moved."""
    assert () == thrashing.capture(Mode.LIVE, environ={"BUILD": "1"}).warnings


def _prompt(project: Project) -> None:
    (project.root / "prompt.txt").write_text("hullo")


def _config(project: Project) -> None:
    project.write(CASE, target='params = { user = "${env:BUILD}", seed = 1 }')


def _cases(project: Project) -> None:
    project.write({"id": "hello", "prompt": "hullo"}, target='params = { user = "${env:BUILD}" }')


@pytest.mark.parametrize("edit", [_prompt, _config, _cases])
def test_what_the_author_edited_is_not_told(thrashing: Project, edit: Callable[[Project], None]) -> None:
    """A prompt file, the configuration, a case file: the request moved for a reason that the author knows."""
    edit(thrashing)
    result = thrashing.capture(Mode.LIVE, environ={"BUILD": "1"})

    assert ((), ["recorded"]) == (result.warnings, outcomes(result))


def test_an_edited_file_of_a_digest_salt_is_not_told(one: Project) -> None:
    """The salt is the digest of the author's files."""
    (one.root / "notes.md").write_text("one")
    one.write({"id": "hello", "prompt": "hello", "salt": "$digest: *.md"})
    one.capture()
    one.second = NOON + 1
    (one.root / "notes.md").write_text("two")
    result = one.capture(Mode.LIVE)

    assert ((), ["recorded"]) == (result.warnings, outcomes(result))


def test_only_the_first_three_are_named(project: Project) -> None:
    """A whole suite that moved is one reason, not a thousand lines."""
    project.write(*({"id": f"c{i}", "prompt": str(i)} for i in range(5)), target='params = { user = "${env:BUILD}" }')
    project.capture(environ={"BUILD": "1"})
    project.second = NOON + 1
    warnings = project.capture(environ={"BUILD": "2"}).warnings

    assert 4 == len(warnings)
    assert "2 more requests moved although no golden file did" == warnings[-1]


def test_a_filed_batch_is_no_run_to_compare_with(one: Project) -> None:
    """Its log holds what was asked by an older suite: an edit between is the author's."""
    out(one)
    store_results(one, *(of_openai(name, completion("ok")) for name in ids(one)))
    one.write({"id": "hello", "prompt": "hullo"})
    back(one)
    one.second = NOON + 1

    assert () == one.capture().warnings


def test_a_control_is_no_run_to_compare_with(one: Project) -> None:
    """It asks old requests on purpose; neither is it warned about nor compared with."""
    import subprocess

    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
        subprocess.run(["git", *identity, *words], cwd=one.root, check=True)
    one.write({"id": "hello", "prompt": "hullo"})
    one.capture()
    suite = one.suite()
    one.second = NOON + 1
    options = CaptureOptions(mode=Mode.LIVE, judges=Mode.OFF, control="git:HEAD", now=lambda: NOON + 1)
    with control(suite, "git:HEAD", Selection()) as old:
        asked = capture_rows(suite, old.wanted, options, old.lost)
    one.second = NOON + 2
    again = one.capture(Mode.LIVE)

    assert ((), ()) == (asked.warnings, again.warnings)


def test_logs_that_are_cut_or_of_another_suite_are_passed_over(thrashing: Project) -> None:
    """What cannot be read says nothing."""
    logs = thrashing.root / "snapshots" / "log"
    [log] = logs.iterdir()
    (logs / f"{log.name[:15]}Z-ffffffff.jsonl").write_text("{")
    other = log.read_text().replace('"suite":"s"', '"suite":"t"')
    (logs / f"{log.name[:15]}Z-fffffffe.jsonl").write_text(other)

    assert 1 == len(thrashing.capture(environ={"BUILD": "2"}).warnings)


def test_a_request_that_is_in_no_store_is_told_without_pointers(thrashing: Project) -> None:
    """The log alone tells that it moved."""
    for path in thrashing.files():
        path.unlink()
    result = thrashing.capture(environ={"BUILD": "2"})

    assert (
        "case hello, target gpt: its request moved and no golden file did; golden check --stable looks for the reason",
    ) == result.warnings
    assert replace(result, warnings=()).exit_code == 0
