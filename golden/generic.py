"""Requests to any HTTP service: URL, headers and body of the target are templates over what a case gives.

Templates may use the case's vars, ``prompt`` (its prompt where it is one text), ``messages`` (those of its request or
prompt) and ``env``; a var of such a name wins. In a JSON body only values are templates, never names; a value that is
exactly one ``{{ name }}`` of something that is no text stays that JSON value. What a template writes into the URL is
percent-encoded, and scheme, host and port are literal, so no case can ask another server.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from golden import prompt, template
from golden.form import HttpForm
from golden.model import Case, Suite, Target
from golden.place import Place
from golden.placeholder import Lookup
from golden.spot import Spot
from snapshots.pointer import escape

_WHOLE = re.compile(r"\{\{-?\s*([A-Za-z_][A-Za-z0-9_]*)\s*-?\}\}")


def split_url(url: str) -> tuple[str, str]:
    """Return scheme, host and port of a URL, which are literal, and the rest of it, which is a template."""
    scheme, separator, rest = url.partition("://")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    return f"{scheme}{separator}{authority}", rest[len(authority) :]


def form(suite: Suite, case: Case, to: Target, lookup: Lookup) -> HttpForm:
    """Return the request to a service for a case.

    Raises:
        ConfigError: a template fails, or the case's request holds more than messages.
    """
    filler = _Filler(_names(suite, case, to, lookup), lookup, Place(f"{case.place}: target {to.name}"))
    base, rest = split_url(to.url or "")
    headers = {name: filler.text(value, f"/headers/{escape(name)}") for name, value in to.headers.items()}
    if case.body is not None:
        body, body_text = dict(case.body), None
    else:
        body = filler.value(to.body, "/body")
        body_text = None if to.body_text is None else filler.text(to.body_text, "/body_text")
    path = filler.address(rest).partition("#")[0]
    return HttpForm(to.method, base, path, {}, headers, body, body_text)


def _names(suite: Suite, case: Case, to: Target, lookup: Lookup) -> dict[str, Any]:
    """Return what templates may use beside ``env``."""
    names: dict[str, Any] = {}
    if case.request is not None:
        at = Spot(Place(case.place), "/request", to.type, own=True)
        at.members(case.request, "messages")
        if "messages" in case.request:
            names["messages"] = case.request["messages"]
    elif case.prompt is not None:
        names["messages"] = prompt.messages(suite, case, lookup)
        if not isinstance(case.prompt, list):
            names["prompt"] = names["messages"][0]["content"]
    return {**names, **case.vars}


@dataclass(frozen=True, slots=True)
class _Filler:
    names: Mapping[str, Any]
    lookup: Lookup
    place: Place

    def text(self, text: str, pointer: str) -> str:
        return template.render(text, self.names, self.lookup, self.place, pointer)

    def address(self, text: str) -> str:
        return template.render_address(text, self.names, self.lookup, self.place, "/url")

    def value(self, value: Any, pointer: str) -> Any:
        if isinstance(value, str):
            whole = _WHOLE.fullmatch(value)
            if whole is not None and not isinstance(self.names.get(whole[1], ""), str):
                return self.names[whole[1]]
            return self.text(value, pointer)
        if isinstance(value, dict):
            return {name: self.value(item, f"{pointer}/{escape(name)}") for name, item in value.items()}
        if isinstance(value, list):
            return [self.value(item, f"{pointer}/{i}") for i, item in enumerate(value)]
        return value
