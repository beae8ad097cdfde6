"""Requests in a dialect of chat: address, headers and body of a case for a target."""

from __future__ import annotations

from typing import Any

from golden import chat, placeholder, prompt
from golden.form import HttpForm
from golden.model import Case, Suite, Target
from golden.place import Place
from golden.placeholder import Lookup
from golden.spot import Spot
from golden.target_type import TYPES, TargetType


def form(suite: Suite, case: Case, to: Target, lookup: Lookup) -> HttpForm:
    """Return the request of a case to a model's endpoint.

    Raises:
        ConfigError: a template fails, or the dialect cannot express what the case says.
    """
    kind = TYPES[to.type]
    model, body, streams = _body(kind, suite, case, to, lookup)
    query = {name: placeholder.fill(value, lookup) for name, value in to.query.items()}
    path = kind.path
    if streams and kind.stream_path:
        path, query = kind.stream_path, {**kind.stream_query, **query}
    return HttpForm(
        method="POST",
        base_url=placeholder.fill(to.base_url, lookup),
        path=path.replace("{model}", placeholder.quoted(model)) if "{model}" in path else path,
        query=query,
        headers=_headers(kind, to, lookup),
        body=body,
    )


def _headers(kind: TargetType, to: Target, lookup: Lookup) -> dict[str, str]:
    headers = {name: placeholder.fill(value, lookup) for name, value in to.headers.items()}
    if kind.headers:
        declared = {name.lower() for name in headers}
        headers.update({name: value for name, value in kind.headers.items() if name not in declared})
    if to.api_key is not None:
        headers[kind.key_header] = kind.key_prefix + placeholder.fill(to.api_key, lookup)
    return headers


def _body(kind: TargetType, suite: Suite, case: Case, to: Target, lookup: Lookup) -> tuple[str, dict[str, Any], bool]:
    """Return the model, the body, and whether a stream is asked for in a place that is not the body."""
    model = "" if to.model is None else placeholder.fill(to.model, lookup)
    if case.body is not None:
        return model, dict(case.body), False
    own = case.request if case.request is not None else {"messages": prompt.messages(suite, case, lookup)}
    params = {**({"model": model} if model else {}), **placeholder.fill_all(to.params, lookup)}
    if kind.translate is None or (kind.native is not None and kind.native in own):
        return model, {**params, **own}, False
    place = Place(case.place)
    in_case = Spot(place, "/request" if case.request is not None else "", to.type, own=True)
    given = chat.merged(params, own, in_case, Spot(Place(f"target {to.name}"), "/params", to.type, own=False))
    if case.request is None:
        given = given.with_messages_at(Spot(place, "/prompt", to.type, own=True))
    model = in_case.text(given.model) if "{model}" in kind.path else ""
    body = kind.translate(given)
    return model, {**body, **{n: v for n, v in kind.members.items() if n not in body}}, given.value("stream") is True
