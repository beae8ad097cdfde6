"""The one table of dialects: which answer rule and which reader a response belongs to.

A dialect is a module. A published rule keeps its number and its code for ever; a fix is a new line here and the old one stays.
Two rules belong to no dialect: ``whole/1`` leaves out nothing and fits every response, ``http/1`` leaves out what the response itself
names as ``volatile``. Chat completions stand first, for grading asks once for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from snapshots import (
    anthropic,
    bedrock,
    bedrock_messages,
    canonical,
    cohere,
    completions,
    embeddings,
    gemini,
    generic,
    openai_chat,
    openai_responses,
    openai_stream,
    program,
    strict_json,
)
from snapshots.reading import Choice, Reading

WHOLE = "whole/1"
RAW_READER = "raw"
RAW_READER_NUMBER = 1

Request = Mapping[str, Any]
Response = Mapping[str, Any]


class Dialect(Protocol):
    """How one kind of server spells its answers. Modules are dialects."""

    @property
    def RULE(self) -> str:  # noqa: N802 - a module's constant
        """The name of the newest answer rule."""
        ...

    @property
    def READER(self) -> str:  # noqa: N802
        """The name of the reader, and of the dialect."""
        ...

    @property
    def READER_NUMBER(self) -> int:  # noqa: N802
        """The reader's number."""
        ...

    def recognises(self, request: Request, response: Response) -> bool:
        """Tell whether the answer rule applies to a response, whole or streamed."""
        ...

    def answer(self, response: Response) -> dict[str, Any]:
        """Return the preimage of the answer hash."""
        ...

    def is_complete(self, request: Request, response: Response) -> bool:
        """Tell whether a recognised answer was received to its end: as many choices as the request asks for."""
        ...

    def read(self, response: Response) -> Reading:
        """Read an answer."""
        ...


def _named(*dialects: Dialect) -> dict[str, Dialect]:
    return {dialect.READER: dialect for dialect in dialects}


DIALECTS: Mapping[str, Dialect] = _named(
    openai_chat,
    openai_responses,
    anthropic,
    gemini,
    embeddings,
    completions,
    bedrock,
    bedrock_messages,
    cohere,
    program,
)
"""The dialects by the name of their reader. No two of them recognise the same response."""

_EXEC: tuple[Dialect, ...] = (program,)
_HTTP = tuple(dialect for dialect in DIALECTS.values() if dialect.READER != program.READER)

_ASSEMBLERS: Mapping[str, Callable[[Response], Any]] = {
    openai_chat.READER: lambda response: openai_stream.assemble(str(response["text"])) if "text" in response else None,
    openai_responses.READER: openai_responses.whole,
    anthropic.READER: anthropic.whole,
    gemini.READER: gemini.whole,
    completions.READER: completions.whole,
    bedrock.READER: bedrock.whole,
    bedrock_messages.READER: bedrock_messages.whole,
    cohere.READER: cohere.whole,
}


def _whole(response: Response) -> dict[str, Any]:
    return {name: response[name] for name in ("status", "body", "text", "base64") if name in response}


_RULES: dict[str, Callable[[Response], dict[str, Any]]] = {
    **{dialect.RULE: dialect.answer for dialect in DIALECTS.values()},
    generic.RULE: generic.answer,
    WHOLE: _whole,
}


def dialect_of(request: Request, response: Response) -> Dialect | None:
    """Return the dialect that a response speaks, or ``None``."""
    # A program may print anything, a body that looks like some server's too.
    possible = _EXEC if request.get("transport") == "exec" else _HTTP
    for dialect in possible:  # a generator would cost more than the first question, which is the last one mostly
        if dialect.recognises(request, response):
            return dialect
    return None


def known_rules() -> tuple[str, ...]:
    """Return the names of all answer rules, published ones included, newest number last for each dialect."""
    return tuple(_RULES)


def rule_for(request: Request, response: Response) -> str:
    """Return the newest answer rule of the dialect that a response speaks, or the rule of what the response names as volatile."""
    if "volatile" in response:
        return generic.RULE
    dialect = dialect_of(request, response)
    return WHOLE if dialect is None else dialect.RULE


def answer_hash(rule: str, response: Response) -> str:
    """Return the answer hash: SHA-256 of the canonical answer under a numbered rule.

    Raises:
        KeyError: this version does not know the rule.
        JsonError: the answer has no canonical form.
    """
    return canonical.digest(_RULES[rule](response), wrapped=1)


def is_complete(request: Request, response: Response) -> bool:
    """Tell whether a response is an answer of a dialect that was received to its end: what may be stored.

    One that strict JSON has no place for (NaN among log probabilities, half a surrogate pair, a member given twice, an integer
    beyond 64 bits) is an answer too: asking again would give the same.
    """
    dialect = dialect_of(request, response)
    if dialect is None:
        response = _forgiven(response)
        dialect = dialect_of(request, response)
    return dialect is not None and dialect.is_complete(request, response)


def is_filtered(request: Request, response: Response) -> bool:
    """Tell whether a response is a content filter's refusal that was sent as an error."""
    return request.get("transport") != "exec" and openai_chat.is_filtered(response)


def assembled(request: Request, response: Response) -> Any:
    """Return the whole body that a recognised stream spells out, or ``None`` where there is no such stream."""
    dialect = dialect_of(request, response)
    assemble = None if dialect is None else _ASSEMBLERS.get(dialect.READER)
    whole = None if assemble is None else assemble(response)
    return None if whole is response.get("body") else whole


def reader_for(request: Request, response: Response, select: str | None = None) -> tuple[str, int]:
    """Return the name and the number of the reader for a response.

    Args:
        request: the request document.
        response: the response to it.
        select: the JSON pointer of the answer's text where the target names one; it goes before every dialect.
    """
    if select is not None:
        return generic.READER, generic.READER_NUMBER
    dialect = dialect_of(request, response) or dialect_of(request, _forgiven(response))
    return (RAW_READER, RAW_READER_NUMBER) if dialect is None else (dialect.READER, dialect.READER_NUMBER)


def read(reader: str, response: Response, select: str | None = None) -> Reading:
    """Read a response with a named reader.

    Args:
        reader: the name that ``reader_for`` gave.
        response: the response.
        select: as for ``reader_for``.

    Raises:
        UnreadableSnapshot: the reader does not understand the body; reader and pointer are named.
    """
    if reader == generic.READER and select is not None:
        return generic.read(_forgiven(response), select)
    dialect = DIALECTS.get(reader)
    return _read_raw(response) if dialect is None else dialect.read(_forgiven(response))


def _forgiven(response: Response) -> Response:
    """Return a response with a body where its text spells an object for a reader who forgives, else the response itself.

    An answer that strict JSON cannot hold is kept as text and hashed whole; it is read like any other.
    """
    text = response.get("text")
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return response
    body = strict_json.loosely(text)
    if not isinstance(body, dict) or strict_json.is_too_deep(body):
        return response  # an interpreter may follow deeper, and another one not: the limit is the same everywhere
    return {"status": response.get("status"), "body": body}


def _read_raw(response: Response) -> Reading:
    """Read a response that no reader recognises: its text where it is text, else only ``raw`` says anything."""
    text = response.get("text")
    choice = Choice(text if isinstance(text, str) else "", (), False, "", None, "")
    return Reading(choices=(choice,), model=None, input_tokens=None, output_tokens=None, recognised=False)
