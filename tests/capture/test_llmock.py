"""Faults as another program makes them: llmock scripts what goes wrong, and judges the client afterwards."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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
    yield url
    process.terminate()
    process.wait(10)


def tell(url: str, path: str, value: Any = None) -> Any:
    data = None if value is None else json.dumps(value).encode()
    request = urllib.request.Request(url + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=5) as response:
        return json.loads(response.read() or b"null")


FAULTS = {
    "too many requests": ({"type": "fail", "status": 429, "retry_after": 2}, 2.0),
    "unavailable": ({"type": "fail", "status": 503}, 1.0),  # llmock sends Retry-After 1 with it
    "overloaded": ({"type": "fail", "status": 529}, 1.0),
    "disconnect": ({"type": "stream_fault", "kind": "disconnect", "after_chunks": 2}, 0.5),
    "truncate": ({"type": "stream_fault", "kind": "truncate", "after_chunks": 2}, 0.5),
    "malformed": ({"type": "stream_fault", "kind": "malformed", "after_chunks": 2}, 0.5),
}


@pytest.mark.parametrize(("fault", "pause"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_waited_out_and_the_whole_stream_is_stored(
    tmp_path: Path, llmock: str, fault: dict[str, Any], pause: float
) -> None:
    """One fault, one wait, one recording of two attempts that ends with its finish reason."""
    tell(llmock, "/_llmock/reset", {})
    tell(llmock, "/_llmock/scenario", {"behaviors": [fault]})
    project = Project(tmp_path, f"{llmock}/v1")
    project.write(
        {"id": "c", "prompt": "Say something long please."},
        target='params = { stream = true }\napi_key = "{{ env.MOCK_API_KEY }}"',
    )
    result = project.capture(environ={"MOCK_API_KEY": "sk-test-llmock"})

    assert (["recorded"], 2) == (outcomes(result), result.calls)
    assert [pause] == project.pauses
    [found] = project.store.walk()
    snapshot = project.store.read(found)
    assert "openai-chat/1" == snapshot.answer_rule
    assert snapshot.response["text"].rstrip().endswith("data: [DONE]")


def test_an_answer_of_exact_words_is_kept_word_for_word(tmp_path: Path, llmock: str) -> None:
    """What another program's server says is what the snapshot says."""
    tell(llmock, "/_llmock/reset", {})
    tell(llmock, "/_llmock/scenario", {"behaviors": [{"type": "reply", "text": "exact words"}]})
    project = Project(tmp_path, f"{llmock}/v1")
    project.write({"id": "c", "prompt": "hi"}, target='api_key = "{{ env.MOCK_API_KEY }}"')
    project.capture(environ={"MOCK_API_KEY": "sk-test-llmock"})

    [found] = project.store.walk()
    assert "exact words" == project.store.read(found).response["body"]["choices"][0]["message"]["content"]
