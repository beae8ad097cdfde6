"""Recorded traffic of others, where the corpus lies beside the repository: every interaction is imported or refused by name."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from capture import cassette
from capture.cassette import Cassette
from capture.import_plan import Plan, plan
from capture.import_vcr import import_vcr, rules
from golden.redaction import Redaction
from snapshots import dialects, request, snapshot
from snapshots.errors import UsageError

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
CASSETTES = CORPUS / "cassettes"
OPEN = CORPUS / "open.jsonl"
RULES = rules(Redaction(), endpoint=None, accepted=())

pytestmark = pytest.mark.skipif(not OPEN.exists(), reason="no corpus of recorded calls lies beside the repository")


def files() -> list[Path]:
    """Return all files of the corpus."""
    return sorted(path for path in CASSETTES.rglob("*") if path.is_file())


@cache
def planned(path: Path) -> Plan:
    """Return what a file gives."""
    return plan(cassette.load(path), RULES)


def readings(made: Plan) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the reader and the file of each snapshot; it is sound, and reads without an exception."""
    for one in made.made:
        folder, _, name = one.name.partition("/")
        sound = snapshot.read(one.data, folder=folder, name=name, path=one.name)
        assert request.request_hash(sound.request) == one.request_hash
        dialects.read(one.reader, sound.response)
        yield one.reader, {"request": sound.request, "response": sound.response, "second": sound.recorded_at}


# Why files refuse entries, by the beginning of the reason, counted by eye in README and files: statuses, gRPC, WebSocket, redirect, error.
REFUSED = {
    "a gRPC call": 10,
    "a message of a WebSocket session": 250,
    "status 301": 1,
    "status 400": 9,
    "status 401": 3,
    "status 403": 1,
    "status 404": 7,
    "status 429": 2,
    "the answer did not come to its end": 1,
}


def test_the_corpus_goes_in_and_comes_out_whole(tmp_path: Path) -> None:
    """Entries in are imported, duplicates or refused by name, and nothing else; a second import adds nothing."""
    result = import_vcr([CASSETTES], tmp_path, RULES, quiet=True)
    told = result.summary()
    reasons = Counter(r.reason.split(":")[0] for file in result.files for r in file.refused)

    assert (142, 0) == (told["files"], told["no_cassettes"])
    assert told["interactions"] == told["imported"] + told["duplicates"] + told["refused"]
    assert REFUSED == dict(reasons)
    assert told["imported"] == sum(1 for _ in (tmp_path / "sha256").rglob("*.json"))
    assert 0 == import_vcr([CASSETTES], tmp_path, RULES, quiet=True).summary()["imported"]


def test_inspect_logs_are_named_as_no_cassettes() -> None:
    """They are zip files; a folder's import does not look at them."""
    logs = [path for path in files() if path.suffix == ".eval"]

    assert 5 == len(logs)
    for path in logs:
        with pytest.raises(UsageError):
            cassette.load(path)


def test_every_imported_answer_is_sound_and_reads() -> None:
    """Under its own hash, by its own reader; what no reader knows is raw, and says so."""
    seen = Counter(reader for path in files() if path.suffix != ".eval" for reader, _ in readings(planned(path)))

    assert {
        "anthropic", "bedrock-converse", "cohere", "embeddings", "gemini", "openai-chat", "openai-completions", "openai-responses", "raw",
    } == set(seen)  # fmt: skip
    assert seen["raw"] <= 12


def test_what_is_raw_is_no_chat() -> None:
    """Tokens are counted, texts are embedded and ranked, a page is fetched; and models of old that Bedrock gives their own bodies."""
    ends = {
        made["request"]["url"].split("?")[0].rpartition("/")[2]
        for path in files() if path.suffix != ".eval"
        for reader, made in readings(planned(path)) if reader == "raw"
    }  # fmt: skip

    assert ends <= {
        "", "batches", "chat", "count-tokens", "count_tokens", "embed", "embeddings", "gemini-2.0-flash:countTokens",
        "gemini-2.5-flash:countTokens", "gemini-embedding-2-preview:batchEmbedContents", "gemini-embedding-2-preview:countTokens",
        "gemini-embedding-2:batchEmbedContents", "gemini-embedding-2:embedContent", "invoke", "invoke-with-response-stream", "rerank",
    }  # fmt: skip


def test_cassettes_with_python_tags_are_read_with_a_caveat() -> None:
    """Their error status refuses them; the names of their headers are read."""
    tagged = [path.name for path in files() if path.suffix != ".eval" and planned(path).tagged]

    assert [
        "anthropic_v1_messages_beta_true_post_1913e018.yaml", "anthropic_v1_messages_post_a6302ed3.yaml", "anthropic_v1_messages_post_d65e09ee.yaml",
    ] == tagged  # fmt: skip


def plain(value: Any) -> Any:
    """Return a value of the corpus with the numbers that JSON cannot hold."""
    if isinstance(value, dict):
        return float(value["$float"]) if value.keys() == {"$float"} else {n: plain(v) for n, v in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def entry(call: dict[str, Any]) -> dict[str, Any]:
    """Return a line of the corpus as an entry of a cassette."""
    if call["format"] == "websocket":
        return {"kind": "message", "direction": "received", "data": {}}
    if call["format"].startswith("grpc"):
        return {"request_sample": {}, "response_sample": {}}

    def body(value: Any) -> dict[str, Any]:
        if isinstance(value, dict) and "$base64" in value:
            return {"body": {"base64_string": value["$base64"]}}
        return {"body": {"string": value}} if isinstance(value, str | None) else {"parsed_body": plain(value)}

    asked = {
        "method": call["method"],
        "uri": call["url"],
        "headers": call["request_headers"],
        **body(call["request_body"]),
    }
    got = {"status": {"code": call["status"]}, "headers": call["response_headers"], **body(call["response_body"])}
    return {"request": asked, "response": got}


def test_every_open_call_is_imported_or_refused_by_name() -> None:
    """1,519 calls; what came without a URL or a method is refused for that, and what has a credential's shape has none stored."""
    by_file: dict[str, list[dict[str, Any]]] = {}
    for line in OPEN.read_bytes().splitlines():
        call = json.loads(line)
        by_file.setdefault(f"{call['source_repo']}/{call['source_path']}", []).append(call)
    entries, stored, reasons = 0, 0, Counter[str]()
    for calls in by_file.values():
        made = plan(Cassette(tuple(entry(call) for call in calls), tagged=False), RULES)
        stored += sum(one.entries for one in made.made)
        reasons.update(refusal.reason.split(":")[0] for refusal in made.refused)
        entries += made.entries
        assert all(reader for reader, _ in readings(made))

    assert (1519, 1519) == (entries, stored + reasons.total())
    assert {
        "a gRPC call": 36, "a message of a WebSocket session": 24, "the method is no text": 17,
        "status 400": 19, "status 401": 4, "status 403": 1, "status 404": 16, "status 429": 2, "the answer did not come to its end": 1,
    } == dict(reasons)  # fmt: skip


def call_of(name: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """Return a tool call."""
    return name, arguments


# Read by eye in the files: reader, text (its beginning where it ends in …), calls, refusal, finish reason, tokens in and out.
SAMPLES: dict[str, tuple[str, str, list[Any], bool, str | None, int | None, int | None]] = {
    "anthropic_completion.yaml": (
        "anthropic", 'When Nietzsche famously declared "God is dead" in his', [], False, "max_tokens", 22, 15),
    "anthropic_completion_thinking_tools.yaml": (
        "anthropic", "", [call_of("get_weather", location="San Francisco, CA")], False, "tool_use", 100, 150),
    "test_gateway_provider_with_anthropic.yaml": ("anthropic", "The capital of France is Paris.", [], False, "end_turn", 14, 10),
    "azure_chat_completion.yaml": (
        "openai-chat", "I'm sorry, as an AI language model, I do not have real-time information. Please check", [], False, "length", 18, 20),
    "TestAzureToolCallStreaming.test_azure_streaming_emits_tool_call_events.yaml": (
        "openai-chat", "", [call_of("get_current_temperature", city="San Francisco")], False, "tool_calls", 66, 17),
    "test_bedrock_async_with_parameters.yaml": (
        "bedrock-converse", "Here's a short fact:\n\n**Honey never spoils.** Archaeologists have …", [], False, "end_turn", 12, 47),
    "test_guardrail_converse_stream.yaml": (
        "bedrock-converse", "\nThe capital of {ADDRESS} is {ADDRESS}. The capital of {ADDRESS} is {ADDRESS}.", [], True, "guardrail_intervened", None, None),
    "test_gateway_provider_with_bedrock.yaml": (
        "bedrock-converse", "The capital of France is Paris. Paris is not only …", [], False, "end_turn", 7, 78),
    "test_cerebras_model_simple.yaml": ("openai-chat", "2 + 2 = 4.", [], False, "stop", 43, 9),
    "test_openai_model_cerebras_provider_harmony.yaml": (
        "openai-chat", "The capital of France is **Paris**.", [], False, "stop", 74, 36),
    "test_cohere_chat_legacy_with_streaming.yaml": ("cohere", "Arrrr, matey! Shiver me timbers, here's a …", [], False, "COMPLETE", 69, None),
    "test_cohere_v2_chat_legacy_with_tool_calls_and_history.yaml": (
        "cohere", "", [call_of("get_time", location="Tokyo"), call_of("get_weather", location="Tokyo")], False, "TOOL_CALL", 968, 83),
    "deepseek_streamed_reasoning_content.yaml": ("openai-chat", "…", [], False, "stop", 17, 47),
    "test_deepseek_deferred_capability_with_thinking.yaml": (
        "openai-chat", "Let me load the dice rolling capability!", [call_of("load_capability", id="DICE_ROLL")], False, "tool_calls", 563, 116),
    "TestAgentMultimodalGemini.test_mixed_files[gemini-gemini-2.0-flash].yaml": (
        "gemini", 'I see a line graph titled "Revenue Over Time". The x-axis represents …', [], False, "STOP", 1454, 100),
    "TestGeminiToolCallStreaming.test_gemini_streaming_emits_tool_call_events.yaml": (
        "gemini", "", [call_of("get_current_temperature", city="San Francisco")], False, "STOP", 36, 8),
    "test_function_call_choice.yaml": (
        "gemini", "", [call_of("get_current_weather", location="New Delhi"), call_of("get_current_weather", location="San Francisco")],
        False, "STOP", 74, 216),
    "test_streaming[logcontent-gemini-2.5-flash-vertexaiapi-async-default].yaml": (
        "gemini", "In digital realms, where tangled systems weave,\nAnd microservices hum, …", [], False, "STOP", 8, 1514),
    "test_tool_choice_matrix[list_single-groq].yaml": (
        "openai-chat", "", [call_of("get_weather", city="Paris")], False, "tool_calls", 757, 29),
    "test_gateway_provider_with_groq.yaml": ("openai-chat", "The capital of France is Paris.", [], False, "stop", 42, 8),
    "test_heroku_model_provider_claude_3_7_sonnet.yaml": (
        "openai-chat", "The capital of France is Paris. It's not only the political capital …", [], False, "stop", 14, 51),
    "test_request_structured_response.yaml": (
        "openai-chat", "", [call_of("final_result", response=[2, 3, 5])], False, "tool_calls", 19, 29),
    "test_max_completion_tokens.yaml": ("openai-chat", '<think>\nHmm, the user just said "hello". …', [], False, "length", 4, 100),
    "test_stop_settings[mistral].yaml": ("openai-chat", "The capital of France is ", [], False, "stop", 28, 6),
    "test_mistral_model_thinking_part_iter.yaml": (
        "openai-chat", "To cross the street safely, follow these steps:…", [], False, "stop", 10, 232),
    "openai_chat_completions_post_23dfb471.json": ("openai-chat", "", [call_of("add", a=1, b=1)], False, "function_call", 20, 10),
    "openai_chat_completions_post_930afee9.json": ("openai-chat", "Mitochondria", [], False, "stop", 54, 3),
    "openai_completions_post_09f7a946.json": (
        "openai-completions", "\n\nSystem: An LLM chain, or Link Layer Management chain, is a protocol …", [], False, "stop", 22, 72),
    "test_openrouter_responses_prompt_cache_e2e.yaml": ("openai-responses", "OK", [], False, "completed", None, None),
    "completion_stream_proxy.yaml": ("openai-chat", "Not…", [], False, "stop", 13, 22),
    "test_crusoe_tool_calling.yaml": ("openai-chat", "", [call_of("get_weather", city="Paris")], False, "tool_calls", None, 37),
    "test_trace_propagation_async[ChatOpenAI].yaml": ("openai-chat", "<|im_end|>\n<|im_start|>user\n<|im", [], False, "length", 57, 20),
    "test_snowflake_llama.yaml": ("openai-chat", '{"city": "Mexico City", "country": "Mexico"}', [], False, "", 89, 14),
    "test_snowflake_tool_calling.yaml": ("openai-chat", "", [call_of("get_weather", city="Mexico City")], False, "", 568, 55),
    "test_voyageai_embed_legacy.yaml": ("embeddings", "", [], False, None, 18, None),
    "test_zai_preserved_thinking_round_trip.yaml": (
        "openai-chat", "17 * 19 is 323.\n\nHere is one way to think it through:\nYou can …", [], False, "stop", 17, 172),
    "test_zai_thinking_mode.yaml": ("openai-chat", "2 + 2 is 4.", [], False, "stop", 13, 247),
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_a_cassette_reads_as_people_read_it(name: str) -> None:
    """Its first answer: text, calls, refusal, finish reason and usage are what stands in the file; ``None`` was not looked up."""
    reader, text, calls, refused, finish, tokens_in, tokens_out = SAMPLES[name]
    (path,) = [path for path in files() if path.name == name]
    first_asked = cassette.interaction(cassette.load(path).entries[0])
    made = planned(path)
    assert 0 not in [refusal.index for refusal in made.refused], made.refused
    one = made.made[0]
    answer = json.loads(one.data)["response"]
    reading = dialects.read(one.reader, answer)
    first = reading.first

    assert first_asked.status == answer["status"]
    assert (reader, calls, refused, finish) == (
        one.reader, [(call.name, dict(call.arguments)) for call in first.tool_calls], first.refusal, first.finish_reason,
    )  # fmt: skip
    assert first.text.startswith(text[:-1]) if text.endswith("…") else text == first.text
    assert tokens_in in (None, reading.input_tokens)
    assert tokens_out in (None, reading.output_tokens)


def test_packed_answers_are_unpacked() -> None:
    """Three were recorded as gzip bytes; many more say gzip over a plain body."""
    packed = 0
    for path in files():
        if path.suffix == ".eval":
            continue
        for raw in cassette.load(path).entries:
            string = raw.get("response", {}).get("body") if isinstance(raw.get("response"), dict) else None
            data = string.get("string") if isinstance(string, dict) else None
            if isinstance(data, bytes) and data.startswith(b"\x1f\x8b"):
                packed += 1
                body = cassette.interaction(raw).body
                assert isinstance(body, bytes)
                assert not body.startswith(b"\x1f\x8b")

    assert packed >= 3


def test_binary_streams_are_kept_byte_for_byte() -> None:
    """Their frames are what the file holds in base64."""
    (path,) = [path for path in files() if path.name == "test_guardrail_converse_stream.yaml"]
    (made,) = planned(path).made
    held = cassette.load(path).entries[0]["response"]["body"]["string"]

    assert held == base64.b64decode(json.loads(made.data)["response"]["base64"])
