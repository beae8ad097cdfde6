"""What a reader gets out of a body, the same for every dialect.

The records are not frozen, for three are made for each row of a run and freezing doubles their cost; nobody changes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

EXPLAINED_EMPTY = frozenset(
    {
        "length", "content_filter",  # chat completions
        "max_output_tokens",  # OpenAI responses, beside content_filter
        "max_tokens", "model_context_window_exceeded", "pause_turn", "refusal",  # Anthropic
        "MAX_TOKENS", "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",  # Gemini
    }
)  # fmt: skip
"""Finish reasons, as providers call them, that say why an answer holds nothing."""


@dataclass(slots=True)
class ToolCall:
    """One tool call. ``arguments_text`` holds arguments that do not parse or are no object, else ``None``."""

    name: str
    arguments: Mapping[str, Any]
    arguments_text: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the members that graders see."""
        members: dict[str, Any] = {"name": self.name, "arguments": self.arguments}
        if self.arguments_text is not None:
            members["arguments_text"] = self.arguments_text
        return members


@dataclass(slots=True)
class Choice:
    """One of the answers that a response holds."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    refusal: bool
    refusal_text: str
    finish_reason: str | None
    reasoning: str

    @property
    def is_empty(self) -> bool:
        """Tell whether the choice has no text, reasoning, tool call or refusal."""
        return not (self.text or self.reasoning or self.tool_calls or self.refusal)

    def as_dict(self) -> dict[str, Any]:
        """Return the members that graders see."""
        return {
            "text": self.text,
            "tool_calls": [call.as_dict() for call in self.tool_calls],
            "refusal": self.refusal,
            "refusal_text": self.refusal_text,
            "finish_reason": self.finish_reason,
            "reasoning": self.reasoning,
        }


@dataclass(slots=True)
class Reading:
    """A read answer: its choices, the first one being *the* answer, and what the provider reports. ``None`` is not known.

    ``recognised`` is false where no reader knows the dialect: then only ``raw`` can be trusted, and nothing is called empty.
    ``input_tokens`` are all tokens of the prompt; of them ``cached_tokens`` were read from a cache, ``cache_write_tokens`` written to one.
    ``explained`` is true where text is not what is missing: the answer is a vector or an image, or a program says why it gives none.
    """

    choices: tuple[Choice, ...]
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    recognised: bool = True
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost_usd: float | None = None
    explained: bool = False

    @property
    def first(self) -> Choice:
        """Return the choice that the envelope's top-level fields show."""
        return self.choices[0]

    @property
    def is_unexplained_empty(self) -> bool:
        """Tell whether no choice has anything in it and no finish reason explains that."""
        return (
            self.recognised
            and not self.explained
            and all(c.is_empty for c in self.choices)
            and not any(c.finish_reason in EXPLAINED_EMPTY for c in self.choices)
        )
