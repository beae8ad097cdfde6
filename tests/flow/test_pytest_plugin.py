"""Golden cases as tests of pytest, and frozen envelopes in any test."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.flow.conftest import Done, Project


def run_pytest(project: Project, *arguments: str) -> Done:
    """Run pytest in the project, with nothing but the plugin of ours loaded beside its own."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "-p",
            "no:hypothesispytest",
            *arguments,
        ],
        cwd=project.root,
        env={"PATH": "/usr/bin:/bin", "HOME": str(project.root), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=False,
        text=True,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def test_every_case_is_a_test(recorded: Project) -> None:
    """Two cases, two tests, both passing, and the network is not touched."""
    asked = len(recorded.server.asked)
    done = run_pytest(recorded, "--whichclock", "-v")

    assert 0 == done.code, done.out + done.err
    assert "refuse_invented_order_id[gpt] PASSED" in done.out
    assert "greet[gpt] PASSED" in done.out
    assert asked == len(recorded.server.asked)


def test_without_the_option_nothing_is_collected(recorded: Project) -> None:
    """The plugin of an installed package must not add tests that nobody asked for."""
    done = run_pytest(recorded)

    assert (5, True) == (done.code, "no tests ran" in done.out)


def test_a_failing_case_shows_both_sets_and_its_snapshot(recorded: Project) -> None:
    """The message is what an engineer needs, and no traceback of ours."""
    recorded.edit("golden/cases/cases.yaml", "expected: [ok_refusal]", "expected: [ok]")
    done = run_pytest(recorded, "--whichclock")

    assert 1 == done.code
    for text in ("expected: ok", "findings: ok_refusal", "missing: ok", "unexpected: ok_refusal", "snapshot: sha256/"):
        assert text in done.out
    assert "Traceback" not in done.out


def test_a_case_that_is_known_to_fail_is_an_expected_failure(recorded: Project) -> None:
    """And one that passes all the same is stale, which fails."""
    recorded.edit("golden/cases/cases.yaml", "expected: [ok_refusal]", "expected: [ok]\n    known: failing")
    failing = run_pytest(recorded, "--whichclock")
    recorded.edit("golden/cases/cases.yaml", "expected: [ok]", "expected: [ok_refusal]")
    passing = run_pytest(recorded, "--whichclock")

    assert (0, "1 passed, 1 xfailed") == (
        failing.code,
        failing.out.strip().splitlines()[-1].split(" in ")[0].strip("= "),
    )
    assert 1 == passing.code
    assert "marked known: failing; take the mark away" in passing.out


def test_a_missing_answer_fails_and_names_its_status(recorded: Project) -> None:
    """What cannot be judged never passes."""
    recorded.edit("golden/cases/greet.txt", "Say hello", "Say good morning")
    done = run_pytest(recorded, "--whichclock", "-k", "greet")

    assert 1 == done.code
    assert "could not be judged" in done.out
    assert "missing_snapshot" in done.out


def test_cases_are_chosen_by_name(recorded: Project) -> None:
    """-k works on case ids as on all tests."""
    done = run_pytest(recorded, "--whichclock", "-k", "greet")

    assert (0, True) == (done.code, "1 passed, 1 deselected" in done.out)


def test_a_test_may_have_a_frozen_envelope(recorded: Project) -> None:
    """The fixture gives what graders see, by case id."""
    (recorded.root / "test_reply.py").write_text(
        "def test_it(frozen_envelope):\n"
        "    assert 'Hello Ann' == frozen_envelope('greet')['text']\n"
        "    assert frozen_envelope('refuse_invented_order_id', target='gpt', trial=0).refusal\n"
    )

    assert 0 == run_pytest(recorded, "test_reply.py").code


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("frozen_envelope('nobody')", "no case is called 'nobody'"),
        ("frozen_envelope('greet', trial=7)", "no answer is recorded for case 'greet', target gpt, trial 7"),
        ("frozen_envelope('greet', target='other')", "no target is called 'other'"),
    ],
)
def test_an_envelope_that_is_not_there_is_an_error_with_its_reason(recorded: Project, call: str, what: str) -> None:
    """The test that asks for it fails."""
    (recorded.root / "test_reply.py").write_text(f"def test_it(frozen_envelope):\n    {call}\n")
    done = run_pytest(recorded, "test_reply.py")

    assert 1 == done.code
    assert what in done.out
    assert "def of(" not in done.out


def test_a_failing_case_shows_its_evidence(recorded: Project) -> None:
    """As grade does: who found what should not be there, and by what."""
    recorded.edit("golden/cases/cases.yaml", "contains: Ann", "contains: Bob")
    done = run_pytest(recorded, "--whichclock", "-k", "greet")

    assert '    evidence: text_missing by check:contains: {"missing":["Bob"]}' in done.out.splitlines()


def test_the_hint_of_an_envelope_that_is_not_there_is_shown(recorded: Project) -> None:
    """Message and remedy, and no source of ours."""
    (recorded.root / "test_reply.py").write_text("def test_it(frozen_envelope):\n    frozen_envelope('nobody')\n")
    done = run_pytest(recorded, "test_reply.py")

    assert "no case is called 'nobody'\nwhichclock golden ls shows what there is\n" in done.out


def test_a_broken_suite_is_an_error_of_usage(recorded: Project) -> None:
    """One sentence, exit code 4 as for all errors of usage."""
    recorded.edit("whichclock.toml", 'suite = "support"', 'suites = "support"')
    done = run_pytest(recorded, "--whichclock")

    assert 4 == done.code
    assert "whichclock: whichclock.toml" in done.err
    assert "Traceback" not in done.err
