"""Cases rendered to requests: the document that is keyed and, from the same function, the form that is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from golden import placeholder, target, template
from golden.model import Case, Suite, Target
from golden.place import Place
from golden.placeholder import Lookup
from golden.project_path import file_inside, read_text
from golden.wire import ProgramWire, Wire
from snapshots import canonical, request
from snapshots.errors import CallError, JsonError

_METHOD = "POST"
_KEYED = re.compile(r"\$\{env:[A-Za-z_][A-Za-z0-9_]*\}")


@dataclass(frozen=True, slots=True)
class Rendered:
    """One case rendered for one target.

    Attributes:
        document: the request document; members in the author's order.
        request_hash: its hash.
        env: names of the variables that a call needs, sorted.
    """

    document: dict[str, Any]
    request_hash: str
    env: tuple[str, ...]
    _suite: Suite
    _case: Case
    _target: Target

    def wire(self, environ: Mapping[str, str]) -> Wire | ProgramWire:
        """Return the form that is sent.

        Raises:
            CallError: a variable is not set, or its value cannot stand in a header.
        """
        read = placeholder.from_environment(environ)
        values: set[str] = set()

        def look_up(name: str) -> str:
            values.add(read(name))
            return environ[name]

        form = _form(self._suite, self._case, self._target, look_up)
        _refuse_headers(form.headers, self._target)
        headers = dict(form.headers)
        if not any(name.lower() == "content-type" for name in headers):
            headers["content-type"] = "application/json"
        url = request.full_url(form.base_url, form.path, form.query)
        secrets = tuple(sorted((v for v in values if v), key=lambda v: (-len(v), v)))
        return Wire(_METHOD, url, headers, canonical.encode_ordered(form.body), secrets)


def render(suite: Suite, case: Case, target: Target) -> Rendered:
    """Return the request of a case for a target.

    Raises:
        ConfigError: a template fails, or the body holds what JSON cannot.
    """
    names: set[str] = set()

    def look_up(name: str) -> str:
        names.add(name)
        return placeholder.keyed(name)

    form = _form(suite, case, target, look_up)
    salts = {"target": target.salt, "case": case.salt}
    document = request.http_document(
        method=_METHOD,
        url=request.keyed_url(form.base_url, form.path, form.query, target.endpoint),
        headers=form.headers,
        body=form.body,
        salt={name: salt for name, salt in salts.items() if salt is not None},
    )
    try:
        key = request.request_hash(document)
    except JsonError as error:
        raise Place(case.place).fault(error.pointer or "", error.reason) from None
    return Rendered(document, key, tuple(sorted(names)), suite, case, target)


@dataclass(frozen=True, slots=True)
class _Form:
    """A request whose ``{{ env.X }}`` have been replaced, by whatever the lookup gave."""

    base_url: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


def _form(suite: Suite, case: Case, to: Target, lookup: Lookup) -> _Form:
    """Build both forms, the keyed one and the one that is sent: they differ in the lookup alone."""
    headers = {name: placeholder.fill(value, lookup) for name, value in to.headers.items()}
    if to.api_key is not None:
        headers["Authorization"] = f"Bearer {placeholder.fill(to.api_key, lookup)}"
    return _Form(
        base_url=placeholder.fill(to.base_url, lambda name: _quoted(lookup(name))),
        path=target.PATH[to.type],
        query={name: placeholder.fill(value, lookup) for name, value in to.query.items()},
        headers=headers,
        body=_body(suite, case, to, lookup),
    )


def _quoted(value: str) -> str:
    return value if _KEYED.fullmatch(value) else quote(value, safe="/")


def _body(suite: Suite, case: Case, to: Target, lookup: Lookup) -> dict[str, Any]:
    if case.body is not None:
        return dict(case.body)
    model = {} if to.model is None else {"model": placeholder.fill(to.model, lookup)}
    own = case.request if case.request is not None else {"messages": _messages(suite, case, lookup)}
    return {**model, **placeholder.fill_all(to.params, lookup), **own}


def _messages(suite: Suite, case: Case, lookup: Lookup) -> list[dict[str, Any]]:
    prompt, place = case.prompt, Place(case.place)
    if isinstance(prompt, dict):
        name: str = prompt["file"]
        text = template.render(_file_text(suite, name, place), case.vars, lookup, Place(name), "")
        return [{"role": "user", "content": text}]
    if isinstance(prompt, str):
        return [{"role": "user", "content": template.render(prompt, case.vars, lookup, place, "/prompt")}]
    return [_message(message, case, lookup, place, f"/prompt/{i}") for i, message in enumerate(prompt)]


def _message(message: dict[str, Any], case: Case, lookup: Lookup, place: Place, at: str) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": template.render(content, case.vars, lookup, place, f"{at}/content")}
    if not isinstance(content, list):
        return message
    parts: list[Any] = []
    for i, part in enumerate(content):
        if isinstance(part.get("text"), str):
            text = template.render(part["text"], case.vars, lookup, place, f"{at}/content/{i}/text")
            parts.append({**part, "text": text})
        else:
            parts.append(part)
    return {**message, "content": parts}


def _file_text(suite: Suite, name: str, place: Place) -> str:
    if name in suite.prompts:
        return suite.prompts[name]
    return read_text(file_inside(suite.root, name, place, "/prompt/file"), place, "/prompt/file")


def _refuse_headers(headers: Mapping[str, str], to: Target) -> None:
    for name, value in headers.items():
        if not target.sendable(value):
            raise CallError(
                f"target {to.name}: the value of header {name!r} holds a control character",
                hint="look for a line end at the end of the variable",
            )
        if name == "Authorization" and value.strip() == "Bearer":
            raise CallError(f"target {to.name}: the api_key is empty", hint="set the variable, or leave api_key out")
