"""Recorded traffic of others, where the corpus lies beside the repository: all of it is recognised, and samples read as people read them."""

from __future__ import annotations

import base64
import re
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest

from snapshots import dialects

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "open.jsonl"

pytestmark = pytest.mark.skipif(not CORPUS.exists(), reason="no corpus of recorded calls lies beside the repository")

# Which endpoint speaks which dialect, by the end of its path. Bedrock's invoke gives each model's own body: see test_bedrock.
ENDPOINTS = {
    r"/chat/completions(#stream)?$": "openai-chat",
    r"/responses$": "openai-responses",
    r"/v1/messages$": "anthropic",
    r":(stream)?[gG]enerateContent$": "gemini",
    r"/embeddings$": "embeddings",
    r"/model/.*/converse(-stream)?$": "bedrock-converse",
    r"/v[12]/chat$": "cohere",
}
# What more than one dialect, or none, is spoken under.
MANY = r"/invoke(-with-response-stream)?$|[^t]/completions$"


def plain(value: Any) -> Any:
    """Return a value of the corpus with the numbers that JSON cannot hold."""
    if isinstance(value, dict):
        return float(value["$float"]) if value.keys() == {"$float"} else {n: plain(v) for n, v in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


@cache
def calls() -> dict[tuple[str, int], tuple[dict[str, Any], dict[str, Any]]]:
    """Return request and response of each answered call, by the end of the file's path and the place in it."""
    found: dict[tuple[str, int], tuple[dict[str, Any], dict[str, Any]]] = {}
    for line in CORPUS.read_bytes().splitlines():
        call = orjson.loads(line)
        if not call["url"] or not call["status"] or call["status"] // 100 != 2:
            continue
        body = call["response_body"]
        kept = {"text": body} if isinstance(body, str) else {"body": plain(body)}
        if isinstance(body, dict) and "$base64" in body:
            kept = {"base64": body["$base64"]}
        request = {
            "transport": "http",
            "method": call["method"],
            "url": call["url"],
            "body": plain(call["request_body"]),
        }
        found[call["source_path"].split("cassettes/", 1)[-1], call["index"]] = (
            request,
            {"status": call["status"], **kept},
        )
    return found


def dialect_for(url: str) -> str | None:
    """Return the dialect of an endpoint, or ``None``."""
    path = url.split("?", 1)[0]
    return next((name for end, name in ENDPOINTS.items() if re.search(end, path)), None)


# Its last chunk tells an error, after a finish reason.
FAILED = ("test_openrouter/test_openrouter_stream_error.yaml", 0)


def test_a_stream_with_an_error_in_a_chunk_is_incomplete() -> None:
    """A gateway told the finish reason first, and then that it failed."""
    assert not dialects.is_complete(*calls()[FAILED])


def cuts(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a streamed answer cut at its last events and beside them, and at each of its last bytes; none of another answer."""
    if "body" in answer:
        return []
    data = answer["text"].encode() if "text" in answer else base64.b64decode(answer["base64"])
    ends = [found.start() for found in re.finditer(rb"\n\n|\r\n\r\n|\}\n", data)][-5:]
    sizes = {end + more for end in ends for more in range(3)} | {*range(len(data) - 24, len(data))}
    begun = [data[:size] for size in sorted(sizes) if 0 < size < len(data)]
    if "text" in answer:
        return [{"status": answer["status"], "text": one.decode("utf-8", "replace")} for one in begun]
    return [{"status": answer["status"], "base64": base64.b64encode(one).decode()} for one in begun]


def test_no_recorded_stream_is_complete_before_its_end() -> None:
    """What a stream still tells after the point from which it counts as whole is no part of the answer."""
    streams = [(q, a) for at, (q, a) in calls().items() if dialects.dialect_of(q, a) and at != FAILED and cuts(a)]
    short = [(q, a) for q, a in streams if len(a.get("text", "")) < 16_000]
    early = [
        (request["url"], cut)
        for request, answer in short
        for cut in cuts(answer)
        if dialects.is_complete(request, cut) and digest(request, cut) != digest(request, answer)
    ]

    assert len(short) > 50
    assert [] == early


def digest(request: dict[str, Any], answer: dict[str, Any]) -> str:
    """Return the answer hash under the rule of the dialect."""
    return dialects.answer_hash(dialects.rule_for(request, answer), answer)


@pytest.mark.parametrize("name", sorted(set(ENDPOINTS.values())))
def test_every_answer_of_an_endpoint_is_recognised_by_its_dialect_alone(name: str) -> None:
    """Each is complete, is read without an exception, and has a hash under the dialect's rule."""
    answers = [(q, a) for at, (q, a) in calls().items() if dialect_for(q["url"]) == name and at != FAILED]
    told = [
        (
            [d.READER for d in dialects.DIALECTS.values() if d.recognises(request, answer)],
            dialects.is_complete(request, answer),
            dialects.read(name, answer).recognised,
            dialects.rule_for(request, answer),
            len(dialects.answer_hash(dialects.rule_for(request, answer), answer)),
        )
        for request, answer in answers
    ]

    assert len(answers) > 15
    assert [([name], True, True, f"{name}/1", 64)] * len(answers) == told


def test_no_other_endpoint_is_taken_for_one() -> None:
    """What nobody claims to read is raw, and has the rule that leaves out nothing: tokens are counted, texts ranked."""
    others = [(q, a) for q, a in calls().values() if dialect_for(q["url"]) is None and not re.search(MANY, q["url"])]

    assert len(others) > 15
    assert {("raw", "whole/1")} == {(dialects.reader_for(q, a)[0], dialects.rule_for(q, a)) for q, a in others}


def call_of(name: str, **arguments: Any) -> dict[str, Any]:
    """Return a tool call as graders see it."""
    return {"name": name, "arguments": arguments}


# Read by eye in the recorded bodies: text (its beginning where it ends in …), calls, finish reason, tokens in and out, cached.
SAMPLES = {
    ("llms/openai/test_openai_completions_cached_prompt_tokens.yaml", 0): (None, [], "stop", 1144, 2, 1024),
    ("test_hierarchical_process.yaml", 5): (None, [], "stop", 2091, 634, 1408),
    ("TestAgentMultimodalFileTypes.test_pdf_openai_responses.yaml", 0): (
        "It seems that you have not uploaded any document or file for analysis. …", [], "completed", 51, 38, 0),
    ("llms/openai/test_openai_responses_api_streaming.yaml", 0): ("1, 2, 3", [], "completed", 27, 8, 0),
    ("test_tool_search/test_cross_provider_capability_replay[anthropic-claude-sonnet-4-5-openai-responses-gpt-5.4].yaml", 3): (
        "I'll check the refund policy for order-456.", [call_of("lookup_refund_policy", order_id="order-456")],
        "completed", 456, 43, 0),
    ("test_deepseek_responses/test_deepseek_responses[function_tool].yaml", 0): (
        "", [call_of("get_temperature", city="Tokyo")], "completed", 366, 63, 256),
    ("test_deepseek_responses/test_deepseek_responses[reasoning_effort].yaml", 0): ("391", [], "completed", 91, 20, 0),
    ("anthropic_completion.yaml", 0): ('When Nietzsche famously declared "God is dead" in his', [], "max_tokens", 22, 15, None),
    ("anthropic_completion_stream.yaml", 0): (
        'The phrase "I think, therefore I am" (originally in Latin as', [], "max_tokens", 27, 15, None),
    ("anthropic_completion_stream_thinking.yaml", 0): (
        "The best-selling book of all time is Don Quixote.", [], "end_turn", 50, 200, None),
    ("anthropic_completion_thinking_tools.yaml", 0): (
        "", [call_of("get_weather", location="San Francisco, CA")], "tool_use", 100, 150, None),
    ("completion_anthropic.yaml", 0): (
        "Hey! Not much, just here and ready to chat. What's up with you?", [], "end_turn", 13, 21, 1),
    ("llms/TestAnthropicToolCallStreaming.test_anthropic_streaming_emits_tool_call_events.yaml", 1): (
        "The current temperature in San Francisco is 72°F. It sounds like a pleasant day! Is there anything else I can help you with?",
        [], "end_turn", 457, 33, 0),
    ("agents/TestGeminiNativeToolCalling.test_gemini_parallel_native_tool_calling_test_agent_kickoff.yaml", 0): (
        "", [call_of("parallel_local_search_one", query="latest OpenAI model release notes"),
             call_of("parallel_local_search_two", query="latest Anthropic model release notes"),
             call_of("parallel_local_search_three", query="latest Gemini model release notes")], "STOP", 291, 137, None),
    ("llms/TestGeminiToolCallStreaming.test_gemini_streaming_emits_tool_call_events.yaml", 0): (
        "", [call_of("get_current_temperature", city="San Francisco")], "STOP", 36, 8, None),
    ("llms/google/test_google_async_streaming_returns_usage_metrics.yaml", 0): (
        "The capital of Canada is Ottawa.\nFinal Answer: Ottawa\n", [], "STOP", 163, 13, None),
    ("test_function_call_choice.yaml", 0): (
        "", [call_of("get_current_weather", location="New Delhi"), call_of("get_current_weather", location="San Francisco")],
        "STOP", 74, 216, None),
    ("test_generate_content_extra_params.yaml", 0): ("", [], "MAX_TOKENS", 5, 4, None),
    ("test_google/test_google_model_armor_prompt_template_text_gets_blocked.yaml", 1): ("", [], "MODEL_ARMOR", None, None, None),
    ("test_google/test_google_model_mobile_youtube_video_url_input.yaml", 0): (
        "This video demonstrates an AI assistant within a code editor …", [], "STOP", 17713, 889, 17379),
    ("agents/test_agent_with_knowledge_sources_extensive_role.yaml", 1): ("", [], None, 4, None, None),
    ("agents/test_agent_with_knowledge_sources_generate_search_query.yaml", 0): ("", [], None, 12, None, None),
    ("agents/test_agent_with_knowledge_sources_with_query_limit_and_score_threshold.yaml", 0): ("", [], None, 12, None, None),
    ("agents/test_get_knowledge_search_query.yaml", 0): ("", [], None, 7, None, None),
    ("agents/test_get_knowledge_search_query.yaml", 1): ("", [], None, 3, None, None),
}  # fmt: skip


@pytest.mark.parametrize("where", SAMPLES, ids=lambda where: f"{where[0]} {where[1]}")
def test_a_recorded_answer_reads_as_people_read_it(where: tuple[str, int]) -> None:
    """Text, calls, finish reason and usage are what stands in the recorded body."""
    text, tools, finish, tokens_in, tokens_out, cached = SAMPLES[where]
    request, answer = calls()[where]
    reading = dialects.read(dialects.reader_for(request, answer)[0], answer)
    first = reading.first

    if text is not None:
        assert first.text.startswith(text[:-1]) if text.endswith("…") else text == first.text
    assert (tools, finish, tokens_in, tokens_out, cached) == (
        [call.as_dict() for call in first.tool_calls],
        first.finish_reason,
        reading.input_tokens,
        reading.output_tokens,
        reading.cached_tokens,
    )
