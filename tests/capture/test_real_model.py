"""A real model as the counterpart: SmolLM2-135M behind llama.cpp's own server, in the three dialects that it speaks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from capture.modes import Mode
from capture.result import CaptureResult
from diff import model_server
from diff.model_process import running_model
from golden.recorded import envelope_of
from snapshots.envelope import Envelope
from snapshots.snapshot import Snapshot
from snapshots.verify import check
from tests.capture.conftest import Project, outcomes
from tests.capture.tcpfault import Fault, proxy

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not model_server.is_installed(), reason="the model is not installed: make demo"),
    # One model at a time: two of them on two cores are many times slower.
    pytest.mark.xdist_group("model"),
]
PATHS = {"openai": "/v1", "openai-responses": "/v1", "anthropic": ""}
QUESTIONS = ("Say hello to Bob.", "Name a colour.")
LENGTH = 16


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run the model's server and yield its address."""
    with running_model(tmp_path_factory.mktemp("model") / "log") as url:
        yield url


class Real:
    """A project of two questions to the model in one dialect."""

    def __init__(self, root: Path, url: str, dialect: str, *, stream: bool) -> None:
        self.url = url
        self.dialect = dialect
        self.stream = stream
        self.project = Project(root, url)
        self.write()

    def write(self, temperature: float = 0, url: str | None = None, more: str = "") -> None:
        params = f"temperature = {temperature}, max_tokens = {LENGTH}{', stream = true' if self.stream else ''}"
        (self.project.root / "whichclock.toml").write_text(
            f'suite = "s"\ncases = ["cases.jsonl"]\n[targets.real]\ntype = "{self.dialect}"\n'
            f'base_url = "{url or self.url}{PATHS.get(self.dialect, "")}"\nendpoint = "real"\nmodel = "smollm2-135m"\n'
            f"concurrency = 1\ntimeout_s = 120\nparams = {{ {params} }}\n{more}"
        )
        cases = ({"id": f"q{i}", "prompt": question} for i, question in enumerate(QUESTIONS))
        (self.project.root / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))

    def capture(self, mode: Mode = Mode.AUTO, **options: Any) -> CaptureResult:
        return self.project.capture(mode, **options)

    def snapshots(self) -> list[Snapshot]:
        """Return the recordings in the order of the questions."""
        read = [self.project.store.read(found) for found in self.project.store.walk()]
        return sorted(read, key=lambda snapshot: snapshot.meta["cases"])


def envelope(snapshot: Snapshot) -> Envelope:
    return envelope_of(snapshot, None)


def events(text: str) -> list[dict[str, Any]]:
    """Return the JSON of a stream's events, read line by line."""
    datas = (line.removeprefix("data:").strip() for line in text.splitlines() if line.startswith("data:"))
    return [json.loads(data) for data in datas if data != "[DONE]"]


def spoken(dialect: str, response: Any) -> str:
    """Return the text of a raw answer by each provider's API reference, without our readers."""
    if "text" in response:
        heard = events(response["text"])
        if dialect == "openai":
            return "".join(c["delta"].get("content") or "" for one in heard for c in one["choices"])
        kind = "response.output_text.delta" if dialect == "openai-responses" else "content_block_delta"
        deltas = [one["delta"] for one in heard if one["type"] == kind]
        return "".join(delta if isinstance(delta, str) else delta["text"] for delta in deltas)
    body = response["body"]
    if dialect == "openai":
        return body["choices"][0]["message"]["content"]
    parts = body["content"] if dialect == "anthropic" else [p for o in body["output"] for p in o["content"]]
    return "".join(part["text"] for part in parts)


def counted(dialect: str, response: Any) -> tuple[int, int]:
    """Return the tokens in and out that a whole raw answer counts, by the reference."""
    usage = response["body"]["usage"]
    names = ("prompt_tokens", "completion_tokens") if dialect == "openai" else ("input_tokens", "output_tokens")
    return usage[names[0]], usage[names[1]]


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    return request.param


@pytest.fixture(params=PATHS)
def real(tmp_path: Path, model: str, stream: bool, request: pytest.FixtureRequest) -> Real:
    return Real(tmp_path, model, request.param, stream=stream)


def test_everything_is_recorded_verified_read_and_replayed(real: Real) -> None:
    """What is read is what the raw body says; a replay finds the same answers and asks nobody."""
    recorded = real.capture()
    snapshots = real.snapshots()
    checked = [check(path) for path in real.project.files()]
    replayed = real.capture(Mode.REPLAY)

    assert (["recorded"] * 2, 2) == (outcomes(recorded), recorded.calls)
    assert (["replayed"] * 2, 0) == (outcomes(replayed), replayed.calls)
    assert [row.answer_hash for row in recorded.rows] == [row.answer_hash for row in replayed.rows]
    assert [None, None] == [one.reason for one in checked]
    for snapshot in snapshots:
        read = envelope(snapshot)
        assert spoken(real.dialect, snapshot.response) == read.text != ""
        assert "smollm2-135m" == read.model
        if not real.stream:
            told = read.usage
            assert counted(real.dialect, snapshot.response) == (told["input_tokens"], told["output_tokens"])


def test_asked_again_at_temperature_0_the_answer_is_unchanged(real: Real) -> None:
    """Ids, times and timings differ, and are no part of an answer."""
    real.capture()
    files = real.project.files()

    assert ["unchanged"] * 2 == outcomes(real.capture(Mode.LIVE))
    assert files == real.project.files()


def test_asked_again_at_temperature_1_without_a_seed_it_moves(real: Real) -> None:
    """Another draw is another answer, stored beside the first under the same request."""
    real.write(temperature=1.5)
    real.capture()
    result = real.capture(Mode.LIVE)

    assert "moved" in outcomes(result)
    assert 0 == result.exit_code
    assert 2 + outcomes(result).count("moved") == len(real.project.files())


def test_the_official_clients_are_told_the_same(real: Real) -> None:
    """The same body at temperature 0, sent by the provider's own client, gives the same text."""
    import anthropic
    import openai

    real.capture()
    for snapshot in real.snapshots():
        body = {name: value for name, value in snapshot.request["body"].items() if name != "stream"}
        if real.dialect == "anthropic":
            with anthropic.Anthropic(base_url=real.url, api_key="sk-test-none", max_retries=0) as claude:
                # By the words of the body, whatever arguments this client's version knows.
                told = claude.post("/v1/messages", cast_to=anthropic.types.Message, body=body)
                text = "".join(part.text for part in told.content if part.type == "text")
        else:
            with openai.OpenAI(base_url=f"{real.url}/v1", api_key="sk-test-none", max_retries=0) as client:
                if real.dialect == "openai":
                    text = client.chat.completions.create(**body).choices[0].message.content
                else:
                    text = client.responses.create(**body).output_text
        assert text == envelope(snapshot).text


def test_a_broken_line_to_the_model_stores_nothing_wrong(real: Real) -> None:
    """Cut, reset and refused in turn, the answer is asked again until it is whole, and is what a sound line brings."""
    with proxy(int(real.url.rsplit(":", 1)[1])) as line:
        real.write(url=line.url, more="retries = 5\n")
        line.faults = [Fault(cut=1), Fault(cut=100), Fault(cut=300), Fault(rst=300), Fault(refuse=True)]
        result = real.capture()
    real.write()

    assert (["recorded"] * 2, 7) == (outcomes(result), result.calls)
    assert [6, 1] == [snapshot.meta["attempts"] for snapshot in real.snapshots()]
    assert ["unchanged"] * 2 == outcomes(real.capture(Mode.LIVE))


def test_what_the_model_does_not_speak_is_a_named_failure(tmp_path: Path, model: str) -> None:
    """There is no Gemini surface: 404, once, with the server's words; nothing is stored."""
    real = Real(tmp_path, model, "gemini", stream=False)
    result = real.capture()

    assert (["failed"] * 2, 2, []) == (outcomes(result), result.calls, real.project.files())
    assert all(str(row.error).startswith("HTTP 404: ") for row in result.rows)


def test_a_prompt_that_is_too_long_is_a_named_failure(tmp_path: Path, model: str) -> None:
    """The server's 400 is final, and says how long it may be."""
    real = Real(tmp_path, model, "openai", stream=False)
    (tmp_path / "cases.jsonl").write_text(json.dumps({"id": "long", "prompt": "word " * 9000}) + "\n")
    result = real.capture()

    assert (["failed"], 1) == (outcomes(result), result.calls)
    assert "exceeds the available context size" in str(result.rows[0].error)
