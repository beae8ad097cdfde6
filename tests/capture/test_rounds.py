"""A second look at what graders were answered: an answer that its grader cannot read is asked for once more, and then fails."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from capture.log import answered
from capture.report import remedies
from capture.result import CaptureResult
from capture.run import Mode
from tests.capture.conftest import Project, outcomes
from tests.capture.server import Asked, ModelServer, Say, say

JUDGE = '[targets.judge]\ntype = "openai"\nbase_url = "{url}"\nmodel = "judge-1"\nretries = 0'
VERDICT = '{"reason": "it is kind", "score": 1, "pass": true}'
TWICE = "the answer was asked for again, and the grader cannot read the new one either: "


@pytest.fixture
def judged(project: Project, server: ModelServer) -> Project:
    """A case whose check asks a judge."""
    check = {"judge": {"rubric": "Is it kind?", "target": "judge"}}
    project.write(
        {"id": "greet", "prompt": "Greet.", "targets": ["gpt"], "checks": [check]}, target=JUDGE.format(url=server.url)
    )
    return project


def judging(*answers: Say) -> Callable[[Asked], Say]:
    """Return a script: the judge's answers in their order, the last one for ever; everybody else says hello."""
    left = list(answers)

    def reply(asked: Asked) -> Say:
        if asked.json["model"] != "judge-1":
            return say("Hello!")
        return left.pop(0) if len(left) > 1 else left[0]

    return reply


def asked_of_the_judge(server: ModelServer) -> int:
    return sum(asked.json["model"] == "judge-1" for asked in server.asked)


def test_an_answer_that_is_no_verdict_twice_fails_with_how_it_ended(judged: Project, server: ModelServer) -> None:
    """Cut at its limit both times: the reason shows it, the remedy is the limit, and the completion stays recorded."""
    server.fallback = judging(say('{"verd', model="judge-1", finish="length"))
    result = judged.capture()

    assert ["recorded", "failed"] == outcomes(result)
    assert f'{TWICE}finish reason length; it begins {{"verd' == result.rows[1].error
    assert (3, 2) == (int(result.exit_code), asked_of_the_judge(server))
    assert ["the answer was cut at its limit: raise max_tokens of the target or of the grader's request"] == list(
        remedies(result)
    )


def test_a_verdict_at_the_second_attempt_is_recorded(judged: Project, server: ModelServer) -> None:
    """It is one request that was answered; the next run replays the verdict."""
    server.fallback = judging(say("Kind, I think.", model="judge-1"), say(VERDICT, model="judge-1"))
    result = judged.capture()

    assert (["recorded", "recorded"], 0, 2) == (outcomes(result), int(result.exit_code), asked_of_the_judge(server))
    assert ["replayed", "replayed"] == outcomes(judged.capture())
    assert result.rows[1].answer_hash == judged.capture().rows[1].answer_hash


def test_a_verdict_at_the_first_attempt_is_asked_for_once(judged: Project, server: ModelServer) -> None:
    """What can be read is not asked again."""
    server.fallback = judging(say(VERDICT, model="judge-1"))

    assert (["recorded", "recorded"], 1) == (outcomes(judged.capture()), asked_of_the_judge(server))


def test_the_second_attempt_is_a_call_of_the_budget(judged: Project, server: ModelServer) -> None:
    """Two calls are gone by then: the answer that cannot be read is the reason, not the budget."""
    server.fallback = judging(say("Kind, I think.", model="judge-1"))
    result = judged.capture(max_calls=2)

    assert (["recorded", "failed"], 2, 0) == (outcomes(result), result.calls, result.left)
    assert "the grader cannot read the answer: finish reason stop; it begins Kind, I think." == result.rows[1].error


def test_what_a_judge_says_moves_no_terminal(judged: Project, server: ModelServer) -> None:
    """Escapes are shown, long answers are shortened."""
    server.fallback = judging(say("\x1b[31m" + "kind " * 50, model="judge-1"))
    error = judged.capture().rows[1].error or ""

    assert error.startswith(f"{TWICE}finish reason stop; it begins \\x1b[31mkind kind ")
    assert error.endswith("…")
    assert len(error) < 200


def test_an_unread_answer_is_none_for_a_run_that_is_resumed(judged: Project, server: ModelServer) -> None:
    """The log's last line about it says failed, so that --resume asks again."""
    server.fallback = judging(say("Kind, I think.", model="judge-1"))
    result = judged.capture(Mode.LIVE)
    assert result.log is not None
    lines = [json.loads(line) for line in result.log.read_text().splitlines()]

    assert "failed" == [line["outcome"] for line in lines if line.get("asked")][-1]
    assert {(result.rows[0].request_hash, 0)} == answered(result.log, root=judged.root / "snapshots", suite="s")


@pytest.mark.parametrize("judges", [Mode.AUTO, Mode.LIVE])
def test_a_judge_that_is_asked_again_live_has_its_second_attempt_too(
    judged: Project, server: ModelServer, judges: Mode
) -> None:
    """Whoever asks, the grader must be able to read what is current afterwards."""
    server.fallback = judging(say(VERDICT, model="judge-1"))
    judged.capture()
    server.fallback = judging(say("Kind, I think.", model="judge-1"), say(VERDICT, model="judge-1"))
    result: CaptureResult = judged.capture(judges=judges)

    expected = ["replayed", "replayed"] if judges is Mode.AUTO else ["replayed", "moved"]
    assert (expected, 0) == (outcomes(result), int(result.exit_code))
