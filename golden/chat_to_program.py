"""Requests to programs: protocol 1, one JSON object on standard input.

A completion is a document of kind ``provider``; a case or grader whose request holds ``output`` and no messages asks for a
judgement, a document of kind ``assert``. Neither holds ids or tags of a case. A program may read the case's vars, so they
are keyed here and nowhere else.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from golden import chat_parts, placeholder, prompt
from golden.form import ProgramForm
from golden.model import Case, Suite, Target
from golden.place import Place
from golden.placeholder import Lookup
from golden.spot import Spot
from snapshots import strict_json
from snapshots.errors import JsonError

PROTOCOL = 1


def form(suite: Suite, case: Case, to: Target, lookup: Lookup) -> ProgramForm:
    """Return the run of a program for a case.

    Raises:
        ConfigError: the case holds what the protocol has no place for.
    """
    command = tuple(placeholder.fill(word, lookup) for word in to.command)
    env = {name: placeholder.fill(value, lookup) for name, value in to.env.items()}
    return ProgramForm(command, _stdin(suite, case, to, lookup), env)


def _stdin(suite: Suite, case: Case, to: Target, lookup: Lookup) -> dict[str, Any]:
    if case.body is not None:
        return dict(case.body)
    own = case.request if case.request is not None else {"messages": prompt.messages(suite, case, lookup)}
    if "output" in own and "messages" not in own:
        judged = {"config": None, "vars": dict(case.vars), **own}
        return {"domarinn": {"kind": "assert", "protocol": PROTOCOL}, **judged}
    return _provider(case, to, own, lookup)


def _provider(case: Case, to: Target, own: Mapping[str, Any], lookup: Lookup) -> dict[str, Any]:
    model = {} if to.model is None else {"model": placeholder.fill(to.model, lookup)}
    at = Spot(Place(case.place), "/request" if case.request is not None else "", to.type, own=True)
    params = {**model, **placeholder.fill_all(to.params, lookup), **own}
    if "messages" not in own:
        raise at.fault("no member 'messages'")
    listed = (at / ("messages" if case.request is not None else "prompt")).items(params.pop("messages"))
    stdin: dict[str, Any] = {
        "domarinn": {"kind": "provider", "protocol": PROTOCOL},
        "prompt": {"messages": [_message(message, spot) for message, spot in listed]},
        "vars": dict(case.vars),
    }
    tools = params.pop("tools", None)
    if tools is not None:
        stdin["tools"] = _tools(tools, at / "tools" if "tools" in own else _in_params(to) / "tools")
    return {**stdin, "params": params}


def _in_params(to: Target) -> Spot:
    return Spot(Place(f"target {to.name}"), "/params", to.type, own=False)


def _message(message: Any, at: Spot) -> dict[str, Any]:
    """Return a message in the protocol's shape: calls flat, their arguments decoded where they are JSON."""
    shaped = dict(at.members(message))
    if "content" in shaped and shaped["content"] is None:
        shaped["content"] = ""  # the protocol knows text and blocks
    if "tool_calls" in shaped:
        shaped["tool_calls"] = [_call(call) for call, _ in chat_parts.calls(message, at)]
    return shaped


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = call["arguments"]
    if isinstance(arguments, str):
        with contextlib.suppress(JsonError):  # what is no JSON was said by a model, and is kept as it is
            arguments = strict_json.loads(arguments) if arguments.strip() else {}
    named = {} if call["id"] is None else {"id": call["id"]}
    return {**named, "name": call["name"], "arguments": arguments}


def _tools(tools: Any, at: Spot) -> list[Any]:
    functions, native = chat_parts.functions(tools, at)
    shaped: list[Any] = []
    for i, function in enumerate(functions):
        if function.get("strict"):
            raise (at / i / "function" / "strict").inexpressible("strict")
        about = {} if function.get("description") is None else {"description": function["description"]}
        shaped.append({"name": function["name"], **about, "input_schema": function["parameters"]})
    return [*shaped, *native]
