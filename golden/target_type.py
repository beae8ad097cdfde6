"""The types of targets, one record each: where a request goes, how it carries its key, and who writes its body."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from golden import chat_to_anthropic, chat_to_gemini, chat_to_program, chat_to_responses, embedding, generic
from golden.chat import Chat
from golden.form import Form
from golden.model import Case, Suite, Target
from golden.placeholder import Lookup


@dataclass(frozen=True, slots=True)
class TargetType:
    """A type of target.

    Attributes:
        path: what is asked below ``base_url``; ``{model}`` stands for the model as one segment.
        stream_path: the same for a request with ``stream: true``, where the dialect has another.
        stream_query: what the query holds then.
        key_header: the header that sends ``api_key``, behind ``key_prefix``.
        headers: headers that are sent unless they are declared.
        members: members that a body gets unless it has them.
        translate: writes a chat body in the dialect; without one it goes as it is.
        native: a member by which a case's request is known to be in the dialect already.
        form: makes the whole request, where it is no dialect of chat.
    """

    path: str = ""
    stream_path: str = ""
    stream_query: Mapping[str, str] = field(default_factory=dict[str, str])
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    members: Mapping[str, Any] = field(default_factory=dict[str, Any])
    translate: Callable[[Chat], dict[str, Any]] | None = None
    native: str | None = None
    form: Callable[[Suite, Case, Target, Lookup], Form] | None = None


TYPES: Mapping[str, TargetType] = {
    "openai": TargetType("/chat/completions"),
    "openai-responses": TargetType("/responses", translate=chat_to_responses.body),
    "embeddings": TargetType("/embeddings", translate=embedding.body, native="input"),
    "anthropic": TargetType(
        "/v1/messages",
        key_header="x-api-key",
        key_prefix="",
        headers={"anthropic-version": "2023-06-01"},
        members={"max_tokens": 4096},
        translate=chat_to_anthropic.body,
    ),
    "gemini": TargetType(
        "/v1beta/models/{model}:generateContent",
        stream_path="/v1beta/models/{model}:streamGenerateContent",
        stream_query={"alt": "sse"},
        key_header="x-goog-api-key",
        key_prefix="",
        translate=chat_to_gemini.body,
    ),
    "http": TargetType(form=generic.form),
    "exec": TargetType(form=chat_to_program.form),
}
