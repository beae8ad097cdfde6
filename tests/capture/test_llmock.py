"""Faults as another program makes them: llmock scripts what goes wrong, and judges the client afterwards."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from capture.modes import Mode
from capture.result import CaptureResult
from golden.recorded import envelope_of
from snapshots.envelope import Envelope
from tests.capture.batches import back, out
from tests.capture.conftest import Project, outcomes

_PROGRAM = shutil.which("llmock", path=str(Path(sys.executable).parent))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(_PROGRAM is None, reason="llmock is not installed: pip install llmock==0.2.2"),
]


@pytest.fixture(scope="module")
def llmock() -> Iterator[str]:
    """Run llmock and yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(_PROGRAM), "serve", "--port", str(port), "--log-level", "warning"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    for _ in range(300):
        try:
            tell(url, "/_llmock/requests")
            break
        except urllib.error.URLError:
            time.sleep(0.1)
    try:
        yield url
    finally:
        process.kill()  # asked to end, it would wait for the streams that it stalls
        process.wait()


def tell(url: str, path: str, value: Any = None) -> Any:
    data = None if value is None else json.dumps(value).encode()
    request = urllib.request.Request(url + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=5) as response:
        return json.loads(response.read() or b"null")


# Where each dialect lives on this server, after its own routes.
DIALECTS = {
    "openai": ("/v1", "gpt-4o"),
    "openai-responses": ("/v1", "gpt-4o"),
    "anthropic": ("/anthropic", "claude-3-5-sonnet-latest"),
    "gemini": ("/gemini", "gemini-2.0-flash"),
}
ENVIRON = {"MOCK_API_KEY": "sk-test-llmock"}


class Mocked:
    """A project of one case whose target speaks one dialect, and the faults that it will meet."""

    def __init__(self, root: Path, url: str, dialect: str) -> None:
        self.url = url
        self.dialect = dialect
        self.project = Project(root, url)
        self.clear()

    def clear(self) -> None:
        tell(self.url, "/_llmock/reset", {})

    def will(self, *behaviors: dict[str, Any]) -> None:
        tell(self.url, "/_llmock/scenario", {"behaviors": list(behaviors)})

    def write(self, *, stream: bool = False, more: str = "") -> None:
        path, model = DIALECTS[self.dialect]
        (self.project.root / "whichclock.toml").write_text(
            f'suite = "s"\ncases = ["cases.jsonl"]\n[targets.mock]\ntype = "{self.dialect}"\n'
            f'base_url = "{self.url}{path}"\nmodel = "{model}"\napi_key = "{{{{ env.MOCK_API_KEY }}}}"\n'
            f"params = {{ max_tokens = 50{', stream = true' if stream else ''} }}\n{more}"
        )
        (self.project.root / "cases.jsonl").write_text('{"id": "c", "prompt": "Say something long please."}\n')

    def capture(self, **options: Any) -> CaptureResult:
        return self.project.capture(environ=ENVIRON, **options)

    def text(self) -> str | None:
        """Return the text of the one recorded answer."""
        [found] = self.project.store.walk()
        return envelope(self.project, found).text


def envelope(project: Project, found: Any) -> Envelope:
    return envelope_of(project.store.read(found), None)


@pytest.fixture(params=DIALECTS)
def mocked(tmp_path: Path, llmock: str, request: pytest.FixtureRequest) -> Mocked:
    """One project for each dialect."""
    return Mocked(tmp_path, llmock, request.param)


FAULTS = {
    "too many requests": ({"type": "fail", "status": 429, "retry_after": 2}, 2.0, "HTTP 429"),
    "an error of the server": ({"type": "fail", "status": 500}, 0.5, "HTTP 500"),
    "unavailable": ({"type": "fail", "status": 503}, 1.0, "HTTP 503"),  # llmock sends Retry-After 1 with it
    "overloaded": ({"type": "fail", "status": 529}, 1.0, "HTTP 529"),
    "disconnect": ({"type": "stream_fault", "kind": "disconnect", "after_chunks": 2}, 0.5, "cut off"),
    "truncate": ({"type": "stream_fault", "kind": "truncate", "after_chunks": 2}, 0.5, "cut off before its end"),
    "malformed": ({"type": "stream_fault", "kind": "malformed", "after_chunks": 2}, 0.5, "HTTP 200, but"),
    "stall": (
        {"type": "stream_fault", "kind": "stall", "after_chunks": 2, "stall_seconds": 20}, 0.5, "no whole answer within 0.7 s",
    ),
    "no first byte": ({"type": "delay", "seconds": 20}, 0.5, "no first byte within 0.4"),
}  # fmt: skip
LIMITS = "timeout_s = 0.7\nfirst_byte_timeout_s = 0.4\nretries = 1\n"


@pytest.mark.parametrize(("fault", "pause", "why"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_waited_out_and_the_whole_stream_is_stored(
    mocked: Mocked, fault: dict[str, Any], pause: float, why: str
) -> None:
    """One fault, one wait, one recording of two attempts that reads as the whole answer does."""
    mocked.write(stream=True, more=LIMITS)
    mocked.will(fault, {"type": "reply", "text": "all of these words", "times": None})
    result = mocked.capture()

    assert (["recorded"], 2, [pause]) == (outcomes(result), result.calls, mocked.project.pauses), result.rows
    assert "all of these words" == mocked.text()
    [found] = mocked.project.store.walk()
    assert 2 == mocked.project.store.read(found).meta["attempts"]


@pytest.mark.parametrize(("fault", "pause", "why"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_that_stays_is_named_and_a_rerun_completes_what_is_missing(
    mocked: Mocked, fault: dict[str, Any], pause: float, why: str
) -> None:
    """Nothing of it is stored; once the server is well, the same command records the answer."""
    mocked.write(stream=True, more=LIMITS)
    mocked.will({**fault, "times": None})
    failed = mocked.capture()
    files = mocked.project.files()
    mocked.clear()
    again = mocked.capture()

    assert (["failed"], 2, [], 3) == (outcomes(failed), failed.calls, files, failed.exit_code)
    assert why in str(failed.rows[0].error)
    assert "(after 2 attempts)" in str(failed.rows[0].error)
    assert (["recorded"], 1) == (outcomes(again), again.calls)


def test_a_slow_first_token_is_no_fault(mocked: Mocked) -> None:
    """Whoever allows the time gets the answer, with one call."""
    mocked.write(stream=True, more="timeout_s = 20\n")
    mocked.will({"type": "slow_first_token", "seconds": 0.3}, {"type": "reply", "text": "late words"})
    result = mocked.capture()

    assert (["recorded"], 1, "late words") == (outcomes(result), result.calls, mocked.text())


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_answer_of_exact_words_is_kept_word_for_word(mocked: Mocked, stream: bool) -> None:
    """What another program's server says is what the snapshot says, and a replay finds it."""
    mocked.write(stream=stream)
    mocked.will({"type": "reply", "text": "exact words: \u201cä\u201d"})
    mocked.capture()

    assert "exact words: \u201cä\u201d" == mocked.text()
    assert ["replayed"] == outcomes(mocked.capture(mode=Mode.REPLAY))


def test_the_other_side_has_nothing_to_say_against_us(mocked: Mocked) -> None:
    """Its verdict on the client, by its own clock: Retry-After kept, no storm, no cut stream taken for an answer."""
    mocked.write(stream=True, more="retries = 4\n")
    mocked.will(
        {"type": "fail", "status": 429, "retry_after": 1},
        {"type": "fail", "status": 500},
        {"type": "stream_fault", "kind": "truncate", "after_chunks": 2},
    )
    result = mocked.capture(sleep=asyncio.sleep)
    verdict = tell(mocked.url, "/_llmock/verdict")

    assert (["recorded"], 4) == (outcomes(result), result.calls)
    assert (True, []) == (verdict["passed"], verdict["findings"])


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_no_retry_can_mend_is_asked_once(mocked: Mocked, status: int) -> None:
    """The failure is named with the server's words; the other side finds no pointless retry."""
    mocked.write()
    mocked.will({"type": "fail", "status": status, "message": "no such thing", "times": None})
    result = mocked.capture()

    assert (["failed"], 1, []) == (outcomes(result), result.calls, mocked.project.files())
    assert f"HTTP {status}: no such thing" == result.rows[0].error
    assert [] == tell(mocked.url, "/_llmock/verdict")["findings"]


CONFIG = """\
suite = "s"
cases = ["cases.jsonl"]
defaults = {{ targets = ["chat", "claude"] }}

[targets.chat]
type = "openai"
base_url = "{url}/v1"
model = "gpt-4o"

[targets.claude]
type = "anthropic"
base_url = "{url}/anthropic"
model = "claude-3-5-sonnet-latest"
"""


def wait_until(has_ended: Callable[[], bool]) -> None:
    """Ask until a batch has ended, as its caller would."""
    deadline = time.monotonic() + 60
    while not has_ended():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_batch_goes_to_the_other_side_and_back_by_the_official_clients(tmp_path: Path, llmock: str) -> None:
    """What --batch-out writes is uploaded as it is, what is downloaded is filed as it is, and nothing is left to ask."""
    import anthropic
    import openai

    tell(llmock, "/_llmock/reset", {})
    project = Project(tmp_path, llmock)
    # The provider's own path, as the batch is asked there: what is keyed must be what is sent.
    (tmp_path / "whichclock.toml").write_text(CONFIG.format(url=llmock).replace(f"{llmock}/anthropic", llmock))
    (tmp_path / "cases.jsonl").write_text("".join(f'{{"id": "c{i}", "prompt": "say {i}"}}\n' for i in range(3)))
    made, night = out(project), tmp_path / "night"
    with openai.OpenAI(base_url=f"{llmock}/v1", api_key="sk-test-llmock") as client:
        file = client.files.create(file=night / "chat.jsonl", purpose="batch")
        chat = client.batches.create(input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h")
        wait_until(lambda: client.batches.retrieve(chat.id).status == "completed")
        output = client.batches.retrieve(chat.id).output_file_id
        (night / "chat-output.jsonl").write_bytes(client.files.content(str(output)).content)
    with anthropic.Anthropic(base_url=f"{llmock}/anthropic", api_key="sk-test-llmock") as claude:
        batch = claude.messages.batches.create(**json.loads((night / "claude.json").read_text()))
        wait_until(lambda: claude.messages.batches.retrieve(batch.id).processing_status == "ended")
    # By its address here: the client takes the server's own word for it, which lacks the host.
    with urllib.request.urlopen(f"{llmock}/anthropic/v1/messages/batches/{batch.id}/results", timeout=5) as response:
        (night / "claude-output.jsonl").write_bytes(response.read())
    back(project, "night/chat-output.jsonl")
    whole = back(project, "night/claude-output.jsonl")

    assert {"chat.jsonl": 3, "claude.json": 3} == made.files
    assert (3, 3, 0) == (whole.summary["replayed"], whole.summary["recorded"], whole.exit_code)
    assert ["replayed"] * 6 == outcomes(project.capture(Mode.REPLAY))
