"""Faults below HTTP: whatever becomes of a connection, no half of an answer is stored, and a rerun completes what is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from capture.modes import Mode
from tests.capture.conftest import Project, outcomes
from tests.capture.server import ModelServer, Say, say
from tests.capture.tcpfault import Fault, Proxy, proxy

LONG = "words " * 400
LIMITS = "retries = 1\ntimeout_s = 0.5\nconcurrency = 1\n"
FAULTS = {
    "cut at 1": (Fault(cut=1), "closed the connection before the head of its answer was whole"),
    "cut at 100": (Fault(cut=100), "cut off"),
    "cut at 700": (Fault(cut=700), "cut off"),
    "reset at 1": (Fault(rst=1), "reset"),
    "reset at 100": (Fault(rst=100), "reset|cut off"),
    "reset at 700": (Fault(rst=700), "reset|cut off"),
    "stalled before the head": (Fault(stall=1), "no whole answer within 0.5 s"),
    "stalled in the body": (Fault(stall=700), "no whole answer within 0.5 s"),
    "refused": (Fault(refuse=True), "reset|cannot connect to|while the request was sent"),
    "too slow": (Fault(rate=600), "no whole answer within 0.5 s"),
    "too late": (Fault(latency=30), "no whole answer within 0.5 s"),
}


def streamed(text: str) -> Say:
    """Return a reply of a streamed chat completion, an event for each word."""
    deltas = [{"delta": {"content": f"{word} "}, "index": 0} for word in text.split()]
    chunks = [{"id": "c", "object": "chat.completion.chunk", "choices": [choice]} for choice in deltas]
    end = {
        "id": "c",
        "object": "chat.completion.chunk",
        "choices": [{"delta": {}, "index": 0, "finish_reason": "stop"}],
    }
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in (*chunks, end)]
    return Say("".join([*lines, "data: [DONE]\n\n"]).encode(), headers={"Content-Type": "text/event-stream"})


@pytest.fixture
def broken(server: ModelServer) -> Iterator[Proxy]:
    """A proxy before the scripted server."""
    with proxy(server.port) as running:
        yield running


@pytest.fixture(params=["whole", "streamed", "without a length"])
def project(tmp_path: Path, server: ModelServer, broken: Proxy, request: pytest.FixtureRequest) -> Project:
    """A project of one case behind the proxy; the answer comes whole, as a stream, or in pieces that announce no length."""
    made = Project(tmp_path, f"{broken.url}/v1")
    stream = "params = { stream = true }\n" if request.param == "streamed" else ""
    made.write({"id": "c", "prompt": "hi"}, target=LIMITS + stream)
    answer = streamed(LONG) if stream else say(LONG)
    if request.param == "without a length":
        size = f"{len(answer.body):x}".encode()
        answer = Say(
            size + b"\r\n" + answer.body + b"\r\n0\r\n\r\n", headers={"Transfer-Encoding": "chunked"}, length=None
        )
    server.fallback = lambda asked: answer
    return made


@pytest.mark.parametrize(("fault", "why"), FAULTS.values(), ids=FAULTS.keys())
def test_one_broken_connection_is_retried(project: Project, broken: Proxy, fault: Fault, why: str) -> None:
    """The second connection brings the whole answer, and that is what is stored."""
    broken.faults = [fault]
    result = project.capture()

    assert (["recorded"], 2, [0.5]) == (outcomes(result), result.calls, project.pauses), result.rows
    [file] = project.files()
    assert 400 == file.read_text().count("words ")


@pytest.mark.parametrize(("fault", "why"), FAULTS.values(), ids=FAULTS.keys())
def test_a_line_that_stays_broken_is_named_and_a_rerun_completes(
    project: Project, broken: Proxy, fault: Fault, why: str
) -> None:
    """Nothing is stored, the reason says what happened, and once the line is mended the same command records the answer."""
    broken.then = fault
    failed = project.capture()
    files = project.files()
    broken.then = Fault()
    again = project.capture()

    assert (["failed"], 2, []) == (outcomes(failed), failed.calls, files)
    assert any(word in str(failed.rows[0].error) for word in why.split("|")), failed.rows[0].error
    assert (["recorded"], 1) == (outcomes(again), again.calls)
    assert ["replayed"] == outcomes(project.capture(Mode.REPLAY))


def test_a_slow_line_that_ends_in_time_is_no_fault(project: Project, broken: Proxy) -> None:
    """Bytes that trickle are an answer all the same."""
    project.write({"id": "c", "prompt": "hi"}, target="timeout_s = 30\n")
    broken.then = Fault(rate=40_000, latency=0.05)
    result = project.capture()

    assert (["recorded"], 1) == (outcomes(result), result.calls)


def test_a_server_that_closes_after_a_stream_costs_no_attempt(
    tmp_path: Path, server: ModelServer, broken: Proxy
) -> None:
    """It does not announce it: no call is sent over the connection of a stream that has ended."""
    made = Project(tmp_path, f"{broken.url}/v1")
    cases = ({"id": str(i), "prompt": str(i)} for i in range(5))
    made.write(*cases, target="concurrency = 1\nparams = { stream = true }\n")
    answer = streamed("five words make a stream")
    answer.cut = len(answer.body)
    server.fallback = lambda asked: answer
    broken.then = Fault(rate=40_000)  # the head comes before the rest, as from a model
    result = made.capture()

    assert (["recorded"] * 5, 5, []) == (outcomes(result), result.calls, made.pauses)
