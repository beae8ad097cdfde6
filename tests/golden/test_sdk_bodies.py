"""What the official clients send for what a case means is what we send: body, path, and the headers that carry key and version."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from golden.render import Wire
from tests.golden.rendering import CALL, PIXEL, TOOL, made

openai = pytest.importorskip("openai", reason="the official client of OpenAI is not installed")
anthropic = pytest.importorskip("anthropic", reason="the official client of Anthropic is not installed")

KEY = "sk-test-key"
PARAMETERS = TOOL["function"]["parameters"]
IMAGE = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": PIXEL}}]}
ANSWERS: dict[str, Any] = {
    "/v1/chat/completions": {"id": "c", "object": "chat.completion", "created": 0, "model": "m1", "choices": []},
    "/v1/responses": {"id": "r", "object": "response", "created_at": 0, "model": "m1", "output": []},
    "/v1/embeddings": {
        "object": "list",
        "model": "m1",
        "data": [{"object": "embedding", "index": 0, "embedding": [0.5]}],
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    },
    "/v1/messages": {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m1",
        "content": [],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
}
CONVERSATION: list[dict[str, Any]] = [
    {"role": "system", "content": "You are terse."},
    {"role": "user", "content": "Where is A-17? ☃"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "shipped"},
    IMAGE,
]


class Recorder:
    """A server on the loopback that keeps the last request."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.path = ""
        self.headers: dict[str, str] = {}
        self.body: Any = None


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")
    recorder: Recorder

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            recorder.path = self.path
            recorder.headers = {name.lower(): value for name, value in self.headers.items()}
            recorder.body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            data = json.dumps(ANSWERS[self.path]).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    recorder = Recorder(httpd.server_address[1])
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield recorder
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def ours(
    kind: str, server: Recorder, below: str, case: dict[str, Any], **target: Any
) -> tuple[str, Any, dict[str, str]]:
    """Return path, body and headers of our own request."""
    wire = made(kind, case, base_url=server.url + below, model="m1", api_key="{{ env.K }}", **target).wire({"K": KEY})
    assert isinstance(wire, Wire)
    assert wire.body is not None
    headers = {name.lower(): value for name, value in wire.headers.items()}
    return wire.url.removeprefix(server.url), json.loads(wire.body), headers


def theirs(server: Recorder, sent: dict[str, str]) -> tuple[str, Any, dict[str, str]]:
    """Return path, body and headers that the client has sent; of the headers those that we send too."""
    return server.path, server.body, {name: server.headers.get(name, "") for name in sent}


def test_chat_completions_are_what_the_client_sends(server: Recorder) -> None:
    """The first dialect, and the one that cases are written in."""
    with openai.OpenAI(api_key=KEY, base_url=server.url + "/v1", max_retries=0) as client:
        client.chat.completions.create(
            model="m1", messages=CONVERSATION, tools=[TOOL], tool_choice="auto", temperature=0, seed=7, max_tokens=80
        )
    request = {"messages": CONVERSATION, "tools": [TOOL], "tool_choice": "auto", "seed": 7, "max_tokens": 80}
    sent = ours("openai", server, "/v1", {"request": request}, params={"temperature": 0})

    assert theirs(server, sent[2]) == sent


def test_responses_are_what_the_client_sends(server: Recorder) -> None:
    """For a conversation with a tool, an image and a schema."""
    schema = {
        "type": "object",
        "properties": {"b": {"type": "string"}},
        "required": ["b"],
        "additionalProperties": False,
    }
    with openai.OpenAI(api_key=KEY, base_url=server.url + "/v1", max_retries=0) as client:
        client.responses.create(
            model="m1",
            input=[
                {"role": "system", "content": "You are terse."},
                {"role": "user", "content": "Where is A-17? ☃"},
                {
                    "type": "function_call",
                    "call_id": "call_1",
                    "name": "get_order",
                    "arguments": '{"order_id": "A-17"}',
                },
                {"type": "function_call_output", "call_id": "call_1", "output": "shipped"},
                {"role": "user", "content": [{"type": "input_image", "image_url": PIXEL, "detail": "auto"}]},
            ],
            tools=[
                {
                    "type": "function",
                    "name": "get_order",
                    "description": "Look up an order.",
                    "parameters": PARAMETERS,
                    "strict": False,
                }
            ],
            tool_choice={"type": "function", "name": "get_order"},
            text={"format": {"type": "json_schema", "name": "reply", "schema": schema, "strict": True}},
            reasoning={"effort": "low"},
            max_output_tokens=80,
            temperature=0,
            store=False,
        )
    request = {
        "messages": CONVERSATION,
        "tools": [TOOL],
        "tool_choice": {"type": "function", "function": {"name": "get_order"}},
        "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}},
        "reasoning_effort": "low",
        "max_completion_tokens": 80,
    }
    sent = ours("openai-responses", server, "/v1", {"request": request}, params={"temperature": 0, "store": False})

    assert theirs(server, sent[2]) == sent


def test_embeddings_are_what_the_client_sends(server: Recorder) -> None:
    """The client asks for base64 unless it is told otherwise; we leave it to the target."""
    with openai.OpenAI(api_key=KEY, base_url=server.url + "/v1", max_retries=0) as client:
        client.embeddings.create(model="m1", input="hi", dimensions=8, encoding_format="float")
    sent = ours("embeddings", server, "/v1", {"prompt": "hi"}, params={"dimensions": 8, "encoding_format": "float"})

    assert theirs(server, sent[2]) == sent


def test_messages_are_what_the_client_sends(server: Recorder) -> None:
    """With system, tools, a tool's answer, an image, and what we add ourselves: limit and version."""
    with anthropic.Anthropic(api_key=KEY, base_url=server.url, max_retries=0) as client:
        client.messages.create(
            model="m1",
            max_tokens=4096,
            system="You are terse.",
            messages=[
                {"role": "user", "content": "Where is A-17? ☃"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "tool_use", "id": "call_1", "name": "get_order", "input": {"order_id": "A-17"}}
                    ],
                },
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "shipped"}],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
                        }
                    ],
                },
            ],
            tools=[{"name": "get_order", "description": "Look up an order.", "input_schema": PARAMETERS}],
            tool_choice={"type": "auto", "disable_parallel_tool_use": True},
            stop_sequences=["END"],
            metadata={"user_id": "u"},
            extra_body={"temperature": 0},  # the client's types no longer name it; the API does
        )
    request = {
        "messages": CONVERSATION,
        "tools": [TOOL],
        "parallel_tool_calls": False,
        "stop": "END",
        "user": "u",
    }
    sent = ours("anthropic", server, "", {"request": request}, params={"temperature": 0})

    assert {"x-api-key", "anthropic-version", "content-type"} == set(sent[2])
    assert theirs(server, sent[2]) == sent
